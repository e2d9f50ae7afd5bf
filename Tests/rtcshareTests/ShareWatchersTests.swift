import Foundation
import RTCShareContentShare
import RTCShareLocks
import Testing

@testable import rtcshare

@SharingActor @Suite("The streams of a share's events", .timeLimit(.minutes(1)))
struct ShareWatchersTests {
    private nonisolated static func share(uptime: Double, bitrate: Double) -> ControlledShare {
        ControlledShare(
            name: "share", pid: 1, attendee: "alice", state: .sharing, source: "test", interruption: nil,
            framesPerSecond: 0, bitrate: bitrate, maxBitrate: 1, maxFramerate: 1, hint: nil, isSlateShown: false,
            isAudioMuted: false, isMicrophoneMuted: false, destination: "main", subgroups: [], viewers: [],
            uptime: uptime)
    }

    /// A share whose state was asked for some times, with a clock of its own.
    private final class Stage: Sendable {
        let time = VirtualTime()
        private let state = Locked((asked: 0, bitrate: 1.0))

        var asked: Int { state.withLock { $0.asked } }

        func change() { state.withLock { $0.bitrate += 1 } }

        func watchers() -> ShareWatchers {
            ShareWatchers(sleep: { [time] in try await time.sleep(for: $0) }) { [self] in
                state.withLock { state in
                    state.asked += 1
                    return ShareWatchersTests.share(uptime: Double(state.asked), bitrate: state.bitrate)
                }
            }
        }

        /// Lets a second pass, and waits until it was handled.
        func pass() async {
            let sleeps = time.sleeps
            time.advance(by: .seconds(1))
            while time.sleeps == sleeps { await Task.yield() }
        }
    }

    private static func text(_ bytes: [UInt8]?) -> String { bytes.map { String(decoding: $0, as: UTF8.self) } ?? "end" }

    @Test("A state is sent at once and when it has changed, a comment after silence, and the reason at the end")
    func course() async throws {
        let stage = Stage()
        let watchers = stage.watchers()
        let stream = try await watchers.add()
        while stage.time.sleeps == 0 { await Task.yield() }
        var events = stream.makeAsyncIterator()
        #expect(Self.text(await events.next()).hasPrefix("event: share\ndata: {\"attendee\":\"alice\",\"bitrate\":1"))
        await stage.pass()
        await stage.pass()
        stage.change()
        await stage.pass()
        #expect(Self.text(await events.next()).contains("\"bitrate\":2"))
        for _ in 1...10 { await stage.pass() }
        #expect(Self.text(await events.next()) == ":\n\n")
        stage.change()
        await stage.pass()
        // The reason replaces a state that was not read yet.
        watchers.shareDidEnd(reason: "The share has stopped.")
        watchers.end()
        #expect(
            Self.text(await events.next()) == "event: ended\ndata: {\"reason\":\"The share has stopped.\"}\n\n")
        #expect(await events.next() == nil)
    }

    @Test("Without a stream, the state is not measured")
    func cost() async throws {
        let stage = Stage()
        let watchers = stage.watchers()
        var stream: AsyncStream<[UInt8]>? = try await watchers.add()
        while stage.time.sleeps == 0 { await Task.yield() }
        await stage.pass()
        #expect(stage.asked == 2)
        let reading = Task { [stream] in for await _ in try #require(stream) {} }
        stream = nil
        reading.cancel()
        _ = try await reading.value
        await settle()
        for _ in 1...5 { stage.time.advance(by: .seconds(1)) }
        await settle()
        #expect(stage.asked == 2)
    }
}
