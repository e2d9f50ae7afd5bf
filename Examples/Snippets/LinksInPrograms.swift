import RTCShare
import RTCShareSignaling

// The code of the article LinksInPrograms.

func serve() async throws -> ViewerServer {
    // snippet:serve
    let room = try SharingRoom(owner: AttendeeID("alice"))
    try await room.contentShare.start(capturing: .display())

    let server = try await ViewerServer(room: room)
    for link in server.links(hosts: ["192.168.1.23"]) { print(link) }
    // end
    return server
}

func ask(_ room: SharingRoom) async throws {
    // snippet:ask
    var configuration = ViewerServer.Configuration()
    configuration.requiresApproval = true
    configuration.token = try AccessToken("the-same-after-a-restart")
    let server = try await ViewerServer(room: room, configuration: configuration)

    for await event in server.events {
        if case .waitingForApproval(let viewer) = event { try await server.admit(viewer.id) }
    }
    // end
}

func watch(_ link: String, with sink: any VideoSink) async throws -> WHEPPlayer {
    // snippet:watch
    let player = try await WHEPPlayer(url: link, as: AttendeeID("bob"))
    await player.session.tiles.bind(sink, to: .content)
    try await player.start()
    // end
    return player
}
