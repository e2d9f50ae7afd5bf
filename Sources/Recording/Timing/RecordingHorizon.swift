/// The time up to which a recording can't change any more: media of one time arrive within ``patience`` of each other.
struct RecordingHorizon {
    /// The difference between the recording's time and the time since its start: senders' clocks run at their own pace.
    private var lead = Duration.zero
    private var newest: Duration?
    /// The maximum by which the lead may still grow now.
    private var allowance = largestAllowance

    /// The longest delay in the network that is waited for. Media that arrive later are late.
    static let patience = Duration.milliseconds(500)
    /// The rate at which the lead shrinks, in parts per million: no clock runs slower than that against another.
    private static let slowestPace = 200
    /// The maximum lateness of a stream's first packet.
    private static let largestAllowance = Duration.seconds(2)
    /// The inverse of the fastest drift that the recording follows. A sender whose times drift faster makes the
    /// recording longer, and its silence larger, by no more than that part.
    private static let fastestPace = 10

    /// Records that media of this time arrived at `arrival` after the start.
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

    /// Returns the recording's time at `arrival` after its start.
    func now(at arrival: Duration) -> Duration { arrival + lead }

    /// Returns the time before which everything can be written, at `arrival` after the start.
    func horizon(at arrival: Duration) -> Duration { now(at: arrival) - Self.patience }
}
