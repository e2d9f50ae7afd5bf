/// Makes timestamps of the monotonic clock out of those of a source, whatever clock the source has. They always grow.
///
/// A source that stamps from zero, one that is replaced, or a file that starts over can say any time. The line then follows
/// the time that really passed. A picture that is sent again gets the time of its sending.
struct TimestampLine {
    /// Two timestamps differ at least by this: they must differ in RTP's 90 kHz too.
    static let smallestStep = Duration.milliseconds(1)
    /// A source that differs by more from the time that passed has jumped.
    static let largestDeviation = Duration.seconds(2)

    private var offset = Duration.zero
    private var last: (timestamp: Duration, now: Duration)?

    /// The furthest time that is reckoned with, a hundred years: sums of such times do not overflow.
    private static let furthest = Duration.seconds(3_155_760_000)

    /// The time of a new frame.
    mutating func next(timestamp: Duration, now: Duration) -> Duration {
        let timestamp = min(max(timestamp, .zero - Self.furthest), Self.furthest)
        let expected = last.map { $0.timestamp + (now - $0.now) } ?? now
        let deviation = timestamp + offset - expected
        if deviation > Self.largestDeviation || deviation < .zero - Self.largestDeviation {
            offset = expected - timestamp
        }
        return emit(timestamp + offset, now: now)
    }

    /// The time of a picture that is sent again.
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
