internal import Glibc

/// The processor time of this process.
enum ProcessTime {
    /// The time of all threads, in user mode and in the kernel.
    static var total: Duration {
        var time = timespec()
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
        return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
    }
}
