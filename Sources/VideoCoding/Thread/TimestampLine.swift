/// Makes timestamps that always grow out of those of a source, whatever it does.
///
/// A source that is replaced, or a file that begins anew, can jump to any time. The line then goes on by the time that
/// really passed. A picture that is sent again gets the time of its sending.
struct TimestampLine {
    /// Two timestamps differ at least by this: they must differ in RTP's 90 kHz too.
    static let smallestStep = Duration.milliseconds(1)
    /// A source that differs by more from the time that passed has jumped.
    static let largestDeviation = Duration.seconds(2)

    private var offset = Duration.zero
    private var last: (timestamp: Duration, now: Duration)?

    /// For a new frame.
    mutating func next(timestamp: Duration, now: Duration) -> Duration {
        guard let last else {
            self.last = (timestamp, now)
            return timestamp
        }
        let expected = last.timestamp + (now - last.now)
        let deviation = timestamp + offset - expected
        if deviation > Self.largestDeviation || deviation < .zero - Self.largestDeviation {
            offset = expected - timestamp
        }
        return emit(timestamp + offset, now: now)
    }

    /// For a picture that is sent again.
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
