internal import RTCShareMedia

/// How long each reason held, as `qualityLimitationDurations` has it. Without a clock: `now` is the caller's.
struct QualityLimitationClock {
    private(set) var reason = QualityLimitationReason.none
    private var durations: [QualityLimitationReason: Duration] = [:]
    private var since: Duration?

    /// From `now` on this holds.
    mutating func set(_ new: QualityLimitationReason, now: Duration) {
        if let since, now > since { durations[reason, default: .zero] += now - since }
        since = now
        reason = new
    }

    /// How long each has held until `now`; those that never did are left out.
    func read(now: Duration) -> [QualityLimitationReason: Duration] {
        guard let since, now > since else { return durations }
        return durations.merging([reason: now - since]) { $0 + $1 }
    }
}
