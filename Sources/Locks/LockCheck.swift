#if RTCSHARE_CHECK_LOCKS
    public import Glibc
#endif

/// Counts the locks that a thread holds, in builds with `-DRTCSHARE_CHECK_LOCKS`, to prove that it holds none where it calls
/// a program's code or waits. In other builds this is nothing.
public enum LockCheck {
    #if RTCSHARE_CHECK_LOCKS
        /// The place of each thread's count.
        @usableFromInline static let key: pthread_key_t = {
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
}
