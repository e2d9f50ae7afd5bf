import Foundation
import RTCShare

// Sharing a screen by an app extension, as an article on ReplayKit with WebRTC has it: the extension writes frames into
// memory that it shares with the containing app, 60 a second; the app reads 30 of them and sends them as a stream's track.
// This program is both: it starts itself again as the extension.

let token = "two processes of one example"

/// The extension: `ScreenBroadcast extension PATH`.
func broadcast(to path: String) async throws {
    let sender = try BroadcastSender(
        endpoint: .path(path), tokens: BroadcastTokens(mine: token.utf8, peers: token.utf8), transport: .sharedMemory)
    let screen = try TestPatternSource(framesPerSecond: 60)
    let status = ExtensionStatus()
    sender.add(observer: status)
    screen.add(sender.video)
    screen.add(observer: sender.captureObserver)
    try sender.start()
    for await isActive in status.changes where isActive { try screen.start() }
    screen.stop()
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

/// The containing app, and a viewer.
func present() async throws {
    let path = "\(NSTemporaryDirectory())/screen-broadcast-\(getpid()).sock"
    let source = try BroadcastSource(
        endpoint: .path(path), tokens: BroadcastTokens(mine: token.utf8, peers: token.utf8))
    let (alice, bob) = (
        try await AttendeeSession.offering(as: AttendeeID("alice")),
        try await AttendeeSession.viewing(as: AttendeeID("bob"))
    )
    let (app, view) = (ContainingApp(), VideoStatisticsSink())
    source.add(broadcastObserver: app)
    bob.tiles.bind(view, to: .content)

    let factory = MediaFactory()
    let track = try factory.videoTrack(with: source, id: "stream0v0")
    track.adaptOutputFormat(width: 1280, height: 720, fps: 30)
    let stream = try factory.mediaStream(withID: "stream0")
    stream.add(track)
    try await alice.contentShare.start(stream: stream)
    try await alice.connect(to: bob)
    try source.start()

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
    print("viewer: saw \(view.statistics.frames) pictures")
    guard view.statistics.frames > 0, picker.terminationStatus == 0 else { exit(1) }
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
