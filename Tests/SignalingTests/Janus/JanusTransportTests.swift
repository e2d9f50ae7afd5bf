import NIOPosix
import RTCShareLocks
import TestSupport
import Testing

@testable import RTCShareSignaling

/// Connections to Janus servers that are silent, or send too much.
@Suite(.timeLimit(.minutes(1))) struct JanusTransportTests {
    @Test("A WebSocket of a silent server times out, and is closed at once when its caller is cancelled")
    func silent() async throws {
        let server = try await SilentServer()
        let url = try #require(WebAddress("http://127.0.0.1:\(await server.port)/"))
        await #expect(
            throws: HTTPClientError.unreachable("ws://127.0.0.1:\(await server.port)", "it does not answer")
        ) { try await JanusWebSocket.open(url, on: .singleton, patience: .milliseconds(50)) }
        let opening = Task { try await JanusWebSocket.open(url, on: .singleton) }
        await waitUntil { await server.count == 2 }
        opening.cancel()
        await #expect(throws: CancellationError.self) { _ = try await opening.value }
        await server.end()
    }

    @Test("One answer to a ping is under way at a time, and the newest ping is answered next")
    func pings() {
        var pongs = PongQueue<Int>()
        #expect(pongs.take(0) == 0)
        for ping in 1...1000 { #expect(pongs.take(ping) == nil) }
        #expect(pongs.sent() == 1000)
        #expect(pongs.take(1001) == nil)
        #expect(pongs.sent() == 1001 && pongs.sent() == nil)
        #expect(pongs.take(1002) == 1002)
    }

    @Test("Polls that are answered at once pause, except for a few in a row with events")
    func pace() {
        var pace = PollPace()
        #expect(pace.pause(after: .nothing, taking: .seconds(30)) == nil)
        #expect(pace.pause(after: .failure, taking: .seconds(30)) == .seconds(1))
        #expect(pace.pause(after: .nothing, taking: .milliseconds(1)) == .seconds(1))
        #expect(pace.pause(after: .nothing, taking: .seconds(1)) == nil)
        let pauses = (0..<12).map { _ in pace.pause(after: .news, taking: .milliseconds(1)) }
        #expect(pauses == Array(repeating: nil, count: 10) + [.seconds(1), .seconds(1)])
        #expect(pace.pause(after: .news, taking: .seconds(2)) == nil)
        #expect(pace.pause(after: .news, taking: .zero) == nil)
    }

    @Test("Work that does not end in time is cancelled")
    func timeLimit() async {
        let waiting = Locked<CheckedContinuation<Void, Never>?>(nil)
        let (ended, continuation) = AsyncStream.makeStream(of: Bool.self)
        await withTimeLimit(.milliseconds(1)) {
            await withCheckedContinuation { resumption in waiting.withLock { $0 = resumption } }
            continuation.yield(Task.isCancelled)
        }
        await waitUntil { waiting.withLock { $0 != nil } }
        waiting.withLock { $0 }?.resume()
        for await wasCancelled in ended.prefix(1) { #expect(wasCancelled) }
        await withTimeLimit(.seconds(3600)) {}
    }
}
