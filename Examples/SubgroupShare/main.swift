import Capture
import ContentShare
import Foundation
import Media

// Screen share with subgroups, as LINE PlanetKit's guide has it: alice shares to the main room, then to a subgroup, then to
// the main room again, while bob and carol look on. All three are in this process, and everything between them is real.

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
}

do {
    let design = try Subgroup("design")
    let room = try SharingRoom(owner: AttendeeID("alice"))
    let (bob, carol) = (try await ViewingApp("bob"), try await ViewingApp("carol"))
    let toBob = try await room.addViewer()
    let toCarol = try await room.addViewer(membership: RoomMembership(onlySubgroups: [design]))
    try await toBob.session.connect(to: bob.session)
    try await toCarol.session.connect(to: carol.session)

    // startMyScreenShare(subgroupName: nil)
    let screen = try SourceSpecification("test:1280x720@30").open()
    try await room.contentShare.start(source: screen)
    try screen.start()
    try await Task.sleep(for: .seconds(2))

    // changeMyScreenShareDestination(subgroupName: "design")
    await room.join(design)
    try await room.changeDestination(to: .subgroup(design))
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

    screen.stop()
    await room.end()
    for app in [bob, carol] {
        let seen = app.view.statistics
        print("\(app.session.attendee): saw \(seen.frames) pictures")
        await app.session.leave()
        guard seen.frames > 0 else { exit(1) }
    }
} catch {
    print("SubgroupShare: \(error)")
    exit(1)
}
