import Foundation
import RTCShare
import Synchronization

// Sharing a screen by an app extension, as an article on ReplayKit with WebRTC has it: the extension writes frames into
// memory that it shares with the containing app, 60 a second; the app reads 30 of them and sends them as a stream's track.
// Beside them come the sound of the application and that of the microphone, which the app sends as two sounds.
// This program is both: it starts itself again as the extension.

let token = "two processes of one example"

/// The extension: `ScreenBroadcast extension PATH`.
func broadcast(to path: String) async throws {
    let sender = try BroadcastSender(
        endpoint: .path(path), tokens: BroadcastTokens(mine: token.utf8, peers: token.utf8), transport: .sharedMemory)
    let screen = try TestPatternSource(framesPerSecond: 60)
    // RPSampleBufferType.audioApp and .audioMic; a microphone would be `PulseSource(.microphone(device: nil))`.
    let (application, microphone) = (try ToneSource(frequency: 440), try ToneSource(frequency: 1000))
    let status = ExtensionStatus()
    sender.add(observer: status)
    screen.add(sender.video)
    screen.add(observer: sender.captureObserver)
    application.add(sender.audio)
    microphone.add(sender.microphone)
    try sender.start()
    for await isActive in status.changes where isActive {
        try screen.start()
        try application.start()
        try microphone.start()
    }
    screen.stop()
    application.stop()
    microphone.stop()
    withExtendedLifetime(status) {}
}

/// What the extension knows of the containing app.
final class ExtensionStatus: BroadcastSenderObserver {
    let changes: AsyncStream<Bool>
    private let continuation: AsyncStream<Bool>.Continuation

    init() { (changes, continuation) = AsyncStream.makeStream(of: Bool.self) }

    func broadcastSenderDidConnect() { continuation.yield(true) }
    func broadcastSenderDidEnd(error: BroadcastError?) {
        print("extension: ended\(error.map { ": \($0)" } ?? "")")
        continuation.finish()
    }
}

/// What the containing app hears.
final class ContainingApp: BroadcastObserver {
    func broadcastDidStart(transport: BroadcastTransport) { print("app: the broadcast is active, by \(transport)") }
    func broadcastDidFinish(reason: String) { print("app: the broadcast is not active: \(reason)") }
}

/// What the viewer is sent beside pictures.
final class Listener: RemoteAudioObserver {
    private let sounds = Mutex<Set<String>>([])

    var attendees: Set<String> { sounds.withLock { $0 } }

    func remoteAudioDidAdd(_ sound: RemoteAudio) { sounds.withLock { _ = $0.insert(sound.attendeeID.rawValue) } }
}

/// The containing app, and a viewer.
func present() async throws {
    let path = "\(NSTemporaryDirectory())/screen-broadcast-\(getpid()).sock"
    let source = try BroadcastSource(
        endpoint: .path(path), tokens: BroadcastTokens(mine: token.utf8, peers: token.utf8))
    let (alice, bob) = (
        try await AttendeeSession.offering(as: AttendeeID("alice"), media: [.content, .contentAudio, .microphone]),
        try await AttendeeSession.viewing(as: AttendeeID("bob"))
    )
    let (app, view, listener) = (ContainingApp(), VideoStatisticsSink(), Listener())
    source.add(broadcastObserver: app)
    await bob.tiles.bind(view, to: .content)
    bob.audio.add(observer: listener)

    let factory = MediaFactory()
    let track = try factory.videoTrack(with: source, id: "stream0v0")
    track.adaptOutputFormat(width: 1280, height: 720, fps: 30)
    let stream = try factory.mediaStream(withID: "stream0")
    stream.add(track)
    stream.add(try factory.audioTrack(with: source.sound, id: "stream0a0"))
    try await alice.contentShare.start(stream: stream)
    try await alice.startMicrophone(source: source.microphone)
    try await alice.connect(to: bob)
    try source.start()
    try source.sound.start()
    try source.microphone.start()

    let picker = Process()
    picker.executableURL = Bundle.main.executableURL
    picker.arguments = ["extension", path]
    try picker.run()
    try await Task.sleep(for: .seconds(4))
    source.stop()
    picker.waitUntilExit()
    await alice.leave()
    await bob.leave()
    withExtendedLifetime(app) {}
    print("viewer: saw \(view.statistics.frames) pictures, with the sounds of \(listener.attendees.sorted())")
    guard view.statistics.frames > 0, listener.attendees == ["alice", "alice#content"], picker.terminationStatus == 0
    else { exit(1) }
}

do {
    let arguments = CommandLine.arguments
    if arguments.count == 3, arguments[1] == "extension" {
        try await broadcast(to: arguments[2])
    } else {
        try await present()
    }
} catch {
    print("ScreenBroadcast: \(error)")
    exit(1)
}
