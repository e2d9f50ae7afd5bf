internal import RTCShareICE
internal import RTCShareSDP
internal import RTCShareWireFormat

/// A report in the making.
struct StatisticsReport {
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

    /// Adds the codec of a section, unless it is there; returns its id.
    mutating func addCodec(_ media: NegotiatedMedia?) -> String? {
        guard let media else { return nil }
        let map = media.codec
        let id = "C\(map.payloadType)"
        add(id, .codec) { object in
            let isSound = map.isOpus
            object.set("payloadType", map.payloadType)
            object.set("transportId", Self.transportID)
            object.set("mimeType", isSound ? "audio/opus" : "video/VP8")
            object.set("clockRate", map.clockRate)
            object.set("channels", map.parameters.flatMap { Int($0) })
            object.set("sdpFmtpLine", media.codecParameters?.text)
        }
        return id
    }

    mutating func add(_ pair: PairReport, availableBitrate: DataRate? = nil) {
        let local = Self.candidateID("L", pair.local)
        let remote = Self.candidateID("R", pair.remote)
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
            object.set("availableOutgoingBitrate", availableBitrate.map { Double($0.bitsPerSecond) })
        }
        add(pair.local, as: local, .localCandidate)
        add(remote, .remoteCandidate) { $0.setCandidate(pair.remote) }
    }

    /// Adds a candidate of this side, in a pair or not.
    mutating func add(local candidate: Candidate) {
        add(candidate, as: Self.candidateID("L", candidate), .localCandidate)
    }

    private mutating func add(_ candidate: Candidate, as id: String, _ type: StatisticsObject.Kind) {
        add(id, type) { object in
            object.setCandidate(candidate)
            object.set("url", candidate.url)
            object.set("relayProtocol", candidate.relayProtocol?.rawValue)
            object.set("relatedAddress", candidate.relatedAddress?.ip.description)
            object.set("relatedPort", candidate.relatedAddress?.port)
        }
    }

    private static func candidateID(_ prefix: String, _ candidate: Candidate) -> String {
        candidate.transport == .udp ? "\(prefix)\(candidate.address)" : "\(prefix)\(candidate.address)/tcp"
    }
}

extension StatisticsObject {
    fileprivate mutating func setCandidate(_ candidate: Candidate) {
        set("transportId", StatisticsReport.transportID)
        set("address", candidate.address.ip.description)
        set("port", candidate.address.port)
        set("protocol", candidate.transport.rawValue)
        set("tcpType", candidate.transport == .udp ? nil : type == .localCandidate ? "active" : "passive")
        set("candidateType", candidate.type.rawValue)
        set("priority", candidate.priority)
        set("foundation", candidate.foundation)
    }
}
