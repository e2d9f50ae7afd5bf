#if RTCSHARE_CHECK_LOCKS
    public import Glibc
#endif

/// Counts the locks that a thread holds, in builds with `-DRTCSHARE_CHECK_LOCKS`. The counts prove that a thread holds
/// no lock when it calls a program's code or waits, and that no job of a ``ThreadExecutor`` waits for a thread. In
/// other builds the checks do nothing.
public enum LockCheck {
    #if RTCSHARE_CHECK_LOCKS
        /// The key of the thread-local count of locks.
        @usableFromInline static let key: pthread_key_t = {
            var key = pthread_key_t()
            pthread_key_create(&key, nil)
            return key
        }()

        /// The key of the thread-local mark of a running job.
        private static let jobKey: pthread_key_t = {
            var key = pthread_key_t()
            pthread_key_create(&key, nil)
            return key
        }()

        @usableFromInline static var count: Int {
            get { Int(bitPattern: pthread_getspecific(key)) }
            set { pthread_setspecific(key, UnsafeRawPointer(bitPattern: newValue)) }
        }
    #endif

    /// Counts a lock that the calling thread has locked.
    @inlinable static func didLock() {
        #if RTCSHARE_CHECK_LOCKS
            count += 1
        #endif
    }

    /// Uncounts a lock that the calling thread is about to unlock.
    @inlinable static func willUnlock() {
        #if RTCSHARE_CHECK_LOCKS
            count -= 1
        #endif
    }

    /// Traps in a checked build if the calling thread holds a lock. `action` names the action for which it must hold
    /// none.
    @inlinable
    package static func assertNoneHeld(_ action: StaticString) {
        #if RTCSHARE_CHECK_LOCKS
            precondition(count == 0, "\(action) with a lock held")
        #endif
    }

    /// Calls `body`, in which the calling thread must not wait for another thread.
    static func whileNotWaiting(_ body: () -> Void) {
        #if RTCSHARE_CHECK_LOCKS
            pthread_setspecific(jobKey, UnsafeRawPointer(bitPattern: 1))
            defer { pthread_setspecific(jobKey, nil) }
        #endif
        body()
    }

    /// Traps in a checked build if the calling thread holds a lock or runs a job while it waits for another thread.
    static func assertMayWait() {
        assertNoneHeld("a thread waits")
        #if RTCSHARE_CHECK_LOCKS
            precondition(pthread_getspecific(jobKey) == nil, "a job of a thread that many share waits")
        #endif
    }
}
