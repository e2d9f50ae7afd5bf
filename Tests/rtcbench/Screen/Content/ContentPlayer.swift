internal import Foundation
internal import RTCShareLocks
import RTCShareTransport
internal import RTCShareWireFormat

/// When a tick came to the screen.
struct DrawnTick: Sendable {
    /// When it began to be drawn: no picture can show it before.
    let begun: Instant
    /// When the server had confirmed it.
    let shown: Instant

    /// Has a tick drawn, and notes the time around it.
    init(_ draw: () throws -> Void) rethrows {
        begun = MonotonicClock.now
        try draw()
        shown = MonotonicClock.now
    }
}

/// A change of what is on the screen.
struct ScreenTick {
    /// When it is due, in seconds from the start.
    let time: Double
    let operations: [ScreenOperation]
}

/// What a content draws, one change after another.
protocol TickSequence: Sendable {
    /// The next change, whose time is no earlier than that of the one before; nil where nothing changes any more.
    mutating func next() -> ScreenTick?
}

/// A script whose changes come at a schedule's times.
struct ScheduledScript: TickSequence {
    var script: ContentScript
    /// Nil where nothing changes.
    var schedule: TickSchedule?

    mutating func next() -> ScreenTick? {
        guard let time = schedule?.next() else { return nil }
        return ScreenTick(time: time, operations: script.next())
    }
}

/// Draws a content's ticks at their times, on a thread of its own, and notes when each came to the screen.
final class ContentPlayer: Sendable {
    private struct State {
        /// By the tick's number.
        var drawn: [DrawnTick]
        var isStopped = false
        var failure: (any Error)?
    }

    /// What the ticks' times count from.
    let start: Instant
    private let state: Locked<State>
    private let hasEnded = DispatchSemaphore(value: 0)

    /// Draws from now on, what comes after the first tick: that is on the screen since before the sender was started.
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
            // A stop is heard between naps.
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

    /// Draws nothing more, and gives when each tick came to the screen.
    func stop() throws -> [DrawnTick] {
        state.withLock { $0.isStopped = true }
        hasEnded.wait()
        if let failure = state.withLock({ $0.failure }) { throw failure }
        return state.withLock { $0.drawn }
    }
}
