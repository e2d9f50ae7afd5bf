import Foundation
import RTCShare

// Screen share with subgroups, as LINE PlanetKit's guide has it: a broadcast extension captures and finds the app by a
// port and two tokens; alice's app shares what it sends to a subgroup, then to the main room, while carol and bob look on; bob
// has it stop sending to him for a while. All are in this process, and everything between them is real.

/// What a viewing application hears.
final class ViewingApp: VideoTileObserver {
    let view = VideoStatisticsSink()
    let session: AttendeeSession

    init(_ name: String) async throws {
        session = try await AttendeeSession.viewing(as: AttendeeID(name))
        session.tiles.add(observer: self)
    }

    func videoTileDidAdd(_ tile: VideoTileState) {
        print("\(session.attendee): screen share of \(tile.attendeeID) added, \(tile.size)")
        do { try session.tiles.bind(view, toTile: tile.tileID) } catch { print("\(session.attendee): \(error)") }
    }

    func videoTileDidRemove(_ tile: VideoTileState) { print("\(session.attendee): screen share removed") }

    // screenShareDidUpdate(peerId:subgroupName:)
    func videoTileSubgroupDidChange(_ tile: VideoTileState) {
        print("\(session.attendee): screen share goes to \(tile.subgroup?.name ?? "the main room")")
    }
}

/// The sharing application: it shares while a broadcast comes.
final class SharingApp: BroadcastObserver {
    enum Event: Sendable { case didStart, didEnd }

    let events: AsyncStream<Event>
    private let continuation: AsyncStream<Event>.Continuation

    init() { (events, continuation) = AsyncStream.makeStream(of: Event.self) }

    func broadcastDidStart(transport: BroadcastTransport) { continuation.yield(.didStart) }
    func broadcastDidFinish(reason: String) { continuation.yield(.didEnd) }
    func broadcastDidFail(error: BroadcastError) {
        print("alice: \(error)")
        continuation.yield(.didEnd)
    }
}

do {
    let design = try Subgroup("design")
    let room = try SharingRoom(owner: AttendeeID("alice"))
    let (bob, carol) = (try await ViewingApp("bob"), try await ViewingApp("carol"))
    let toBob = try await room.addViewer()
    let toCarol = try await room.addViewer(membership: RoomMembership(onlySubgroups: [design]))
    try await toBob.session.connect(to: bob.session)
    try await toCarol.session.connect(to: carol.session)

    // ScreenShareKey(broadcastPort:broadcastPeerToken:broadcastMyToken:), here with a port that the system picks.
    let (appToken, extensionToken) = ("the app says this", "the extension says this")
    let broadcast = try BroadcastSource(
        endpoint: .port(0), tokens: BroadcastTokens(mine: appToken.utf8, peers: extensionToken.utf8))
    let app = SharingApp()
    broadcast.add(broadcastObserver: app)
    try broadcast.start()

    // The extension: broadcastStarted(withSetupInfo:)
    let screen = try TestPatternSource()
    let sender = try BroadcastSender(
        endpoint: broadcast.endpoint, tokens: BroadcastTokens(mine: extensionToken.utf8, peers: appToken.utf8))
    screen.add(sender.video)
    screen.add(observer: sender.captureObserver)
    try sender.start()
    try screen.start()

    for await event in app.events {
        guard event == .didStart else {
            // didFinishMyBroadcast, didErrorMyBroadcast: stopMyScreenShare()
            try await room.contentShare.stop()
            break
        }
        // didStartMyBroadcast: startMyScreenShare(subgroupName: "design")
        await room.join(design)
        try await room.startContentShare(source: broadcast, to: .subgroup(design))
        try await Task.sleep(for: .seconds(2))
        do {
            try await room.leave(design)
        } catch {
            print("alice: \(error)")
        }

        // changeMyScreenShareDestinationToMainRoom()
        try await room.changeDestination(to: .main)
        try await room.leave(design)
        try await Task.sleep(for: .seconds(2))

        // stopScreenShare and startScreenShare of a peer's: nothing is encoded for bob meanwhile
        let content = try AttendeeID("alice#content")
        try await bob.session.setReceiving(false, of: content)
        try await Task.sleep(for: .seconds(1))
        try await bob.session.setReceiving(true, of: content)
        try await Task.sleep(for: .seconds(1))

        // The extension: broadcastFinished()
        sender.stop()
    }

    screen.stop()
    broadcast.stop()
    await room.end()
    withExtendedLifetime(app) {}
    for viewer in [bob, carol] {
        let seen = viewer.view.statistics
        print("\(viewer.session.attendee): saw \(seen.frames) pictures")
        await viewer.session.leave()
        guard seen.frames > 0 else { exit(1) }
    }
} catch {
    print("SubgroupShare: \(error)")
    exit(1)
}
