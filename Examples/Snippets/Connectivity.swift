import RTCShare

// The code of the article Connectivity.

func offerThroughServers() async throws -> String {
    // snippet:servers
    var configuration = Connection.Configuration()
    configuration.iceServers = [
        try ICEServer(urls: "stun:stun.example.org"),
        try ICEServer(urls: "turn:turn.example.org", username: "alice", credential: "a secret"),
    ]
    let session = try await AttendeeSession.offering(as: AttendeeID("alice"), configuration: configuration)
    try await session.connection.gather()
    let offer = try await session.connection.offer()
    // end
    return offer
}

func trickle(
    _ configuration: Connection.Configuration, _ exchange: (String) async throws -> String,
    candidates: AsyncStream<(line: String, mid: String?, ufrag: String?)>,
    send: @escaping @Sendable (_ candidate: String, _ mid: String?, _ ufrag: String?) -> Void
) async throws {
    // snippet:trickle
    var configuration = configuration
    configuration.usesTrickleICE = true
    let session = try await AttendeeSession.offering(as: AttendeeID("alice"), configuration: configuration)
    let local = await session.candidates
    Task {
        for await found in local { send(found?.candidate ?? "", found?.sdpMid, found?.usernameFragment) }
    }

    let offer = try await session.connection.offer()
    async let gathering: Void = session.connection.gather()
    let answer = try await exchange(offer)
    try await session.connection.accept(answer: answer)
    for await (line, mid, ufrag) in candidates {
        try await session.connection.addICECandidate(line, sdpMid: mid, usernameFragment: ufrag)
    }
    try await gathering
    // end
}

func restart(_ session: AttendeeSession, exchange: (String) async throws -> String) async throws {
    // snippet:restart
    await session.connection.restartICE()
    let offer = try await session.connection.offer()
    let answer = try await exchange(offer)
    try await session.connection.accept(answer: answer)
    // end
}
