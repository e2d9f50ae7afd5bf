import Foundation
import RTCShare

// A stream, its tracks and adaptOutputFormat, as the article on ReplayKit and WebRTC has them: an application's frames
// are pushed into a video source, and a track of it is sent in a stream.

/// Stands for the system's recorder: calls back with each frame that it captured.
final class ScreenRecorder: VideoSink {
    private let screen: any CaptureSource
    private let handler: @Sendable (VideoFrame) -> Void

    init(screen: any CaptureSource, handler: @escaping @Sendable (VideoFrame) -> Void) {
        (self.screen, self.handler) = (screen, handler)
        screen.add(self)
    }

    func receive(_ frame: VideoFrame) { handler(frame) }
}

do {
    let factory = MediaFactory()
    let label = "ARDAMS"
    let stream = try factory.mediaStream(withID: label)
    let microphone = try ToneSource()
    stream.add(try factory.audioTrack(with: microphone, id: "\(label)a0"))
    let videoSource = factory.videoSource(forScreencast: true)
    stream.add(try factory.videoTrack(with: videoSource, id: "\(label)v0"))

    let alice = try await AttendeeSession.offering(as: AttendeeID("alice"), media: [.content, .contentAudio])
    let bob = try await AttendeeSession.viewing(as: AttendeeID("bob"))
    let preview = VideoStatisticsSink()
    await bob.tiles.bind(preview, to: .content)
    try await alice.contentShare.start(stream: stream)
    try await alice.connect(to: bob)

    // What is larger is made smaller, whole, and at most 24 frames a second are sent.
    videoSource.adaptOutputFormat(width: 1280, height: 720, fps: 24)
    let screen = try TestPatternSource(size: PixelSize(width: 1920, height: 1200))
    let recorder = ScreenRecorder(screen: screen) { frame in videoSource.capture(frame) }
    try screen.start()
    try microphone.start()
    try await Task.sleep(for: .seconds(3))

    screen.stop()
    microphone.stop()
    withExtendedLifetime(recorder) {}
    await alice.leave()
    await bob.leave()
    let seen = preview.statistics
    print("bob saw \(seen.frames) pictures of \(seen.size?.description ?? "no size")")
    // 1920x1200 has 16 columns to 10 rows, and keeps them.
    guard seen.frames > 0, seen.size == PixelSize(width: 1152, height: 720) else { exit(1) }
} catch {
    print("StreamAndTracks: \(error)")
    exit(1)
}
