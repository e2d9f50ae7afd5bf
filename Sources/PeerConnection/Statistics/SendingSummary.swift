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
    /// The layers of the first video, the best first; empty for a single stream.
    package internal(set) var layers: [Layer] = []

    /// The counts of one layer of a simulcast.
    package struct Layer: Sendable {
        /// The layer's `a=rid`.
        package let rid: String
        /// The number of its bytes, with headers.
        package internal(set) var bytesSent: UInt64 = 0
        package internal(set) var video = OutboundStatistics.Video()
        /// The reason why it is not sent; nil if it is.
        package internal(set) var pauseReason: PauseReason?
    }

    /// The reason why a layer is not sent.
    package enum PauseReason: String, Codable, CaseIterable, Sendable {
        /// The bitrate of the route or of the descriptions is too low for it.
        case bitrate
        /// The peer has requested the pause.
        case requested
        /// The peer does not accept it.
        case refused
        /// Its encoder has failed.
        case encoder
        /// Its owner has nothing to send.
        case inactive
    }

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
        let layers = identity.media.firstIndex { $0.kind.isVideo }.map { identity.layers(ofMedia: $0) } ?? []
        var isPaused = false
        for (index, media) in outbound.enumerated() {
            let pauseReason = pauseReason(ofLayer: index)
            if let rid = identity.media[index].layer, layers.contains(index) {
                var layer = SendingSummary.Layer(rid: rid, pauseReason: pauseReason)
                if let sent = media.stream?.statistics {
                    (layer.bytesSent, layer.video) = (sent.bytesSent + sent.headerBytesSent, sent.video)
                }
                summary.layers.append(layer)
            }
            guard let stream = media.stream else { continue }
            let newest = stream.reports.newest
            summary.bytesSent += stream.statistics.bytesSent + stream.statistics.headerBytesSent
            summary.packetsLost += newest?.packetsLost ?? 0
            // Of layers, it is the best one that is sent.
            let isSent = isPaused && pauseReason == nil && layers.contains(index)
            guard media.video != nil, summary.video == nil || isSent else { continue }
            isPaused = pauseReason != nil
            summary.video = stream.statistics.video
            summary.codec = media.video?.newestEncodingName
            summary.roundTripTime = newest?.roundTripTime
            summary.fractionLost = newest?.fractionLost
            summary.targetBitrate = media.target.reported?.bitrate
        }
        return summary
    }

    /// Returns the reason why a layer is not sent; nil if it is, before it is negotiated, and for a single stream.
    private func pauseReason(ofLayer index: Int) -> SendingSummary.PauseReason? {
        guard identity.media[index].layer != nil, let media = negotiatedMedia(index) else { return nil }
        switch agreement(media: index) {
        case .refused: return .refused
        case .pending: return negotiatedLayer(index, of: media)?.isPaused == true ? .requested : nil
        case .agreed: break
        }
        let target = outbound[index].target
        if let demand = target.demand {
            if demand.hasFailed { return .encoder }
            if demand.maximum == .zero { return .inactive }
        }
        if isPausedByPeer(media: index) { return .requested }
        return target.reported?.bitrate == .zero ? .bitrate : nil
    }
}
