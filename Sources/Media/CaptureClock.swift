internal import Glibc

/// The clock that frames and sound are stamped by.
public enum CaptureClock {
    /// The time since the start of the monotonic clock (`CLOCK_MONOTONIC`), which is shared by all processes of a machine.
    public static var now: Duration {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
    }
}
