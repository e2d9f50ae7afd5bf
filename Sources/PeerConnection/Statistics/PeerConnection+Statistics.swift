internal import CongestionControl
internal import ICE
internal import RTP
internal import SDP
internal import SecureTransport
public import WireFormat

extension PeerConnection {
    /// A report of all that was counted, under the names of W3C webrtc-stats.
    public func statistics(now: Instant) -> [StatisticsObject] {
        var report = Report(
            timestamp: (configuration.unixTimeAtZero + .nanoseconds(now.nanoseconds)).milliseconds)
        addTransport(to: &report)
        for pair in agent.pairReports() { report.add(pair) }
        for (index, sender) in senders.enumerated() { add(sender, index: index, to: &report, now: now) }
        for (index, media) in inbound.enumerated() { add(media, index: index, to: &report) }
        return report.objects
    }

    /// Each pair of addresses and what became of it, a line each: for a person whose connection failed.
    public func pairReports() -> [String] {
        agent.pairReports().map(\.description)
    }

    private func addTransport(to report: inout Report) {
        report.add(Report.transportID, .transport) { object in
            object.set("packetsSent", counts.packetsSent)
            object.set("bytesSent", counts.bytesSent)
            object.set("packetsReceived", counts.packetsReceived)
            object.set("bytesReceived", counts.bytesReceived)
            object.set("selectedCandidatePairChanges", counts.selectedPairChanges)
            object.set("selectedCandidatePairId", selectedPair.map { Report.pairID($0.id) })
            object.set("iceLocalUsernameFragment", identity.iceUsernameFragment)
            object.set("iceState", agent.state.rawValue)
            object.set("dtlsState", transport.dtls?.statisticsState ?? "new")
            object.set("dtlsRole", transport.dtls?.role.rawValue ?? "unknown")
            object.set("dtlsCipher", transport.dtls?.cipherSuite)
            object.set("tlsVersion", transport.dtls?.version)
            object.set("srtpCipher", transport.dtls?.profile.map { "\($0)" })
            // Not of webrtc-stats: what was let fall, so that nothing is dropped in silence.
            object.set("packetsRefused", counts.packetsRefused)
            object.set("packetsUnknown", counts.packetsUnknown)
            object.set("packetsUnsent", counts.packetsUnsent)
            object.set("framesDroppedBeforeConnection", counts.framesDropped)
        }
    }

    private func add(_ sender: VideoSender, index: Int, to report: inout Report, now: Instant) {
        let parameters = sender.parameters
        let statistics = sender.statistics
        let codecID = report.addCodec(payloadType: parameters.payloadType)
        let id = "OT\(index)"
        report.add("MS\(index)", .mediaSource) { object in
            object.set("kind", "video")
            object.set("trackIdentifier", identity.media[safe: index]?.trackID)
            object.set("width", statistics.frameWidth)
            object.set("height", statistics.frameHeight)
        }
        report.add(id, .outboundRTP) { object in
            object.set("kind", "video")
            object.set("mid", parameters.mid)
            object.set("ssrc", parameters.source.rawValue)
            object.set("rtxSsrc", parameters.retransmission?.source.rawValue)
            object.set("transportId", Report.transportID)
            object.set("codecId", codecID)
            object.set("mediaSourceId", "MS\(index)")
            object.set("remoteId", sender.reports.newest == nil ? nil : "RI\(index)")
            object.set("packetsSent", statistics.packetsSent)
            object.set("bytesSent", statistics.bytesSent)
            object.set("headerBytesSent", statistics.headerBytesSent)
            object.set("retransmittedPacketsSent", statistics.retransmittedPacketsSent)
            object.set("retransmittedBytesSent", statistics.retransmittedBytesSent)
            object.set("framesSent", statistics.framesSent)
            object.set("keyFramesSent", statistics.keyFramesSent)
            object.set("frameWidth", statistics.frameWidth)
            object.set("frameHeight", statistics.frameHeight)
            object.set("nackCount", statistics.nackCount)
            object.set("pliCount", statistics.pliCount)
            object.set("firCount", statistics.firCount)
            object.set("targetBitrate", Double(configuration.maximumBitrate.bitsPerSecond))
            object.set("totalPacketSendDelay", seconds: pacer.totalPacketSendDelay)
        }
        guard let newest = sender.reports.newest else { return }
        report.add("RI\(index)", .remoteInboundRTP) { object in
            object.set("kind", "video")
            object.set("ssrc", parameters.source.rawValue)
            object.set("transportId", Report.transportID)
            object.set("codecId", codecID)
            object.set("localId", id)
            object.set("packetsLost", newest.packetsLost)
            object.set("fractionLost", newest.fractionLost)
            object.set("jitter", seconds: newest.jitter)
            object.set("roundTripTime", seconds: newest.roundTripTime)
            object.set("totalRoundTripTime", seconds: sender.reports.totalRoundTripTime)
            object.set("roundTripTimeMeasurements", sender.reports.roundTripTimeMeasurements)
        }
    }

