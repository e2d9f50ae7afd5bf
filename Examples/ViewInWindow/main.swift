import Foundation
import RTCShare
import RTCSharePlayback

// Shows a share in a window that somebody else has made on X11, a toolkit or another program: its number is the argument.
// The offer is standard input, up to its end; the answer goes to standard output.
do {
    guard let number = CommandLine.arguments.dropFirst().first.flatMap({ UInt($0) }) else {
        FileHandle.standardError.write(Data("usage: ViewInWindow NUMBER <offer.sdp >answer.sdp\n".utf8))
        exit(64)
    }
    let session = try await AttendeeSession.viewing(as: AttendeeID("bob"))
    let window = try await VideoWindow(x11Window: number)
    await session.tiles.bind(window.large, to: .content)
    await session.tiles.bind(window.corner, to: .attendee)
    let player = await AudioPlayer(session.audio) { error in
        FileHandle.standardError.write(Data("ViewInWindow: \(error)\n".utf8))
    }

    let offer = String(decoding: FileHandle.standardInput.readDataToEndOfFile(), as: UTF8.self)
    let answer = try await session.connection.answer(offer: offer)
    try FileHandle.standardOutput.write(contentsOf: Data(answer.utf8))
    try FileHandle.standardOutput.close()

    // It ends with the share, or with the window.
    Task {
        for await event in window.events where event == .closed { await session.leave() }
    }
    try await session.waitUntilEnd()
    await player.stop()
    await window.close()
} catch {
    FileHandle.standardError.write(Data("ViewInWindow: \(error)\n".utf8))
    exit(1)
}
