internal import Glibc
internal import NIOCore
package import RTCShareWireFormat

/// The clock that all instants are read from, `CLOCK_MONOTONIC`: the event loop's own, and that of captured frames.
package enum MonotonicClock {
    /// This instant.
    package static var now: Instant {
        Instant(nanoseconds: Int64(clamping: NIODeadline.now().uptimeNanoseconds))
    }

    /// What the wallclock showed when the monotonic clock stood at zero, since 1 January 1970.
    package static var unixTimeAtZero: Duration {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec) - .nanoseconds(now.nanoseconds)
    }
}
