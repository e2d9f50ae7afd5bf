internal import Foundation
internal import RTCShareLocks
internal import RTCShareNetworkRuntime
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

/// Draws a content's ticks at their times, on a thread of its own, and notes when each came to the screen.
final class ContentPlayer: Sendable {
    private struct State {
        /// By the tick's number.
        var drawn: [DrawnTick]
        var isStopped = false
        var failure: (any Error)?
    }

    private let state: Locked<State>
    private let hasEnded = DispatchSemaphore(value: 0)

    /// Draws from now on, what comes after the first tick: that is on the screen since before the sender was started.
    init(
        after first: DrawnTick, script: sending ContentScript, schedule: TickSchedule?, display: ContentDisplay,
        pictures: ContentDisplay.Upload?
    ) {
        let now = MonotonicClock.now
        state = Locked(State(drawn: [first]))
        let thread = Thread { [script, schedule] in
            var script = script
            if var schedule {
                self.play(from: now, &script, &schedule, display, pictures)
            }
            self.hasEnded.signal()
        }
        thread.name = "content"
        thread.start()
    }

    private func play(
        from start: Instant, _ script: inout ContentScript, _ schedule: inout TickSchedule,
        _ display: ContentDisplay, _ pictures: ContentDisplay.Upload?
    ) {
        while !state.withLock({ $0.isStopped }) {
            let time = start.advanced(by: .nanoseconds(Int64(schedule.next() * 1e9)))
            let operations = script.next()
            // A stop is heard between naps.
            while case let rest = time - MonotonicClock.now, rest > .zero, !state.withLock({ $0.isStopped }) {
                usleep(useconds_t(min(rest.seconds, 0.05) * 1e6))
            }
            guard !state.withLock({ $0.isStopped }) else { return }
            do {
                let tick = try DrawnTick { try display.draw(operations, pictures: pictures) }
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
