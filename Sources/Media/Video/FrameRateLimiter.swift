/// Admits frames up to a rate, by their timestamps.
struct FrameRateLimiter: Sendable {
    /// In nanoseconds, like timestamps, so that it admits the same frames as libwebrtc.
    private let interval: Duration?
    private let firstWait: Duration
    private var due: Duration?

    /// Creates a limiter to `framesPerSecond`. A rate of 0 or less sets no limit.
    init(framesPerSecond: Double) {
        // A lower rate would practically mean no frames.
        let nanoseconds = framesPerSecond > 0 ? Int64(1e9 / max(framesPerSecond, 0.001)) : 0
        interval = nanoseconds > 0 ? .nanoseconds(nanoseconds) : nil
        firstWait = .nanoseconds(nanoseconds / 2)
    }

    /// Returns whether a frame captured at `timestamp` passes: the first does, and then each at or after the due time.
    /// A frame half an interval early passes, so that a jittering source at the limit's rate loses nothing.
    mutating func admits(_ timestamp: Duration) -> Bool {
        guard let interval else { return true }
        if let due {
            let wait = due - timestamp
            if wait < interval * 2, wait > interval * -2 {
                guard wait <= .zero else { return false }
                self.due = due + interval
                return true
            }
        }
        due = timestamp + firstWait
        return true
    }

    /// Returns the time after `timestamp` at which a frame passes; zero if one passes at it.
    func timeToWait(at timestamp: Duration) -> Duration {
        guard let interval, let due, due > timestamp, due - timestamp < interval * 2 else { return .zero }
        return due - timestamp
    }
}
