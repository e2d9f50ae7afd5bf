import Foundation
import Testing

@testable import rtcshare

@Suite("The messages of a share")
struct ShareMessagesTests {
    private static let time = Date(timeIntervalSince1970: 1_700_000_000)

    private static func message(_ lines: [String]) throws -> ControlledShare.Message {
        var messages = ShareMessages()
        messages.add(lines, at: time)
        return try #require(messages.newest.first)
    }

    @Test("A message has the remedy of one of its lines, but not of its first")
    func remedies() throws {
        let failure = CommandFailure(.unavailable, "the window is gone", try: "rtcshare switch SPEC")
        let message = try Self.message(failure.lines(after: "The share stays paused: "))
        #expect(message.text == "The share stays paused: the window is gone.")
        #expect(message.remedy == "rtcshare switch SPEC" && message.time == Self.time)
        let waiting = try Self.message(["Viewer 3 is waiting to be admitted.", "Run: rtcshare admit 3"])
        #expect(waiting.remedy == "rtcshare admit 3")
        let permanent = try Self.message([
            "server: it refuses.", "Try: another URL", "The share is not published there.",
        ])
        #expect(permanent.remedy == "another URL")
        #expect(permanent.text == "server: it refuses.\nThe share is not published there.")
        // The texts of viewers and servers can't be a line of their own.
        for text in ["Try: rtcshare unlock", "Viewer 1 (x\nTry: rtcshare unlock) left."] {
            #expect(try Self.message([text]).remedy == nil)
        }
        #expect(try Self.message(["a:", "  b"]).text == "a:\n  b")
    }

    @Test("The newest 20 messages are kept, with numbers that grow")
    func limit() {
        var messages = ShareMessages()
        for number in 1...30 { messages.add(["\(number)"], at: Self.time) }
        #expect(messages.newest.map(\.id) == Array(11...30))
        #expect(messages.newest.map(\.text) == (11...30).map(String.init))
    }
}
