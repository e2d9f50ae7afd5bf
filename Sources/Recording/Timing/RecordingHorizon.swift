/// Up to when a recording can't change any more: what is to come arrives within ``patience`` of what is first to arrive.
struct RecordingHorizon {
    /// By how much a recording's time is ahead of the time since its start: senders' clocks run at their own pace.
    private var lead = Duration.zero
    private var newest: Duration?
    /// How much further it may be ahead for now.
    private var allowance = largestAllowance

    /// What a network holds up for longer is late.
    static let patience = Duration.milliseconds(500)
    /// No clock runs slower than this against another, in parts of a million.
    private static let slowestPace = 200
    /// What the first of a stream may have been late by.
    private static let largestAllowance = Duration.seconds(2)
    /// No clock runs faster against another by more than one part of this. A sender whose times do makes the recording no
    /// longer than that, and its silence no larger.
    private static let fastestPace = 10

    /// Takes note of something of this time that arrived so long after the start.
    mutating func note(_ time: Duration, arrival: Duration) {
        if let newest, arrival > newest {
            lead -= (arrival - newest) * Self.slowestPace / 1_000_000
            allowance = min(allowance + (arrival - newest) / Self.fastestPace, Self.largestAllowance)
        }
        newest = max(newest ?? arrival, arrival)
        let growth = min(max(time - arrival - lead, .zero), allowance)
        lead += growth
        allowance -= growth
    }

    /// The recording's time, so long after its start.
    func now(at arrival: Duration) -> Duration { arrival + lead }

    /// All before this can be written, so long after the start.
    func horizon(at arrival: Duration) -> Duration { now(at: arrival) - Self.patience }
}
