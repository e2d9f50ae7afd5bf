internal import Glibc

/// A value that a lock guards and that threads can wait for, such as the input queue of a thread.
///
/// Deadlines are on the monotonic clock, so that a change of the system time does not affect them.
package final class Mailbox<State>: @unchecked Sendable {
    // Sendable: `state` is only accessed with `mutex` held, and both C objects are made for use by many threads. They
    // are allocated separately because they must not move.
    private let mutex: UnsafeMutablePointer<pthread_mutex_t>
    private let condition: UnsafeMutablePointer<pthread_cond_t>
    private var state: State

    /// The result of a check of the mailbox's value.
    package enum Found<Result> {
        case done(Result)
        /// Check again after the next ``Mailbox/post(_:)`` or at this time; with nil, only after the next post.
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

    /// Calls `body` with the value, which it may change, and wakes the threads that wait in ``take(_:)``.
    package func post<Result>(_ body: (inout State) -> Result) -> Result {
        lock()
        defer {
            unlock()
            pthread_cond_broadcast(condition)
        }
        return body(&state)
    }

    /// Calls `body` with the value without waking any thread.
    package func read<Result>(_ body: (State) -> Result) -> Result {
        lock()
        defer { unlock() }
        return body(state)
    }

    /// Blocks the calling thread until `body` finds a result. Don't call it on a thread of Swift's or NIO's, in a job
    /// of a ``ThreadExecutor`` or with a lock held.
    package func take<Result>(_ body: (inout State) -> Found<Result>) -> Result {
        LockCheck.assertMayWait()
        lock()
        defer { unlock() }
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

    private func lock() {
        pthread_mutex_lock(mutex)
        LockCheck.didLock()
    }

    private func unlock() {
        LockCheck.willUnlock()
        pthread_mutex_unlock(mutex)
    }
}
