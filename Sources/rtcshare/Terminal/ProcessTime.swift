internal import Glibc

/// The processor time that this process has taken.
enum ProcessTime {
    /// In all of its threads, in user mode and in the kernel's.
    static var total: Duration {
        var time = timespec()
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
        return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
    }
}
