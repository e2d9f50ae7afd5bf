/// The time in which the last frame of a muted track is sent to viewers who need it: from the first need until some time
/// after the latest one.
struct FrameRepetition {
    /// The time for which the frame is sent after a need: until it is sharp.
    static let time = Duration.seconds(2)

    /// Whether the frame is sent.
    private(set) var isActive = false
    private var end = Duration.zero
    /// Whether the owner's timer runs.
    private var hasTimer = false

    /// Starts or prolongs the repetition. Returns the duration of the timer to start, after which the owner calls
    /// ``timerFired(isAwaited:now:)``; nil for none.
    mutating func prolong(now: Duration) -> Duration? {
        (isActive, end) = (true, now + Self.time)
        return startTimer(Self.time)
    }

    /// Ends the repetition if its time is over, and no viewer awaits a key frame. Returns the duration of the next timer;
    /// nil for none.
    mutating func timerFired(isAwaited: Bool, now: Duration) -> Duration? {
        hasTimer = false
        guard isActive else { return nil }
        if isAwaited { end = max(end, now + Self.time) }
        guard now < end else {
            isActive = false
            return nil
        }
        return startTimer(end - now)
    }

    /// Ends the repetition, because the track is not muted any more, or another one is shown.
    mutating func stop() { isActive = false }

    private mutating func startTimer(_ time: Duration) -> Duration? {
        guard !hasTimer else { return nil }
        hasTimer = true
        return time
    }
}
