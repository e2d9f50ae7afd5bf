internal import RTCShareCongestionControl
internal import RTCShareWireFormat

/// How what the path carries is divided among this side's media.
struct BitrateAllocation {
    private var allocator = BitrateAllocator()
    /// A media began, ended or wants another rate since it was divided.
    var isDue = true
    /// What each media asked for when that was asked last: that changes seldom, and what there is to divide with every
    /// feedback.
    var claims: [BitrateAllocator.Claim?] = []
    /// What it was divided by last.
    private var divided: (rate: DataRate, isQueueFull: Bool)?
    /// When a rise that was too small to be told at once is to be told.
    private var riseDue: Instant?

    /// Whether there is reason to divide, of what changed or has waited.
    func isStale(_ rate: DataRate, isQueueFull: Bool, now: Instant) -> Bool {
        guard !isDue, let divided, divided.rate == rate, divided.isQueueFull == isQueueFull else { return true }
        return riseDue.map { $0 <= now } ?? false
    }

    /// Divides a rate among the ``claims``.
    mutating func divide(_ rate: DataRate, isQueueFull: Bool) -> [DataRate] {
        isDue = false
        riseDue = nil
        divided = (rate, isQueueFull)
        return allocator.allocate(rate, among: claims)
    }

    /// Has a rise that was not told divided again by then.
    mutating func postpone(until due: Instant) {
        riseDue = min(riseDue ?? due, due)
    }
}
