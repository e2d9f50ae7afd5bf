internal import ICE
internal import SDP
internal import WireFormat

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
        set("transportId", StatisticsReport.transportID)
        set("address", candidate.address.ip.description)
        set("port", candidate.address.port)
        set("protocol", "udp")
        set("candidateType", candidate.type.rawValue)
        set("priority", candidate.priority)
        set("foundation", candidate.foundation)
    }
}
