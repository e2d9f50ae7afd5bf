internal import RTCShareCongestionControl
internal import RTCShareRTP
internal import RTCShareSDP
internal import RTCShareWireFormat

/// What was counted of each media, on both of its ends.
extension PeerConnection {
    func addOutbound(_ index: Int, to report: inout StatisticsReport) {
        let media = outbound[index]
        guard let stream = media.stream else { return }
        let codecID = report.addCodec(negotiatedMedia(index))
        report.add(StatisticsObject.mediaSourceID(media: index), .mediaSource) { object in
            object.set("kind", media.kind)
            object.set("trackIdentifier", identity.media[index].trackID)
            if let audio = media.audio {
                object.set("audioLevel", audio.soundStatistics.audioLevel)
                object.set("totalAudioEnergy", audio.soundStatistics.totalAudioEnergy)
                object.set("totalSamplesDuration", seconds: audio.soundStatistics.totalSamplesDuration)
            } else {
                object.set("width", stream.statistics.frameWidth)
                object.set("height", stream.statistics.frameHeight)
            }
        }
        report.add(StatisticsObject.outboundID(media: index), .outboundRTP) { object in
            object.set("kind", media.kind)
            object.set("mid", stream.parameters.mid)
            object.set("ssrc", stream.source.rawValue)
            object.set("transportId", StatisticsReport.transportID)
            object.set("codecId", codecID)
            object.set("mediaSourceId", StatisticsObject.mediaSourceID(media: index))
            object.set("remoteId", stream.reports.newest == nil ? nil : StatisticsObject.remoteInboundID(media: index))
            object.set("active", media.isActive)
            object.set("packetsSent", stream.statistics.packetsSent)
            object.set("bytesSent", stream.statistics.bytesSent)
            object.set("headerBytesSent", stream.statistics.headerBytesSent)
            object.set("targetBitrate", (media.target.told?.bitrate).map { Double($0.bitsPerSecond) })
            object.set("totalPacketSendDelay", seconds: stream.statistics.totalPacketSendDelay)
            if media.video != nil { setPictures(stream, of: &object) }
        }
        guard let newest = stream.reports.newest else { return }
        report.add(StatisticsObject.remoteInboundID(media: index), .remoteInboundRTP) { object in
            object.set("kind", media.kind)
            object.set("ssrc", stream.source.rawValue)
            object.set("transportId", StatisticsReport.transportID)
            object.set("codecId", codecID)
            object.set("localId", StatisticsObject.outboundID(media: index))
            object.set("packetsLost", newest.packetsLost)
            object.set("fractionLost", newest.fractionLost)
            object.set("jitter", seconds: newest.jitter)
            object.set("roundTripTime", seconds: newest.roundTripTime)
            object.set("totalRoundTripTime", seconds: stream.reports.totalRoundTripTime)
            object.set("roundTripTimeMeasurements", stream.reports.roundTripTimeMeasurements)
        }
    }

    private func setPictures(_ stream: OutgoingStream, of object: inout StatisticsObject) {
        let statistics = stream.statistics
        object.set("rtxSsrc", stream.parameters.retransmission?.source.rawValue)
        object.set("retransmittedPacketsSent", statistics.retransmittedPacketsSent)
        object.set("retransmittedBytesSent", statistics.retransmittedBytesSent)
        object.set("fecPacketsSent", statistics.fecPacketsSent)
        object.set("fecBytesSent", statistics.fecBytesSent)
        object.set("framesSent", statistics.framesSent)
        object.set("keyFramesSent", statistics.keyFramesSent)
        object.set("frameWidth", statistics.frameWidth)
        object.set("frameHeight", statistics.frameHeight)
        object.set("nackCount", statistics.nackCount)
        object.set("pliCount", statistics.pliCount)
        object.set("firCount", statistics.firCount)
    }

