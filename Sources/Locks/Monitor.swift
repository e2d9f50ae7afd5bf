internal import Glibc

/// A value that is guarded by a lock and can be waited for.
///
/// Deadlines are on the monotonic clock, so that setting the machine's time moves none of them.
package final class Monitor<State>: @unchecked Sendable {
    // Sendable: `state` is only touched with `mutex` held, and both C objects are made for use by many threads. They
    // lie in memory of their own because they must not move.
    private let mutex: UnsafeMutablePointer<pthread_mutex_t>
    private let condition: UnsafeMutablePointer<pthread_cond_t>
    private var state: State

    /// What a waiter found.
    package enum Found<Result> {
        case done(Result)
        /// Look again when told to or at this time; with nil, only when told to.
        case wait(until: Duration?)
    }

    package init(_ state: sending State) {
        self.state = state
        mutex = .allocate(capacity: 1)
        mutex.initialize(to: pthread_mutex_t())
        pthread_mutex_init(mutex, nil)
        condition = .allocate(capacity: 1)
        condition.initialize(to: pthread_cond_t())
        var attributes = pthread_condattr_t()
        pthread_condattr_init(&attributes)
        pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC)
        pthread_cond_init(condition, &attributes)
        pthread_condattr_destroy(&attributes)
    }

    deinit {
        pthread_cond_destroy(condition)
        pthread_mutex_destroy(mutex)
        condition.deallocate()
        mutex.deallocate()
    }

    /// Has `body` look at the value or change it, and tells the waiters.
    package func update<Result>(_ body: (inout State) -> Result) -> Result {
        pthread_mutex_lock(mutex)
        defer {
            pthread_mutex_unlock(mutex)
            pthread_cond_broadcast(condition)
        }
        return body(&state)
    }

    /// Has `body` look at the value without telling anybody.
    package func read<Result>(_ body: (State) -> Result) -> Result {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        return body(state)
    }

    /// Waits until `body` finds what it looks for.
    package func wait<Result>(_ body: (inout State) -> Found<Result>) -> Result {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        while true {
            switch body(&state) {
            case .done(let result):
                return result
            case .wait(nil):
                pthread_cond_wait(condition, mutex)
            case .wait(let deadline?):
                let (seconds, attoseconds) = deadline.components
                var time = timespec(tv_sec: Int(seconds), tv_nsec: Int(attoseconds / 1_000_000_000))
                pthread_cond_timedwait(condition, mutex, &time)
            }
        }
    }
}
