internal import Foundation
internal import RTCShareLocks
import RTCShareTransport
internal import RTCShareWireFormat

/// The time at which a tick was drawn.
struct DrawnTick: Sendable {
    /// The time at which drawing started: no frame can show it before.
    let begun: Instant
    /// The time at which the server had confirmed it.
    let shown: Instant

    /// Draws a tick, and records the times.
    init(_ draw: () throws -> Void) rethrows {
        begun = MonotonicClock.now
        try draw()
        shown = MonotonicClock.now
    }
}

/// A change of the screen.
struct ScreenTick {
    /// The due time in seconds from the start.
    let time: Double
    let operations: [ScreenOperation]
}

/// The changes of a content, in order.
protocol TickSequence: Sendable {
    /// Returns the next change, which is not earlier than the one before; nil if there are no more.
    mutating func next() -> ScreenTick?
}

/// A script whose changes occur at a schedule's times.
struct ScheduledScript: TickSequence {
    var script: ContentScript
    /// The schedule; nil if nothing changes.
    var schedule: TickSchedule?

    mutating func next() -> ScreenTick? {
        guard let time = schedule?.next() else { return nil }
        return ScreenTick(time: time, operations: script.next())
    }
}

/// Draws a content's ticks at their times, on a thread of its own, and records the time of each.
final class ContentPlayer: Sendable {
    private struct State {
        /// The drawn ticks, by their numbers.
        var drawn: [DrawnTick]
        var isStopped = false
        var failure: (any Error)?
    }

    /// The origin of the ticks' times.
    let start: Instant
    private let state: Locked<State>
    private let hasEnded = DispatchSemaphore(value: 0)

    /// Starts to draw the ticks after the first one, which has been on the screen since before the start of the sender.
    init(
        after first: DrawnTick, ticks: some TickSequence, display: ContentDisplay, pictures: ContentDisplay.Upload?,
        through buffer: ContentDisplay.Buffer? = nil
    ) {
        start = MonotonicClock.now
        state = Locked(State(drawn: [first]))
        let thread = Thread {
            self.play(ticks) { try display.draw($0, pictures: pictures, through: buffer) }
            self.hasEnded.signal()
        }
        thread.name = "content"
        thread.start()
    }

    private func play(_ ticks: some TickSequence, _ draw: ([ScreenOperation]) throws -> Void) {
        var ticks = ticks
        while !state.withLock({ $0.isStopped }), let next = ticks.next() {
            let time = start.advanced(by: .nanoseconds(Int64(next.time * 1e9)))
            // A stop is checked between short sleeps.
            while case let rest = time - MonotonicClock.now, rest > .zero, !state.withLock({ $0.isStopped }) {
                usleep(useconds_t(min(rest.seconds, 0.05) * 1e6))
            }
            guard !state.withLock({ $0.isStopped }) else { return }
            do {
                let tick = try DrawnTick { try draw(next.operations) }
                state.withLock { $0.drawn.append(tick) }
            } catch {
                return state.withLock { $0.failure = error }
            }
        }
    }

    /// Stops drawing, and returns the times of all ticks.
    func stop() throws -> [DrawnTick] {
        state.withLock { $0.isStopped = true }
        hasEnded.wait()
        if let failure = state.withLock({ $0.failure }) { throw failure }
        return state.withLock { $0.drawn }
    }
}
