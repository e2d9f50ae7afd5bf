/// When a viewer's requests for a key frame are answered where others are sent the same encoding: a key frame costs all of
/// them. In virtual time.
///
/// The first is answered at once. Who keeps asking is answered at intervals that double; who stops is heard as before after
/// a while.
struct KeyFrameAllowance {
    /// Between two that are answered.
    static var shortestInterval: Duration { .milliseconds(300) }
    let longestInterval: Duration
    /// Half of the interval is forgotten in each such time without a request.
    static var forgettingTime: Duration { .seconds(10) }

    private var interval = shortestInterval
    /// When the newest request is answered, or was.
    private var answerTime: Duration?

    /// Nothing was asked for yet.
    init(longestInterval: Duration = .seconds(10)) {
        self.longestInterval = longestInterval
    }

    /// When a request that is made now is answered. Those that are made before that are answered with it.
    mutating func request(now: Duration) -> Duration {
        guard let last = answerTime else {
            answerTime = now
            return now
        }
        guard now >= last else { return last }
        var quiet = now - last
        let time: Duration
        if quiet < Self.forgettingTime {
            time = max(now, last + interval)
            interval = min(interval * 2, longestInterval)
        } else {
            time = now
            while quiet >= Self.forgettingTime, interval > Self.shortestInterval {
                interval = max(interval / 2, Self.shortestInterval)
                quiet -= Self.forgettingTime
            }
        }
        answerTime = time
        return time
    }
}
