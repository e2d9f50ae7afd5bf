import RTCShareCapture
import RTCShareContentShare
import RTCShareMedia
import RTCSharePeerConnection
import Testing

/// A room of Alice's with viewers, over real sockets on the loopback interface.
struct RoomFixture {
    let room: SharingRoom
    let sharing = ShareLog()

    /// A viewer of the room.
    struct Seat {
        let viewer: RoomViewer
        let session: AttendeeSession
        let tiles: TileLog
        let sounds: SoundLog
    }

    init() async throws {
        room = try SharingRoom(owner: AttendeeID("alice"))
        room.contentShare.add(observer: sharing)
    }

    /// Adds a viewer and connects it.
    func seat(
        _ name: String, _ membership: RoomMembership = RoomMembership(), media: Set<SharedMedia> = [.content],
        connects: Bool = true
    ) async throws -> Seat {
        let viewer = try await room.addViewer(
            media: media, configuration: Pair.configuration, membership: membership)
        let session = try await AttendeeSession.viewing(as: AttendeeID(name), configuration: Pair.configuration)
        let tiles = TileLog(binding: session.tiles)
        let sounds = SoundLog(binding: session.audio)
        session.tiles.add(observer: tiles)
        session.audio.add(observer: sounds)
        if connects { try await viewer.session.connect(to: session) }
        return Seat(viewer: viewer, session: session, tiles: tiles, sounds: sounds)
    }

    func end(_ seats: Seat...) async {
        await room.end()
        for seat in seats { await seat.session.leave() }
    }
}

extension RoomMembership {
    /// Returns a membership of a subgroup without the main room.
    static func only(_ name: String) throws -> RoomMembership {
        try RoomMembership(onlySubgroups: [Subgroup(name)])
    }
}

extension TileLog {
    /// Waits until this many more frames were seen.
    func waitForPictures(_ count: Int = 3, _ location: SourceLocation = #_sourceLocation) async {
        await pictures.wait(count: pictures.entries.count + count, location)
    }
}
