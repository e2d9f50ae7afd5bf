internal import RTCShareNetworkSimulation
internal import RTCShareWireFormat

/// The use of a route by datagrams, from a start time to the last of them.
struct PathUse {
    /// The result at the end.
    struct Summary: Codable {
        /// The bytes that passed, in percent of those that could have.
        let use: Double
        /// The wait that a twentieth of the datagrams exceeded, and the longest wait, in milliseconds.
        let wait95: Double
        let longestWait: Double
        /// The lost datagrams, in percent.
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

    /// The result; nil if no datagram arrived in that time.
    var summary: Summary? {
        guard let capacity, let last, last > start, !waits.isEmpty else { return nil }
        return Summary(
            use: 100 * Double(passedBytes) / capacity.byteCount(from: start, to: last),
            wait95: waits.percentile(0.95) ?? 0, longestWait: waits.max() ?? 0,
            loss: 100 * Double(lost) / Double(count))
    }
}
