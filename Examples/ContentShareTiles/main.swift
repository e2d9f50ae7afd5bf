import Foundation
import RTCShare

// Content share with events and tiles, as the Amazon Chime SDK's guide has it: alice shares a screen with its sound
// beside her own picture, bob sees a tile of each. Both are in this process, and everything between them is real.

/// The sharing application: it shares while it captures.
func shareWhileCaptured(_ screen: any CaptureSource, with sound: any AudioSource, by share: ContentShareController) {
    let events = screen.events
    Task {
        do {
            for await event in events {
                switch event {
                case .started:
                    print("alice: capture did start")
                    try await share.start(
                        source: screen, audio: sound,
                        parameters: VideoEncodingParameters(maxBitrate: .kilobitsPerSecond(2000)))
                case .stopped: print("alice: capture did stop")
                case .failed(let error): print("alice: capture did fail: \(error)")
                case .interrupted, .interruptionEnded, .sizeChanged: break
                }
            }
            try await share.stop()
        } catch {
            print("alice: \(error)")
        }
    }
    Task {
        for await event in await share.events {
            switch event {
            case .started: print("alice: content share did start")
            case .stopped(let status): print("alice: content share did stop: \(status)")
            case .silent, .sourceEnded, .muteChanged: break
            }
        }
    }
}

/// What the viewing application hears, and what it does: it binds each tile to a view.
final class ViewingApp: VideoTileObserver, RemoteAudioObserver {
    let views = [AttendeeID.Modality.content: VideoStatisticsSink(), .attendee: VideoStatisticsSink()]
    private unowned let session: AttendeeSession

    init(session: AttendeeSession) { self.session = session }

    func videoTileDidAdd(_ tile: VideoTileState) {
        print("bob: tile \(tile.tileID) of \(tile.attendeeID) added\(tile.isContent ? ", content" : ""), \(tile.size)")
        guard let view = views[tile.attendeeID.modality] else { return }
        do { try session.tiles.bind(view, toTile: tile.tileID) } catch { print("bob: \(error)") }
    }

    func videoTileDidRemove(_ tile: VideoTileState) { print("bob: tile \(tile.tileID) removed") }
    func remoteAudioDidAdd(_ sound: RemoteAudio) { print("bob: hears \(sound.attendeeID)") }
}

do {
    let alice = try await AttendeeSession.offering(
        as: AttendeeID("alice"), media: [.content, .contentAudio, .camera])
    let bob = try await AttendeeSession.viewing(as: AttendeeID("bob"))
    let screen = try TestPatternSource()
    let sound = try ToneSource()
    let face = try TestPatternSource(size: PixelSize(width: 320, height: 240), framesPerSecond: 15)
    shareWhileCaptured(screen, with: sound, by: alice.contentShare)
    let viewing = ViewingApp(session: bob)
    bob.tiles.add(observer: viewing)
    bob.audio.add(observer: viewing)
    try await alice.connect(to: bob)

    try await alice.startCamera(source: face)
    try screen.start()
    try sound.start()
    try face.start()
    try await Task.sleep(for: .seconds(3))

    // Capture and share are apart: the application stops the share when it hears of the capture's end.
    screen.stop()
    try await Task.sleep(for: .milliseconds(300))
    await alice.leave()
    face.stop()
    sound.stop()
    await bob.leave()
    for (modality, view) in viewing.views {
        print("bob: saw \(view.statistics.frames) pictures of \(modality)")
        guard view.statistics.frames > 0 else { exit(1) }
    }
} catch {
    print("ContentShareTiles: \(error)")
    exit(1)
}
