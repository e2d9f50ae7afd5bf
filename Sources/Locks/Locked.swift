public import Glibc

/// A value that one thread at a time has.
///
/// As `Mutex` of the standard library, which on Linux is a futex of its own: the thread sanitizer doesn't know it, and so
/// takes all that it protects for unprotected. This is a lock of POSIX.
public struct Locked<Value: ~Copyable>: ~Copyable, @unchecked Sendable {
    // Sendable: the value is handed over by whoever made it, and is then touched with the lock held alone.
    @usableFromInline let lock: UnsafeMutablePointer<pthread_mutex_t>
    @usableFromInline let value: UnsafeMutablePointer<Value>

    /// A value that is handed over: nobody else has it from now on.
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

    /// Calls `body` with the value as soon as nobody else has it. Not from within another `body` of the same.
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
