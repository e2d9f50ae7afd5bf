import RTCShare
import RTCShareSignaling

// The code of the article PublishingToServers.

func publish(_ room: SharingRoom) async throws {
    // snippet:publish
    let endpoint = try WHIPEndpoint(
        url: "https://server.example/live/whip", token: AccessToken(presenting: "a-stream-key"))
    let publication = Publication(of: room, at: endpoint)
    await publication.start()

    for await event in publication.events {
        switch event {
        case .published: print("published at \(endpoint.name)")
        case .disconnected: print("the server does not respond")
        case .reconnected: print("the server responds again")
        case .losses(let count): print("the server lost \(count) packets")
        case .limited(let rate): print("the server limits the bitrate to \(rate)")
        case .failed(let error, _, let pause): print("\(error); " + (pause.map { "retry in \($0)" } ?? "no retry"))
        }
    }
    // end
}

func publish(inRoomOfJanus room: SharingRoom) async throws {
    // snippet:janus
    let content = try JanusEndpoint(
        url: "http://server.example:8088/janus", room: .number(1234), display: "alice#content",
        credentials: JanusCredentials(pin: "open sesame"))
    let publications = [
        Publication(of: room, at: content), Publication(of: room, at: content.ownMedia(as: "alice")),
    ]
    for publication in publications { await publication.start() }
    // end
}

func change(layersOf room: SharingRoom) async throws {
    // snippet:layers
    try await room.contentShare.update(
        VideoEncodingParameters(
            maxBitrate: .kilobitsPerSecond(2500),
            layers: [
                VideoLayerParameters(),
                VideoLayerParameters(maxBitrate: .kilobitsPerSecond(1000), scaleResolutionDownBy: 2),
                VideoLayerParameters(active: false),
            ]))
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
