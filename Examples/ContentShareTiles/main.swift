import Foundation
import RTCShare

// Content share with observers and tiles, as the Amazon Chime SDK's guide has it: alice shares a screen with its sound
// beside her own picture, bob sees a tile of each. Both are in this process, and everything between them is real.

/// What the sharing application hears, and what it does: it shares while it captures.
final class SharingApp: ContentShareObserver, CaptureSourceObserver {
    private let share: ContentShareController
    private let screen: any CaptureSource
    private let sound: any AudioSource

    init(_ share: ContentShareController, of screen: any CaptureSource, with sound: any AudioSource) {
        (self.share, self.screen, self.sound) = (share, screen, sound)
        screen.add(observer: self)
        share.add(observer: self)
    }

    func captureDidStart() {
        print("alice: capture did start")
        Task {
            do {
                try await share.start(
                    source: screen, audio: sound,
                    configuration: LocalVideoConfiguration(maxBitrate: .kilobitsPerSecond(2000)))
            } catch {
                print("alice: \(error)")
            }
        }
    }

    func captureDidStop() {
        print("alice: capture did stop")
        Task { try? await share.stop() }
    }

    func captureDidFail(error: CaptureSourceError) {
        print("alice: capture did fail: \(error)")
        captureDidStop()
    }

    func contentShareDidStart() { print("alice: content share did start") }
    func contentShareDidStop(status: ContentShareStatus) { print("alice: content share did stop: \(status)") }
}

/// What the viewing application hears, and what it does: it binds each tile to a view.
final class ViewingApp: VideoTileObserver, RemoteSoundObserver {
    let views = [AttendeeID.Modality.content: VideoStatisticsSink(), .attendee: VideoStatisticsSink()]
    private unowned let session: AttendeeSession

    init(session: AttendeeSession) { self.session = session }

    func videoTileDidAdd(_ tile: VideoTileState) {
        print("bob: tile \(tile.tileID) of \(tile.attendeeID) added\(tile.isContent ? ", content" : ""), \(tile.size)")
        guard let view = views[tile.attendeeID.modality] else { return }
        do { try session.tiles.bind(view, toTile: tile.tileID) } catch { print("bob: \(error)") }
    }

    func videoTileDidRemove(_ tile: VideoTileState) { print("bob: tile \(tile.tileID) removed") }
    func remoteSoundDidAdd(_ sound: RemoteSound) { print("bob: hears \(sound.attendeeID)") }
}

do {
    let alice = try await AttendeeSession.offering(
        as: AttendeeID("alice"), media: [.content, .contentAudio, .camera])
    let bob = try await AttendeeSession.viewing(as: AttendeeID("bob"))
    let screen = try TestPatternSource()
    let sound = try ToneSource()
    let face = try TestPatternSource(size: PixelSize(width: 320, height: 240), framesPerSecond: 15)
    let sharing = SharingApp(alice.contentShare, of: screen, with: sound)
    let viewing = ViewingApp(session: bob)
    bob.tiles.add(observer: viewing)
    bob.sounds.add(observer: viewing)
    try await alice.connect(to: bob)

    try await alice.startLocalVideo(source: face)
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
    withExtendedLifetime(sharing) {}
    for (modality, view) in viewing.views {
        print("bob: saw \(view.statistics.frames) pictures of \(modality)")
        guard view.statistics.frames > 0 else { exit(1) }
    }
} catch {
    print("ContentShareTiles: \(error)")
    exit(1)
}
