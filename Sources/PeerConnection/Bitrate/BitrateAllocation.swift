internal import RTCShareCongestionControl
internal import RTCShareWireFormat

/// The allocation of the path's bitrate to this side's media.
struct BitrateAllocation {
    private var allocator = BitrateAllocator()
    /// Whether a media started, ended or changed its demand since the last allocation.
    var isDue = true
    /// The latest claims of the media, which change rarely. The rate changes with every feedback.
    var claims: [BitrateAllocator.Claim?] = []
    /// The input of the last allocation.
    private var divided: (rate: DataRate, isQueueFull: Bool)?
    /// The time at which a small increase must be reported.
    private var riseDue: Instant?

    /// Whether an allocation is due, because of a change or a postponed increase.
    func isStale(_ rate: DataRate, isQueueFull: Bool, now: Instant) -> Bool {
        guard !isDue, let divided, divided.rate == rate, divided.isQueueFull == isQueueFull else { return true }
        return riseDue.map { $0 <= now } ?? false
    }

    /// Allocates a rate to the ``claims``.
    mutating func divide(_ rate: DataRate, isQueueFull: Bool) -> [DataRate] {
        isDue = false
        riseDue = nil
        divided = (rate, isQueueFull)
        return allocator.allocate(rate, among: claims)
    }

    /// Schedules another allocation for an increase that was not reported.
    mutating func postpone(until due: Instant) {
        riseDue = min(riseDue ?? due, due)
    }
}
