internal import RTCShareRTP
internal import RTCShareWireFormat

/// What is under way: bytes above the highest number that feedback told of, and which packets belong to which probe.
struct OutstandingPackets: Sendable {
    private struct Slot: Sendable {
        /// All bytes sent up to this packet and with it.
        var total = 0
        /// The lower half of its number.
        var number: UInt32 = 0
        /// -1 where there is no packet.
        var cluster: Int32 = -1
    }

    /// Packets whose cluster and place are remembered, at most.
    static let capacity = 8192
    /// There is room for so many to begin with.
    private static let firstSize = 64
    private static let clusterCapacity = 32

    /// When the last packet left, numbered or not.
    private(set) var lastSent: Instant?
    /// All bytes of numbered packets so far.
    private(set) var totalBytes = 0
    private var slots = [Slot](repeating: Slot(), count: firstSize)
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

    /// Takes note of a packet.
    mutating func packetSent(_ number: TransportSequenceNumber?, size: Int, cluster: Int?, now: Instant) {
        lastSent = now
        guard let number else { return }
        let (sum, overflow) = totalBytes.addingReportingOverflow(max(0, size))
        totalBytes = overflow ? totalBytes : sum
        let unwrapped = unwrapper.unwrap(number)
        newest = unwrapped
        // What feedback has not told of is kept as long as there can be more room.
        while slots.count < Self.capacity, isUnanswered(slots[index(of: unwrapped)], before: unwrapped) { grow() }
        if slots.count > Self.firstSize, index(of: unwrapped) == 0 { shrink(before: unwrapped) }
        slots[index(of: unwrapped)] = Slot(
            total: totalBytes, number: UInt32(truncatingIfNeeded: unwrapped), cluster: Int32(clamping: cluster ?? 0))
    }

    private func isUnanswered(_ slot: Slot, before newest: Int64) -> Bool {
        guard slot.cluster >= 0 else { return false }
        let number = newest - Int64(UInt32(truncatingIfNeeded: newest) &- slot.number)
        return highestAnswered.map { number > $0.number } ?? true
    }

    /// Gives room back that was needed for a while, as for the first probes: where feedback follows closely.
    private mutating func shrink(before newest: Int64) {
        guard let highestAnswered, newest - highestAnswered.number < Int64(slots.count / 4) else { return }
        var smaller = [Slot](repeating: Slot(), count: slots.count / 2)
        for slot in slots[smaller.count...] where slot.cluster >= 0 {
            smaller[Int(slot.number) & (smaller.count - 1)] = slot
        }
        slots = smaller
    }

    private mutating func grow() {
        var larger = [Slot](repeating: Slot(), count: slots.count * 2)
        for slot in slots where slot.cluster >= 0 { larger[Int(slot.number) & (larger.count - 1)] = slot }
        slots = larger
    }

    /// Takes what feedback told.
    mutating func receive(_ results: [TransportFeedbackTracker.PacketResult]) {
        for result in results {
            let number = unwrapper.peek(result.number)
            let slot = slots[index(of: number)]
            guard slot.cluster >= 0, slot.number == UInt32(truncatingIfNeeded: number),
                highestAnswered.map({ number > $0.number }) ?? true
            else { continue }
            highestAnswered = (number, slot.total)
        }
    }

    /// The cluster that a packet was part of; nil for none.
    func cluster(of number: TransportSequenceNumber) -> ProbeCluster? {
        let unwrapped = unwrapper.peek(number)
        let slot = slots[index(of: unwrapped)]
        guard slot.number == UInt32(truncatingIfNeeded: unwrapped), slot.cluster > 0 else { return nil }
        return clusters.last { $0.identifier == Int(slot.cluster) }
    }

    /// Counts all that is under way as answered, as after a change of the path.
    mutating func forget() {
        highestAnswered = newest.map { ($0, totalBytes) }
    }

    private func index(of number: Int64) -> Int {
        Int(truncatingIfNeeded: number & Int64(slots.count - 1))
    }
}