    private func add(_ media: InboundMedia, index: Int, to report: inout Report) {
        guard let receiver = media.receiver else { return }
        let statistics = receiver.statistics
        let codecID = PayloadType(media.negotiated.payloadType).map { report.addCodec(payloadType: $0) }
        report.add("IT\(index)", .inboundRTP) { object in
            object.set("kind", "video")
            object.set("mid", media.negotiated.mid)
            object.set("ssrc", receiver.source.rawValue)
            object.set("transportId", Report.transportID)
            object.set("codecId", codecID)
            object.set("trackIdentifier", media.negotiated.remote.streams.first?.trackID)
            object.set("packetsReceived", statistics.packetsReceived)
            object.set("packetsLost", statistics.packetsLost)
            object.set("packetsDiscarded", statistics.packetsDiscarded)
            object.set("jitter", seconds: statistics.jitter)
            object.set("bytesReceived", statistics.bytesReceived)
            object.set("headerBytesReceived", statistics.headerBytesReceived)
            object.set("retransmittedPacketsReceived", statistics.retransmittedPacketsReceived)
            object.set("retransmittedBytesReceived", statistics.retransmittedBytesReceived)
            object.set("nackCount", statistics.nackCount)
            object.set("pliCount", statistics.pliCount)
            object.set("firCount", statistics.firCount)
            object.set("framesReceived", statistics.framesReceived)
            object.set("framesDropped", statistics.framesDropped)
            object.set("framesAssembledFromMultiplePackets", statistics.framesAssembledFromMultiplePackets)
            object.set("totalAssemblyTime", seconds: statistics.totalAssemblyTime)
        }
    }
}

/// A report in the making.
private struct Report {
    static let transportID = "T0"
    let timestamp: Double
    private(set) var objects: [StatisticsObject] = []

    init(timestamp: Double) {
        self.timestamp = timestamp
    }

    static func pairID(_ id: Int) -> String { "CP\(id)" }

    mutating func add(_ id: String, _ type: StatisticsObject.Kind, _ fill: (inout StatisticsObject) -> Void) {
        guard !objects.contains(where: { $0.id == id }) else { return }
        var object = StatisticsObject(id: id, type: type, timestamp: timestamp)
        fill(&object)
        objects.append(object)
    }

    mutating func addCodec(payloadType: PayloadType) -> String {
        let id = "C\(payloadType)"
        add(id, .codec) { object in
            object.set("payloadType", payloadType.rawValue)
            object.set("transportId", Self.transportID)
            object.set("mimeType", "video/VP8")
            object.set("clockRate", PacketizedFrame.clockRate)
        }
        return id
    }

    mutating func add(_ pair: PairReport) {
        let local = "L\(pair.local.address)"
        let remote = "R\(pair.remote.address)"
        add(Self.pairID(pair.id), .candidatePair) { object in
            object.set("transportId", Self.transportID)
            object.set("localCandidateId", local)
            object.set("remoteCandidateId", remote)
            object.set("state", pair.state.rawValue)
            object.set("nominated", pair.nominated)
            object.set("priority", pair.priority)
            object.set("requestsSent", pair.statistics.requestsSent)
            object.set("requestsReceived", pair.statistics.requestsReceived)
            object.set("responsesSent", pair.statistics.responsesSent)
            object.set("responsesReceived", pair.statistics.responsesReceived)
            object.set("consentRequestsSent", pair.statistics.consentRequestsSent)
            object.set("currentRoundTripTime", seconds: pair.statistics.currentRoundTripTime)
            object.set("totalRoundTripTime", seconds: pair.statistics.totalRoundTripTime)
        }
        add(local, .localCandidate) { $0.setCandidate(pair.local) }
        add(remote, .remoteCandidate) { $0.setCandidate(pair.remote) }
    }
}

extension StatisticsObject {
    fileprivate mutating func setCandidate(_ candidate: Candidate) {
        set("transportId", Report.transportID)
        set("address", candidate.address.ip.description)
        set("port", candidate.address.port)
        set("protocol", "udp")
        set("candidateType", candidate.type.rawValue)
        set("priority", candidate.priority)
        set("foundation", candidate.foundation)
    }
}

extension DTLSConnection {
    /// The state under its name in W3C webrtc (`RTCDtlsTransportState`).
    fileprivate var statisticsState: String {
        switch state {
        case .new: "new"
        case .handshaking: "connecting"
        case .connected: "connected"
        case .failed: "failed"
        case .closed: "closed"
        }
    }
}

extension Array {
    fileprivate subscript(safe index: Int) -> Element? {
        indices.contains(index) ? self[index] : nil
    }
}
