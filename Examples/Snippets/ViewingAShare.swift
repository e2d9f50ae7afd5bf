import RTCShare

// The code of the article ViewingAShare.

// snippet:viewer
final class Viewer: VideoTileObserver, RemoteSoundObserver {
    let picture = SnapshotSink()
    private unowned let tiles: VideoTileController

    init(session: AttendeeSession) {
        tiles = session.tiles
        session.tiles.add(observer: self)
        session.sounds.add(observer: self)
    }

    func videoTileDidAdd(_ tile: VideoTileState) {
        guard tile.isContent else { return }
        do { try tiles.bind(picture, toTile: tile.tileID) } catch { print(error) }
    }

    func videoTileDidPause(_ tile: VideoTileState) { print("\(tile.attendeeID) stands still: \(tile.pauseState)") }
    func videoTileDidRemove(_ tile: VideoTileState) { print("\(tile.attendeeID) shares no more") }
    func remoteSoundDidAdd(_ sound: RemoteSound) { print("there is sound of \(sound.attendeeID)") }
}
// end

func view(offer: String, reply: (String) async throws -> Void) async throws {
    // snippet:view
    let session = try await AttendeeSession.viewing(as: AttendeeID("bob"))
    let viewer = Viewer(session: session)
    let answer = try await session.connection.answer(offer: SessionDescription.parse(offer))
    try await reply(answer.description)
    try await session.waitUntilEnd()
    try viewer.picture.write(to: "seen.png")
    // end
}

// snippet:sink
final class BrightnessSink: VideoSink {
    func receive(_ frame: VideoFrame) {
        let (column, row) = (frame.size.width / 2, frame.size.height / 2)
        let middle = frame.buffer.withPlanes { set in set.planes[0][row * set.strides[0] + column] }
        print("\(frame.size) at \(frame.timestamp), \(middle) in the middle")
    }

    func sourceDidEnd(error: (any Error)?) { print("no more pictures") }
}
// end

func meet() async throws {
    // snippet:meet
    let alice = try await AttendeeSession.offering(as: AttendeeID("alice"))
    let bob = try await AttendeeSession.viewing(as: AttendeeID("bob"))
    try await alice.contentShare.start(capturing: .testPattern())
    try await alice.connect(to: bob)
    // end
}
