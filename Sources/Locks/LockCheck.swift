#if RTCSHARE_CHECK_LOCKS
    public import Glibc
#endif

/// Counts the locks that a thread holds, in builds with `-DRTCSHARE_CHECK_LOCKS`, to prove that it holds none where it calls
/// a program's code or waits, and that the jobs of a ``ThreadExecutor`` wait for no thread. In other builds this is nothing.
public enum LockCheck {
    #if RTCSHARE_CHECK_LOCKS
        /// The place of each thread's count.
        @usableFromInline static let key: pthread_key_t = {
            var key = pthread_key_t()
            pthread_key_create(&key, nil)
            return key
        }()

        /// The place of what says whether the thread runs a job.
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

    /// The calling thread has a lock more.
    @inlinable static func didLock() {
        #if RTCSHARE_CHECK_LOCKS
            count += 1
        #endif
    }

    /// The calling thread releases a lock.
    @inlinable static func willUnlock() {
        #if RTCSHARE_CHECK_LOCKS
            count -= 1
        #endif
    }

    /// Traps in a checked build if the calling thread holds a lock while it does what `action` says.
    @inlinable
    package static func assertNoneHeld(_ action: StaticString) {
        #if RTCSHARE_CHECK_LOCKS
            precondition(count == 0, "\(action) with a lock held")
        #endif
    }

    /// Calls `body`, in which the calling thread must not wait for another one.
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
