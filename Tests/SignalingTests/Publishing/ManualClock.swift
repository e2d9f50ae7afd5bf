import RTCShareLocks

/// A clock that only a test advances.
final class ManualClock: Clock, Sendable {
    struct Instant: InstantProtocol {
        var offset = Duration.zero

        func advanced(by duration: Duration) -> Instant { Instant(offset: offset + duration) }
        func duration(to other: Instant) -> Duration { other.offset - offset }
        static func < (a: Instant, b: Instant) -> Bool { a.offset < b.offset }
    }

    private struct State {
        var now = Instant()
        var sleepers: [Int: (deadline: Instant, continuation: CheckedContinuation<Void, any Error>)] = [:]
        var count = 0
    }

    private let state = Locked(State())

    var now: Instant { state.withLock { $0.now } }
    var minimumResolution: Duration { .nanoseconds(1) }

    func sleep(until deadline: Instant, tolerance: Duration?) async throws {
        let id = state.withLock { state in
            state.count += 1
            return state.count
        }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
                state.withLock { state in
                    if Task.isCancelled {
                        continuation.resume(throwing: CancellationError())
                    } else {
                        state.sleepers[id] = (deadline, continuation)
                    }
                }
            }
        } onCancel: {
            let sleeper = state.withLock { $0.sleepers.removeValue(forKey: id) }
            sleeper?.continuation.resume(throwing: CancellationError())
        }
    }

    /// The number of sleeping tasks.
    var sleeperCount: Int { state.withLock { $0.sleepers.count } }

    /// Advances to the time at which the first sleeping task wakes, and returns the duration until then.
    @discardableResult
    func wakeNext() -> Duration {
        let woken: (pause: Duration, continuation: CheckedContinuation<Void, any Error>)? = state.withLock { state in
            guard let (id, first) = state.sleepers.min(by: { $0.value.deadline < $1.value.deadline }) else {
                return nil
            }
            state.sleepers[id] = nil
            let pause = max(.zero, state.now.duration(to: first.deadline))
            state.now = max(state.now, first.deadline)
            return (pause, first.continuation)
        }
        woken?.continuation.resume()
        return woken?.pause ?? .zero
    }
}
