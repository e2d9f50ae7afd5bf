import Dispatch
import Foundation
import RTCShareLocks
import RTCShareMedia
import TestSupport
import Testing

@testable import RTCShareCapture

/// Sources without demand.
@Suite(.timeLimit(.minutes(1)))
struct RestingTests {
    @Test("A resting thread continues only when it is woken and has a reason")
    func wake() throws {
        let signal = try StopSignal()
        let state = RestState()
        let rested = DispatchSemaphore(value: 0)
        Thread.detachNewThread {
            signal.rest { state.look() }
            rested.signal()
        }
        while state.looks == 0 { usleep(1000) }
        signal.wake()
        while state.looks < 2 { usleep(1000) }
        state.want()
        signal.wake()
        rested.wait()
        #expect(state.looks == 3)
    }

    @Test("The end of a source ends its rest, and so does its timeout")
    func ends() throws {
        let signal = try StopSignal()
        signal.rest(for: .milliseconds(5)) { true }
        let rested = DispatchSemaphore(value: 0)
        Thread.detachNewThread {
            signal.rest { true }
            rested.signal()
        }
        signal.raise()
        rested.wait()
        #expect(signal.isRaised)
    }

    @Test("A resting pattern or tone continues with the present time for a new sink")
    func sources() async throws {
        let pattern = try TestPatternSource(size: PixelSize(width: 128, height: 96))
        let tone = try ToneSource()
        try pattern.start()
        try tone.start()
        for _ in 0..<3 {
            let sink = Counter()
            pattern.add(sink)
            tone.add(sink)
            await sink.wait()
            pattern.remove(sink)
            tone.remove(sink)
        }
        pattern.stop()
        tone.stop()
    }

    @Test("A pattern of one frame in ten seconds delivers one at once to the first sink and to each later one")
    func slowPattern() throws {
        let pattern = try TestPatternSource(size: PixelSize(width: 128, height: 96), framesPerSecond: 0.1)
        try pattern.start()
        defer { pattern.stop() }
        let begin = monotonicNow()
        for _ in 0..<3 {
            let sink = Collector()
            pattern.add(sink)
            #expect(sink.wait { !$0.frames.isEmpty })
            #expect(sink.frames.first?.damage == nil)
        }
        #expect(monotonicNow() - begin < .seconds(8))
    }

    private final class RestState: Sendable {
        private let state = Locked((isWanted: false, looks: 0))

        var looks: Int { state.withLock { $0.looks } }

        func want() { state.withLock { $0.isWanted = true } }

        /// Returns whether there is no demand.
        func look() -> Bool {
            state.withLock { state in
                state.looks += 1
                return !state.isWanted
            }
        }
    }

    private final class Counter: VideoSink, AudioSink {
        private let counts = Locked((pictures: 0, blocks: 0))

        func sourceDidEnd(error: (any Error)?) {}
        func muteDidChange(_ isMuted: Bool) {}
        func receive(_ frame: VideoFrame) { counts.withLock { $0.pictures += 1 } }
        func receive(_ frame: AudioFrame) { counts.withLock { $0.blocks += 1 } }

        /// Returns when both have come.
        func wait() async {
            await waitUntil { counts.withLock { $0.pictures >= 2 && $0.blocks >= 2 } }
        }
    }
}