    func addInbound(_ index: Int, to report: inout StatisticsReport) {
        let media = receivers.media[index]
        guard let source = media.source else { return }
        let codecID = report.addCodec(media.negotiated)
        report.add(StatisticsObject.inboundID(receiver: index), .inboundRTP) { object in
            object.set("kind", media.isAudio ? "audio" : "video")
            object.set("mid", media.negotiated.mid)
            object.set("ssrc", source.rawValue)
            object.set("transportId", StatisticsReport.transportID)
            object.set("codecId", codecID)
            object.set(
                "remoteId", media.lastSenderReport == nil ? nil : StatisticsObject.remoteOutboundID(receiver: index))
            object.set("trackIdentifier", media.negotiated.remote.streams.first?.trackID)
            if let video = media.video { object.setInbound(video.statistics, unixTime: { unixTime($0) }) }
            if let audio = media.audio { object.setInbound(audio.statistics, unixTime: { unixTime($0) }) }
        }
        guard let (sent, arrival) = media.lastSenderReport else { return }
        report.add(StatisticsObject.remoteOutboundID(receiver: index), .remoteOutboundRTP) { object in
            object.set("kind", media.isAudio ? "audio" : "video")
            object.set("ssrc", source.rawValue)
            object.set("transportId", StatisticsReport.transportID)
            object.set("codecId", codecID)
            object.set("localId", StatisticsObject.inboundID(receiver: index))
            object.set("packetsSent", sent.packetCount)
            object.set("bytesSent", sent.octetCount)
            object.set("remoteTimestamp", sent.ntpTimestamp.sinceUnixEpoch.milliseconds)
            object.set("reportsSent", media.senderReportCount)
            // Not of webrtc-stats: when that report came.
            object.set("lastReportReceivedTimestamp", unixTime(arrival))
        }
    }

    /// An instant in milliseconds since 1970, as webrtc-stats has it.
    func unixTime(_ instant: Instant) -> Double {
        (configuration.unixTimeAtZero + .nanoseconds(instant.nanoseconds)).milliseconds
    }
}

extension OutboundMedia {
    /// The kind under its name in webrtc-stats.
    fileprivate var kind: String { video == nil ? "audio" : "video" }
}

extension StatisticsObject {
    fileprivate mutating func setInbound(_ statistics: InboundVideoStatistics, unixTime: (Instant) -> Double) {
        set("packetsReceived", statistics.packetsReceived)
        set("packetsLost", statistics.packetsLost)
        set("packetsDiscarded", statistics.packetsDiscarded)
        set("jitter", seconds: statistics.jitter)
        set("bytesReceived", statistics.bytesReceived)
        set("headerBytesReceived", statistics.headerBytesReceived)
        set("lastPacketReceivedTimestamp", statistics.lastPacketReceivedTimestamp.map(unixTime))
        set("retransmittedPacketsReceived", statistics.retransmittedPacketsReceived)
        set("retransmittedBytesReceived", statistics.retransmittedBytesReceived)
        set("fecPacketsReceived", statistics.fecPacketsReceived)
        set("fecBytesReceived", statistics.fecBytesReceived)
        set("nackCount", statistics.nackCount)
        set("pliCount", statistics.pliCount)
        set("firCount", statistics.firCount)
        set("framesReceived", statistics.framesReceived)
        set("framesDropped", statistics.framesDropped)
        set("framesAssembledFromMultiplePackets", statistics.framesAssembledFromMultiplePackets)
        set("totalAssemblyTime", seconds: statistics.totalAssemblyTime)
    }

    fileprivate mutating func setInbound(_ statistics: InboundAudioStatistics, unixTime: (Instant) -> Double) {
        set("packetsReceived", statistics.packetsReceived)
        set("packetsLost", statistics.packetsLost)
        set("jitter", seconds: statistics.jitter)
        set("bytesReceived", statistics.bytesReceived)
        set("headerBytesReceived", statistics.headerBytesReceived)
        set("lastPacketReceivedTimestamp", statistics.lastPacketReceivedTimestamp.map(unixTime))
        set("audioLevel", statistics.audioLevel)
    }
}
