internal import RTCShareCongestionControl
internal import RTCShareICE
package import RTCShareWireFormat

/// The counts from which the rates of many connections are computed, without the strings of a report.
package struct SendingSummary: Sendable {
    /// The time of the counts.
    package let time: Instant
    /// The number of bytes of all media, with headers.
    package internal(set) var bytesSent: UInt64 = 0
    package internal(set) var packetsLost = 0
    /// The counts of the first video, which is the screen share, or of its best layer; nil if none is sent.
    package internal(set) var video: OutboundStatistics.Video?
    /// The name of the codec of its newest packet; nil before the first.
    package internal(set) var codec: String?
    /// The peer's latest report on the first video.
    package internal(set) var roundTripTime: Duration?
    package internal(set) var fractionLost: Double?
    /// The current target bitrate of the first video; nil until it is known.
    package internal(set) var targetBitrate: DataRate?
    /// The kind of route; nil if no candidate pair is selected.
    package internal(set) var route: Route?

    /// A kind of route.
    package enum Route: String, Codable, Sendable {
        /// The route leads from this machine to the peer or its router.
        case direct
        /// The same, as a TCP connection.
        case tcp
        /// The route leads through a TURN server.
        case relayed

        init(_ pair: SelectedPair) {
            let isRelayed = pair.local.type == .relayed || pair.remote.type == .relayed
            self = isRelayed ? .relayed : pair.remote.tcpType == nil ? .direct : .tcp
        }
    }
}

extension PeerConnection {
    /// Returns the counts of sent media.
    package func sendingSummary(now: Instant) -> SendingSummary {
        var summary = SendingSummary(time: now)
        summary.route = path.pair.map(SendingSummary.Route.init)
        for (index, media) in outbound.enumerated() {
            guard let stream = media.stream else { continue }
            let newest = stream.reports.newest
            summary.bytesSent += stream.statistics.bytesSent + stream.statistics.headerBytesSent
            summary.packetsLost += newest?.packetsLost ?? 0
            // Of layers, it is the best one that is sent.
            let isPaused =
                identity.media[index].layer != nil && media.target.reported?.bitrate == .zero
                && identity.layers(ofMedia: index).last != index
            guard media.video != nil, summary.video == nil, !isPaused else { continue }
            summary.video = stream.statistics.video
            summary.codec = media.video?.newestEncodingName
            summary.roundTripTime = newest?.roundTripTime
            summary.fractionLost = newest?.fractionLost
            summary.targetBitrate = media.target.reported?.bitrate
        }
        return summary
    }
}
