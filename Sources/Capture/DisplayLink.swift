import RTCShareMedia
import Synchronization

/// Calls a closure a number of times a second, on a thread of its own: the clock of whoever draws frames.
///
/// A tick that falls due while the closure still runs is left out and counted; those after it keep their times.
public final class DisplayLink: Sendable {
    /// One call.
    public struct Tick: Sendable, Hashable {
        /// Counted from 0 at each start, with those that were left out.
        public let number: Int
        /// When it was due, since the start of the monotonic clock (`CLOCK_MONOTONIC`).
        public let dueTime: Duration
    }

    /// Ticks a second.
    package let framesPerSecond: Double
    private let action: @Sendable (Tick) -> Void
    private let willBegin: @Sendable () -> Void
    private let didEnd: @Sendable () -> Void
    private let skipped = Skipped()
    private let thread = CaptureThread()

    private final class Skipped: Sendable {
        let count = Atomic(0)
    }

    /// A link that calls `action`, once it is started, `framesPerSecond` times a second: one of
    /// `CaptureFormat.frameRates`.
    package convenience init(framesPerSecond: Double, action: @escaping @Sendable (Tick) -> Void) throws(CaptureError) {
        try self.init(framesPerSecond: framesPerSecond, willBegin: {}, didEnd: {}, action: action)
    }

    /// `willBegin` and `didEnd` are called on the thread, first and last of each run.
    init(
        framesPerSecond: Double, willBegin: @escaping @Sendable () -> Void, didEnd: @escaping @Sendable () -> Void,
        action: @escaping @Sendable (Tick) -> Void
    ) throws(CaptureError) {
        try CaptureFormat.check(framesPerSecond: framesPerSecond)
        self.framesPerSecond = framesPerSecond
        self.action = action
        self.willBegin = willBegin
        self.didEnd = didEnd
    }

    /// Ticks that were left out since the link was made.
    package var ticksSkipped: Int { skipped.count.load(ordering: .relaxed) }

    /// Begins with tick 0; where it is running, does nothing.
    package func start() throws(CaptureError) {
        let (rate, skipped, action, willBegin, didEnd) = (framesPerSecond, skipped, action, willBegin, didEnd)
        try thread.start { signal in
            willBegin()
            let schedule = TickSchedule(start: monotonicNow(), framesPerSecond: rate)
            var number = 0
            while signal.wait(until: schedule.deadline(number)) {
                action(Tick(number: number, dueTime: schedule.deadline(number)))
                let next = schedule.tick(after: number, dueFrom: monotonicNow())
                skipped.count.add(next - number - 1, ordering: .relaxed)
                number = next
            }
            signal.finish()
            didEnd()
        }
    }

    /// Ends it, and returns when the closure runs no more, unless it is the closure that asks.
    package func stop() { thread.stop() }
}
