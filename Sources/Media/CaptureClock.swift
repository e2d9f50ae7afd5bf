internal import Glibc

/// The clock of the timestamps of frames and audio.
public enum CaptureClock {
    /// The time since the start of the monotonic clock (`CLOCK_MONOTONIC`), which all processes of a machine share.
    public static var now: Duration {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
    }
}
