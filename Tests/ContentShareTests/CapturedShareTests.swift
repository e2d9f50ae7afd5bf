import RTCShareContentShare
import RTCShareLocks
import RTCShareMedia
import TestSupport
import Testing

/// Shares that start and stop the capture of their source.
@Suite struct CapturedShareTests {
    /// A source that records the starts and stops of its capture.
    private final class CountingSource: CaptureSource, BroadcastingVideoSource {
        struct Refused: Error {}

        let captureFormat = CaptureFormat(size: PixelSize(width: 64, height: 48), framesPerSecond: 10)
        let broadcaster = VideoBroadcaster()
        /// The calls so far: `true` for a start, `false` for a stop.
        let calls = Locked([Bool]())
        private let refuses: Bool
        /// The gate at which a stop waits.
        private let gate: Gate?

        init(refuses: Bool = false, stopsBehind gate: Gate? = nil) { (self.refuses, self.gate) = (refuses, gate) }

        func start() throws {
            if refuses { throw Refused() }
            calls.withLock { $0.append(true) }
        }

        func stop() {
            gate?.pass()
            calls.withLock { $0.append(false) }
        }

        func wait(for wanted: [Bool]) async {
            await waitUntil { calls.withLock { $0 } == wanted }
        }
    }

    @Test(
        "A capture starts with its share, and ends with it or when another source is shared", .timeLimit(.minutes(1))
    )
    func beginAndEnd() async throws {
        let pair = try await Pair()
        let (first, second) = (CountingSource(), CountingSource())
        try await pair.alice.contentShare.start(capturing: first)
        #expect(first.calls.withLock { $0 } == [true])
        try await pair.alice.contentShare.start(capturing: second)
        // The second capture waits for the end of the first.
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

    @Test("A capture that waits for its turn does not start after its share was stopped", .timeLimit(.minutes(1)))
    func stoppedBeforeItsTurn() async throws {
        let pair = try await Pair()
        let gate = Gate()
        let (first, second) = (CountingSource(stopsBehind: gate), CountingSource())
        let share = pair.alice.contentShare
        try await share.start(capturing: first)
        try await share.stop()
        async let start: Void = share.start(capturing: second)
        await waitUntil { await share.isSharing }
        try await share.stop()
        gate.open()
        try await start
        #expect(first.calls.withLock { $0 } == [true, false] && second.calls.withLock { $0 }.isEmpty)
        await pair.end()
    }

    /// An observer that stops a share as soon as one source replaces another.
    private final class Stopper: ContentShareObserver {
        private let share: ContentShareController

        init(_ share: ContentShareController) { self.share = share }

        func contentShareDidStop(status: ContentShareStatus) {
            if status == .replaced { #expect(throws: Never.self) { try share.stop() } }
        }
    }

    @Test("An observer can stop a share while it is notified of the start", .timeLimit(.minutes(1)))
    func stoppedByObserver() async throws {
        let pair = try await Pair()
        let share = pair.alice.contentShare
        let observer = Stopper(share)
        share.add(observer: observer)
        // Without a frame, the first share is replaced before its start is reported.
        try await share.start(source: CountingSource())
        try await share.start(source: CountingSource())
        #expect(await !share.isSharing)
        #expect(await share.videoTrack == nil)
        await pair.end()
    }

    @Test("A reader of events gets what has happened since the last start", .timeLimit(.minutes(1)))
    func events() async throws {
        let pair = try await Pair()
        let share = pair.alice.contentShare
        var early = await share.events.makeAsyncIterator()
        for _ in 0..<2 { try await share.start(source: CountingSource()) }
        #expect(await Self.text(early.next(isolation: nil)).hasPrefix("stopped(replaced"))
        let source = CountingSource()
        try await share.start(source: source)
        await waitUntil { source.broadcaster.hasSinks }
        source.broadcaster.end(error: nil)
        #expect(await Self.text(early.next(isolation: nil)).hasPrefix("stopped(replaced"))
        #expect(await Self.text(early.next(isolation: nil)) == "sourceEnded(nil)")
        try await share.stop()
        var late = await share.events.makeAsyncIterator()
        await pair.end()
        // The end of a share that is stopped already is not an event.
        var last = await share.events.makeAsyncIterator()
        for expected in ["sourceEnded(nil)", "stopped(stopped)", "nil"] {
            #expect(await Self.text(late.next(isolation: nil)) == expected)
            #expect(await Self.text(last.next(isolation: nil)) == expected)
        }
    }

    private static func text(_ event: ContentShareEvent?) -> String { event.map { "\($0)" } ?? "nil" }

    @Test("A source that can't be captured is not shared, and the error has the reason", .timeLimit(.minutes(1)))
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

    @Test("A share does not stop a capture that the program started", .timeLimit(.minutes(1)))
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
