import RTCShare
import RTCShareSignaling

// The code of the article ThroughServers.

func publish(_ room: SharingRoom) async throws {
    // snippet:publish
    let endpoint = try WHIPEndpoint(
        url: "https://server.example/live/whip", token: AccessToken(presenting: "a-stream-key"))
    let publication = Publication(of: room, at: endpoint)
    await publication.start()

    for await event in publication.events {
        switch event {
        case .published: print("published at \(endpoint.name)")
        case .away: print("the server does not answer")
        case .back: print("the server answers again")
        case .failed(let error, _, let pause): print("\(error); " + (pause.map { "again in \($0)" } ?? "given up"))
        }
    }
    // end
}

func publishOnce(_ room: SharingRoom, at endpoint: WHIPEndpoint) async throws {
    // snippet:session
    let session = try await WHIPSession(at: endpoint, publishing: room)
    try await session.start()
    for await event in session.events {
        if case .ended(let error?) = event { print(error) }
    }
    await session.leave()
    // end
}
