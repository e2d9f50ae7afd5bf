/// Converts a source's timestamps, whatever its clock is, into increasing timestamps of the monotonic clock.
///
/// A source that starts at zero, another source, or a file that restarts can have any timestamp. The result then
/// follows the elapsed time. A repeated frame gets the time of its sending.
struct TimestampLine {
    /// The minimum difference of two timestamps, which must also differ in RTP's 90 kHz.
    static let smallestStep = Duration.milliseconds(1)
    /// The maximum deviation from the elapsed time. A source with a larger one has jumped.
    static let largestDeviation = Duration.seconds(2)

    private var offset = Duration.zero
    private var last: (timestamp: Duration, now: Duration)?

    /// The limit of timestamps, a hundred years, so that sums do not overflow.
    private static let furthest = Duration.seconds(3_155_760_000)

    /// Returns the timestamp of a new frame.
    mutating func next(timestamp: Duration, now: Duration) -> Duration {
        let timestamp = min(max(timestamp, .zero - Self.furthest), Self.furthest)
        let expected = last.map { $0.timestamp + (now - $0.now) } ?? now
        let deviation = timestamp + offset - expected
        if deviation > Self.largestDeviation || deviation < .zero - Self.largestDeviation {
            offset = expected - timestamp
        }
        return emit(timestamp + offset, now: now)
    }

    /// Returns the timestamp of a repeated frame.
    mutating func again(now: Duration) -> Duration {
        guard let last else { return emit(now, now: now) }
        return emit(last.timestamp + (now - last.now), now: now)
    }

    private mutating func emit(_ wanted: Duration, now: Duration) -> Duration {
        let timestamp = last.map { max(wanted, $0.timestamp + Self.smallestStep) } ?? wanted
        last = (timestamp, now)
        return timestamp
    }
}
