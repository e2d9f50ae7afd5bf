import Foundation
import RTCShare

// Device-level screen sharing, as the Amazon Chime SDK's guide has it: the application stores what its session is made of,
// the broadcast extension, a process of its own, builds the session anew from that and shares by itself, and the
// application ends the share by removing what it stored. This program is both: it starts itself again as the extension.

/// The extension: `DeviceLevelShare extension FILE`.
func broadcast(_ file: PrivateFile) async throws {
    let stored = try JSONDecoder().decode(StoredSession.self, from: file.read())
    let session = try await AttendeeSession.takingUp(stored)
    let screen = try TestPatternSource()
    try await session.contentShare.start(source: screen)
    try screen.start()
    print("extension: shares as \(try session.attendee.content)")
    for await _ in try file.removals() { print("extension: the stored session is gone, so the broadcast ends") }
    screen.stop()
    await session.leave()
}

/// The application, and the viewer.
func present() async throws {
    let alice = try await AttendeeSession.offering(as: AttendeeID("alice"))
    let bob = try await AttendeeSession.viewing(as: AttendeeID("bob"))
    let view = VideoStatisticsSink()
    await bob.tiles.bind(view, to: .content)
    let answer = try await bob.connection.answer(offer: alice.connection.offer())

    // The session goes into the store, which both processes can read.
    let file = PrivateFile(path: "\(NSTemporaryDirectory())/device-level-share-\(getpid()).json")
    try file.write(JSONEncoder().encode(try await alice.handOver(answer: answer)))
    let picker = Process()
    picker.executableURL = Bundle.main.executableURL
    picker.arguments = ["extension", file.path]
    try picker.run()
    try await Task.sleep(for: .seconds(3))

    // The meeting ends: so does the broadcast.
    try file.remove()
    try await bob.waitUntilEnd()
    picker.waitUntilExit()
    print("bob: saw \(view.statistics.frames) pictures")
    await bob.leave()
    guard view.statistics.frames > 0, picker.terminationStatus == 0 else { exit(1) }
}

do {
    let arguments = CommandLine.arguments
    if arguments.count == 3, arguments[1] == "extension" {
        try await broadcast(PrivateFile(path: arguments[2]))
    } else {
        try await present()
    }
} catch {
    print("DeviceLevelShare: \(error)")
    exit(1)
}
