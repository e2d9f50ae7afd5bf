import RTCShareContentShare
import RTCShareLocks
import RTCShareMedia
import TestSupport
import Testing

/// Shares that capture what they share.
@Suite struct CapturedShareTests {
    /// Counts how often its capture began and ended.
    private final class CountingSource: CaptureSource, BroadcastingVideoSource {
        struct Refused: Error {}

        let captureFormat = CaptureFormat(size: PixelSize(width: 64, height: 48), framesPerSecond: 10)
        let broadcaster = VideoBroadcaster()
        /// `true` for each beginning, `false` for each end.
        let calls = Locked([Bool]())
        private let refuses: Bool

        init(refuses: Bool = false) { self.refuses = refuses }

        func start() throws {
            if refuses { throw Refused() }
            calls.withLock { $0.append(true) }
        }

        func stop() { calls.withLock { $0.append(false) } }

        func wait(for wanted: [Bool]) async {
            await waitUntil { calls.withLock { $0 } == wanted }
        }
    }

    @Test(
        "A capture begins with its share, and ends when another is shared or the share is over", .timeLimit(.minutes(1))
    )
    func beginAndEnd() async throws {
        let pair = try await Pair()
        let (first, second) = (CountingSource(), CountingSource())
        try await pair.alice.contentShare.start(capturing: first)
        #expect(first.calls.withLock { $0 } == [true])
        try await pair.alice.contentShare.start(capturing: second)
        // It waits for the end of the first.
        #expect(first.calls.withLock { $0 } == [true, false] && second.calls.withLock { $0 } == [true])
        try await pair.alice.contentShare.stop()
        await second.wait(for: [true, false])
        await pair.end()
        #expect(first.calls.withLock { $0 } == [true, false])
    }

    @Test("A source that is shared again is captured again", .timeLimit(.minutes(1)))
    func again() async throws {
        let pair = try await Pair()
        let source = CountingSource()
        for _ in 0..<3 { try await pair.alice.contentShare.start(capturing: source) }
        #expect(source.calls.withLock { $0 } == [true, false, true, false, true])
        await pair.end()
        await source.wait(for: [true, false, true, false, true, false])
    }

    @Test("What can't be captured is not shared, and says why", .timeLimit(.minutes(1)))
    func refused() async throws {
        let pair = try await Pair()
        let source = CountingSource(refuses: true)
        await #expect(throws: CountingSource.Refused.self) {
            try await pair.alice.contentShare.start(capturing: source)
        }
        #expect(await !pair.alice.contentShare.isSharing)
        await source.wait(for: [false])
        await pair.end()
    }

    @Test("A source that a program captures itself is left running", .timeLimit(.minutes(1)))
    func captureApart() async throws {
        let pair = try await Pair()
        let source = CountingSource()
        try source.start()
        try await pair.alice.contentShare.start(source: source)
        try await pair.alice.contentShare.stop()
        await pair.end()
        #expect(source.calls.withLock { $0 } == [true])
    }
}
