internal import RTCShareCongestionControl
internal import RTCShareRTP
internal import RTCShareSDP
internal import RTCShareWireFormat

/// The dictionaries of each media, and of the peer's reports on it.
extension PeerConnection {
    func addOutbound(_ index: Int, to report: inout StatisticsReport) {
        let media = outbound[index]
        guard let stream = media.stream else { return }
        let kind = media.video == nil ? StreamKind.audio : .video
        let codecID = negotiatedMedia(index).map {
            report.codecs.insert(CodecStats($0, payloadType: media.video?.newestPayloadType))
        }
        let newest = stream.reports.newest
        let video = media.video.map { $0.stream.statistics.video }
        let source = MediaSourceStats(
            id: "MS\(layers(ofMedia: index)[0])", kind: kind, trackIdentifier: identity.media[index].trackID,
            audio: media.audio?.source,
            width: video?.frameWidth, height: video?.frameHeight)
        let sent = OutboundRTPStreamStats(
            id: "OT\(index)", kind: kind, mid: stream.parameters.mid, rid: stream.parameters.layer,
            ssrc: stream.source.rawValue, codecId: codecID, mediaSourceId: source.id,
            remoteId: newest.map { _ in "RI\(index)" },
            rtxSsrc: media.video == nil ? nil : stream.parameters.retransmissionSource?.rawValue,
            active: media.isActive, sent: stream.statistics, video: video,
            targetBitrate: (media.target.reported?.bitrate).map { Double($0.bitsPerSecond) })
        let layers = layers(ofMedia: index)
        // Layers have one source.
        if layers.allSatisfy({ report.mediaSources[$0] == nil }) { report.mediaSources[index] = source }
        report.outboundRTP[index] = sent
        guard let newest else { return }
        report.remoteInboundRTP[index] = RemoteInboundRTPStreamStats(
            id: "RI\(index)", kind: kind, ssrc: sent.ssrc, codecId: codecID, localId: sent.id,
            packetsLost: newest.packetsLost, fractionLost: newest.fractionLost, jitter: newest.jitter,
            roundTripTime: newest.roundTripTime, totalRoundTripTime: stream.reports.totalRoundTripTime,
            roundTripTimeMeasurements: stream.reports.roundTripTimeMeasurements)
    }

    func addInbound(_ index: Int, to report: inout StatisticsReport) {
        let media = receivers.media[index]
        guard let source = media.source else { return }
        let kind = media.isAudio ? StreamKind.audio : .video
        let codecID = report.codecs.insert(CodecStats(media.negotiated, payloadType: media.video?.newestPayloadType))
        let (video, audio) = (media.video?.statistics, media.audio?.statistics)
        let received = InboundRTPStreamStats(
            id: "IT\(index)", kind: kind, mid: media.negotiated.mid, ssrc: source.rawValue, codecId: codecID,
            remoteId: media.lastSenderReport.map { _ in "RO\(index)" },
            trackIdentifier: media.negotiated.remote.streams.first?.trackID,
            lastPacketReceivedTimestamp: (video?.lastPacketReceivedTimestamp ?? audio?.lastPacketReceivedTimestamp)
                .map { unixTime($0) },
            video: video, audio: audio)
        report.inboundRTP[index] = received
        guard let (sent, arrival) = media.lastSenderReport else { return }
        report.remoteOutboundRTP[index] = RemoteOutboundRTPStreamStats(
            id: "RO\(index)", kind: kind, ssrc: source.rawValue, codecId: codecID, localId: received.id,
            packetsSent: sent.packetCount, bytesSent: sent.octetCount,
            remoteTimestamp: sent.ntpTimestamp.sinceUnixEpoch.milliseconds, reportsSent: media.senderReportCount,
            lastReportReceivedTimestamp: unixTime(arrival))
    }

    /// Returns an instant in milliseconds since 1970, as in webrtc-stats.
    func unixTime(_ instant: Instant) -> Double {
        (configuration.unixTimeAtZero + .nanoseconds(instant.nanoseconds)).milliseconds
    }
}
