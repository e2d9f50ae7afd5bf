import RTCShare

// The code of the article OtherNetworks.

func offerThroughServers() async throws -> SessionDescription {
    // snippet:servers
    var configuration = Connection.Configuration()
    configuration.iceServers = [
        try ICEServer(url: "stun:stun.example.org"),
        try ICEServer(url: "turn:turn.example.org", username: "alice", password: "a secret"),
    ]
    let session = try await AttendeeSession.offering(as: AttendeeID("alice"), configuration: configuration)
    try await session.connection.gather()
    let offer = try await session.connection.makeOffer()
    // end
    return offer
}

// snippet:candidates
final class CandidateTeller: AttendeeSessionObserver {
    let tell: @Sendable (_ candidate: String, _ mid: String?, _ ufrag: String?) -> Void

    init(tell: @escaping @Sendable (_ candidate: String, _ mid: String?, _ ufrag: String?) -> Void) {
        self.tell = tell
    }

    func sessionDidFind(_ candidate: CandidateAttribute, mid: String, ufrag: String) {
        tell(candidate.description, mid, ufrag)
    }

    func sessionDidFindAllCandidates() { tell("", nil, nil) }
}
// end

func trickle(
    _ configuration: Connection.Configuration, _ exchange: (String) async throws -> String,
    candidates: AsyncStream<(line: String, mid: String?, ufrag: String?)>,
    tell: @escaping @Sendable (String, String?, String?) -> Void
) async throws {
    // snippet:trickle
    var configuration = configuration
    configuration.trickles = true
    let session = try await AttendeeSession.offering(as: AttendeeID("alice"), configuration: configuration)
    session.add(observer: CandidateTeller(tell: tell))

    let offer = try await session.connection.makeOffer()
    async let gathering: Void = session.connection.gather()
    let answer = try await exchange(offer.description)
    try await session.connection.accept(answer: SessionDescription.parse(answer), to: offer)
    for await (line, mid, ufrag) in candidates {
        try await session.connection.addRemoteCandidate(line, mid: mid, ufrag: ufrag)
    }
    try await gathering
    // end
}

func restart(_ session: AttendeeSession, exchange: (String) async throws -> String) async throws {
    // snippet:restart
    await session.connection.restartICE()
    let offer = try await session.connection.makeOffer()
    let answer = try await exchange(offer.description)
    try await session.connection.accept(answer: SessionDescription.parse(answer), to: offer)
    // end
}
