public import Glibc

/// A value that only one thread can access at a time.
///
/// It replaces `Mutex` of the standard library. On Linux, `Mutex` is a futex that the thread sanitizer does not know,
/// so that the sanitizer takes all protected values for unprotected. This is a POSIX lock.
public struct Locked<Value: ~Copyable>: ~Copyable, @unchecked Sendable {
    // Sendable: the initializer takes ownership of the value, and only the holder of the lock accesses it.
    @usableFromInline let lock: UnsafeMutablePointer<pthread_mutex_t>
    @usableFromInline let value: UnsafeMutablePointer<Value>

    /// Creates a lock that takes ownership of `value`.
    public init(_ value: consuming sending Value) {
        lock = .allocate(capacity: 1)
        lock.initialize(to: pthread_mutex_t())
        pthread_mutex_init(lock, nil)
        self.value = .allocate(capacity: 1)
        self.value.initialize(to: value)
    }

    deinit {
        value.deinitialize(count: 1)
        value.deallocate()
        pthread_mutex_destroy(lock)
        lock.deallocate()
    }

    /// Calls `body` with the value as soon as no other thread accesses it. `body` must not call this method of the same
    /// lock.
    @inlinable
    public borrowing func withLock<Result: ~Copyable, Failure: Error>(
        _ body: (inout sending Value) throws(Failure) -> sending Result
    ) throws(Failure) -> sending Result {
        pthread_mutex_lock(lock)
        LockCheck.didLock()
        defer {
            LockCheck.willUnlock()
            pthread_mutex_unlock(lock)
        }
        return try body(&value.pointee)
    }
}
