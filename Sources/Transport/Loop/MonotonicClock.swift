internal import Glibc
internal import NIOCore
package import RTCShareWireFormat

/// The clock of all instants, `CLOCK_MONOTONIC`: the same as the event loop's, and that of captured frames. It stands
/// still while the machine is suspended; ``ConnectionLoop`` tells connections how long that was.
package enum MonotonicClock {
    /// The current time.
    package static var now: Instant {
        Instant(nanoseconds: Int64(clamping: NIODeadline.now().uptimeNanoseconds))
    }

    /// The time that this machine was suspended since its start, in which the clock stood still.
    static var suspendedTime: Duration {
        var time = timespec()
        clock_gettime(CLOCK_BOOTTIME, &time)
        return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec) - .nanoseconds(now.nanoseconds)
    }

    /// The time of the wall clock since 1 January 1970 when the monotonic clock read zero.
    package static var unixTimeAtZero: Duration {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec) - .nanoseconds(now.nanoseconds)
    }
}
