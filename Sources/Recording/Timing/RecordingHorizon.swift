/// Up to when a recording can't change any more: what is to come arrives within ``patience`` of what is first to arrive.
struct RecordingHorizon {
    /// By how much a recording's time is ahead of the time since its start: senders' clocks run at their own pace.
    private var lead = Duration.zero
    private var newest: Duration?

    /// What a network holds up for longer is late.
    static let patience = Duration.milliseconds(500)
    /// No clock runs slower than this against another, in parts of a million.
    private static let slowestPace = 200

    /// Takes note of something of this time that arrived so long after the start.
    mutating func note(_ time: Duration, arrival: Duration) {
        if let newest, arrival > newest { lead -= (arrival - newest) * Self.slowestPace / 1_000_000 }
        newest = max(newest ?? arrival, arrival)
        lead = max(lead, time - arrival)
    }

    /// The recording's time, so long after its start.
    func now(at arrival: Duration) -> Duration { arrival + lead }

    /// All before this can be written, so long after the start.
    func horizon(at arrival: Duration) -> Duration { now(at: arrival) - Self.patience }
}
