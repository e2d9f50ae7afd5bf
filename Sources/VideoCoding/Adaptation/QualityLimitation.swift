internal import RTCShareMedia

/// Measures the time for which each reason applied, as in `qualityLimitationDurations`. It has no clock: `now` is the
/// caller's.
struct QualityLimitationClock {
    private(set) var reason = QualityLimitationReason.none
    private var durations: [QualityLimitationReason: Duration] = [:]
    private var since: Duration?

    /// Sets the reason that applies from `now` on.
    mutating func set(_ new: QualityLimitationReason, now: Duration) {
        if let since, now > since { durations[reason, default: .zero] += now - since }
        since = now
        reason = new
    }

    /// Returns the times until `now`. Reasons that never applied are omitted.
    func read(now: Duration) -> [QualityLimitationReason: Duration] {
        guard let since, now > since else { return durations }
        return durations.merging([reason: now - since]) { $0 + $1 }
    }
}
