internal import RTCShareNetworkSimulation
internal import RTCShareWireFormat

/// What datagrams had of a path from some time on to the last of them.
struct PathUse {
    /// What is told at the end.
    struct Summary: Codable {
        /// Bytes that passed over those that could have, in percent.
        let use: Double
        /// What a twentieth of the datagrams waited longer than, and the longest wait, in milliseconds.
        let wait95: Double
        let longestWait: Double
        /// Datagrams that did not come, in percent.
        let loss: Double
    }

    private var capacity: CapacityTrace?
    private var start = Instant(nanoseconds: 0)
    private var last: Instant?
    private var waits: [Double] = []
    private var passedBytes = 0
    private var lost = 0
    private var count = 0

    init() {}

    init(of capacity: CapacityTrace, from start: Instant) {
        self.capacity = capacity
        self.start = start
    }

    mutating func note(_ fate: Dumbbell<Relay.Packet>.Fate, size: Int, now: Instant) {
        guard now >= start else { return }
        last = now
        count += 1
        switch fate {
        case .delivered(let wait):
            waits.append(wait.milliseconds)
            passedBytes += size
        case .lost(let wait):
            waits.append(wait.milliseconds)
            lost += 1
        case .dropped: lost += 1
        }
    }

    /// Nothing where no datagram came in time.
    var summary: Summary? {
        guard let capacity, let last, last > start, !waits.isEmpty else { return nil }
        return Summary(
            use: 100 * Double(passedBytes) / capacity.byteCount(from: start, to: last),
            wait95: waits.percentile(0.95) ?? 0, longestWait: waits.max() ?? 0,
            loss: 100 * Double(lost) / Double(count))
    }
}
