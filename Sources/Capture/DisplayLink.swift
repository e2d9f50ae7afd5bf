import RTCShareMedia
import Synchronization

/// Calls a closure at a steady rate, on a thread of its own: the clock for drawing frames.
///
/// A tick that is due while the closure still runs is skipped and counted; the ticks after it keep their times.
public final class DisplayLink: Sendable {
    /// One call.
    public struct Tick: Sendable, Hashable {
        /// The number, counted from 0 at each start, including skipped ticks.
        public let number: Int
        /// The time at which it was due, since the start of the monotonic clock (`CLOCK_MONOTONIC`).
        public let dueTime: Duration
    }

    /// The number of ticks per second.
    package let framesPerSecond: Double
    private let action: @Sendable (Tick) -> Void
    private let willBegin: @Sendable () -> Void
    private let didEnd: @Sendable () -> Void
    private let skipped = Skipped()
    private let thread = CaptureThread()

    private final class Skipped: Sendable {
        let count = Atomic(0)
    }

    /// Creates a link that, when it is started, calls `action` `framesPerSecond` times per second: a rate in
    /// `CaptureFormat.frameRates`.
    package convenience init(framesPerSecond: Double, action: @escaping @Sendable (Tick) -> Void) throws(CaptureError) {
        try self.init(framesPerSecond: framesPerSecond, willBegin: {}, didEnd: {}, action: action)
    }

    /// Creates a link. `willBegin` and `didEnd` are called on the thread, first and last in each run.
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

    /// The number of skipped ticks since the link was created.
    package var ticksSkipped: Int { skipped.count.load(ordering: .relaxed) }

    /// Starts with tick 0. Does nothing if the link is running.
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

    /// Stops the link and returns when the closure has returned, unless it is called by the closure.
    package func stop() { thread.stop() }
}
