internal import Foundation
internal import NetworkRuntime
internal import Synchronization
internal import WireFormat

/// Draws a content's ticks at their times, on a thread of its own, and notes when each stood on the screen.
final class ContentPlayer: Sendable {
    private struct State {
        /// When the server had confirmed a tick, by its number.
        var drawn: [Instant]
        var isStopped = false
        var failure: (any Error)?
    }

    private let state: Mutex<State>
    private let hasEnded = DispatchSemaphore(value: 0)

    /// Draws from now on. The first tick is on the screen already.
    init(
        script: sending ContentScript, schedule: TickSchedule?, display: ContentDisplay,
        pictures: ContentDisplay.Upload?
    ) {
        let now = MonotonicClock.now
        state = Mutex(State(drawn: [now]))
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
                try display.draw(operations, pictures: pictures)
            } catch {
                return state.withLock { $0.failure = error }
            }
            let now = MonotonicClock.now
            state.withLock { $0.drawn.append(now) }
        }
    }

    /// Draws nothing more, and gives when each tick stood on the screen.
    func stop() throws -> [Instant] {
        state.withLock { $0.isStopped = true }
        hasEnded.wait()
        if let failure = state.withLock({ $0.failure }) { throw failure }
        return state.withLock { $0.drawn }
    }
}
