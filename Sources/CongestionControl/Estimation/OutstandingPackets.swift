internal import RTP
internal import WireFormat

/// What is under way: bytes above the highest number that feedback told of, since when that waits for an answer, and
/// which packets belong to which probe.
struct OutstandingPackets: Sendable {
    private struct Slot: Sendable {
        var number = Int64.min
        /// All bytes sent up to this packet and with it.
        var total = 0
        var cluster = 0
    }

    /// Packets whose cluster and place are remembered.
    static let capacity = 8192
    private static let clusterCapacity = 32

    /// When the last packet left, numbered or not.
    private(set) var lastSent: Instant?
    /// When the first packet left of those that wait for feedback, a pause of sending not counted.
    private(set) var waitingSince: Instant?
    /// All bytes of numbered packets so far.
    private(set) var totalBytes = 0
    /// All bytes so far.
    private(set) var allBytes = 0
    private var lastNumbered: Instant?
    private var slots = [Slot](repeating: Slot(), count: capacity)
    private var unwrapper = SerialNumberUnwrapper<TransportSequenceNumber>()
    private var newest: Int64?
    private var highestAnswered: (number: Int64, total: Int)?
    private var clusters: [ProbeCluster] = []

    /// Bytes of which no feedback can have told yet.
    var bytes: Int { totalBytes - (highestAnswered?.total ?? 0) }

    /// Remembers a cluster whose packets may come.
    mutating func add(_ cluster: ProbeCluster) {
        if clusters.count == Self.clusterCapacity { clusters.removeFirst() }
        clusters.append(cluster)
    }

    /// Takes note of a packet. After a pause of `pause` the waiting for feedback counts anew.
    mutating func packetSent(
        _ number: TransportSequenceNumber?, size: Int, cluster: Int?, pause: Duration, now: Instant
    ) {
        lastSent = now
        let (sum, overflow) = allBytes.addingReportingOverflow(max(0, size))
        allBytes = overflow ? allBytes : sum
        guard let number else { return }
        if waitingSince == nil || lastNumbered.map({ now - $0 > pause }) ?? true { waitingSince = now }
        lastNumbered = now
        totalBytes = overflow ? totalBytes : totalBytes + max(0, size)
        let unwrapped = unwrapper.unwrap(number)
        newest = unwrapped
        slots[Self.index(of: unwrapped)] = Slot(number: unwrapped, total: totalBytes, cluster: cluster ?? 0)
    }

    /// Takes what feedback told.
    mutating func receive(_ results: [TransportFeedbackTracker.PacketResult], now: Instant) {
        for result in results {
            let number = unwrapper.peek(result.number)
            let slot = slots[Self.index(of: number)]
            guard slot.number == number, highestAnswered.map({ number > $0.number }) ?? true else { continue }
            highestAnswered = (number, slot.total)
        }
        waitingSince = bytes > 0 ? now : nil
    }

    /// The cluster that a packet was part of; nil for none.
    func cluster(of number: TransportSequenceNumber) -> ProbeCluster? {
        let unwrapped = unwrapper.peek(number)
        let slot = slots[Self.index(of: unwrapped)]
        guard slot.number == unwrapped, slot.cluster != 0 else { return nil }
        return clusters.last { $0.identifier == slot.cluster }
    }

    /// Counts all that is under way as answered, as after a change of the path.
    mutating func forget() {
        highestAnswered = newest.map { ($0, totalBytes) }
        waitingSince = nil
    }

    private static func index(of number: Int64) -> Int {
        Int(truncatingIfNeeded: number & Int64(capacity - 1))
    }
}
