import RTCShare
import RTCSharePlayback

// The code of the article ViewingAShare.

func view(offer: String, reply: (String) async throws -> Void) async throws {
    // snippet:view
    let session = try await AttendeeSession.viewing(as: AttendeeID("bob"))
    let picture = SnapshotSink()
    await session.tiles.bind(picture, to: .content)
    let answer = try await session.connection.answer(offer: offer)
    try await reply(answer)
    try await session.waitUntilEnd()
    try picture.write(to: "seen.png")
    // end
}

func follow(_ session: AttendeeSession) async {
    // snippet:updates
    for await tiles in await session.tiles.updates {
        for tile in tiles { print("\(tile.attendeeID): \(tile.size), \(tile.pauseState)") }
    }
    // end
}

// snippet:viewer
final class Viewer: VideoTileObserver, RemoteAudioObserver {
    private unowned let session: AttendeeSession

    init(session: AttendeeSession) {
        self.session = session
        session.tiles.add(observer: self)
        session.audio.add(observer: self)
    }

    func videoTileDidAdd(_ tile: VideoTileState) {
        do { try session.tiles.bind(BrightnessSink(), toTile: tile.tileID) } catch { print(error) }
    }

    func videoTileDidRemove(_ tile: VideoTileState) { print("\(tile.attendeeID) stopped sharing") }
    func remoteAudioDidAdd(_ sound: RemoteAudio) { print("audio of \(sound.attendeeID)") }
}
// end

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

func show(_ session: AttendeeSession) async throws {
    // snippet:window
    let window = try await VideoWindow(title: "alice", size: PixelSize(width: 1280, height: 720))
    await session.tiles.bind(window.large, to: .content)
    await session.tiles.bind(window.corner, to: .attendee)
    let player = await AudioPlayer(session.audio)
    await player.synchronize(window.large, with: try AttendeeID("alice#content"))
    for await event in window.events {
        switch event {
        case .key("f"): await window.toggleFullScreen()
        case .key("m"): await player.setMuted(!player.isMuted)
        case .closed, .failed: await session.leave()
        case .key: continue
        }
    }
    // end
}

// snippet:draw
func draw(_ view: VideoView, with renderer: OpaquePointer) throws {
    let place = PixelRectangle(x: 0, y: 0, size: PixelSize(width: 640, height: 360))
    // A frame that waits for its audio is due at `next`, a time of the monotonic clock.
    let (_, next) = try view.draw(with: renderer, in: place)
    if let next { print("draw again at \(next)") }
}
// end

func stopAndStart(_ session: AttendeeSession) async throws {
    // snippet:receiving
    let content = try AttendeeID("alice#content")
    try await session.setReceiving(false, of: content)
    try await session.setReceiving(true, of: content)
    // end
}

func record(_ session: AttendeeSession) async throws {
    // snippet:record-received
    let recorder = try WebMRecorder(path: "seen.webm")
    await session.recordReceived(to: recorder)
    try await session.waitUntilEnd()
    try await recorder.close()
    // end
}

func meet() async throws {
    // snippet:meet
    let alice = try await AttendeeSession.offering(as: AttendeeID("alice"))
    let bob = try await AttendeeSession.viewing(as: AttendeeID("bob"))
    try await alice.contentShare.start(capturing: .testPattern())
    try await alice.connect(to: bob)
    // end
}
