internal import RTCShareRTP
internal import RTCShareWireFormat

/// The packets in flight: the bytes after the highest number in feedback, and the probe of each packet.
struct OutstandingPackets: Sendable {
    private struct Slot: Sendable {
        /// The total number of bytes up to and including this packet.
        var total = 0
        /// The lower half of the packet's number.
        var number: UInt32 = 0
        /// The identifier of the packet's cluster; 0 for none, -1 for an empty slot.
        var cluster: Int32 = -1
    }

    /// The maximum number of packets whose cluster and position are stored.
    static let capacity = 8192
    /// The initial number of slots.
    private static let firstSize = 64
    private static let clusterCapacity = 32

    /// The time at which the last numbered packet was sent. The others, such as those of audio to some peers, have no
    /// feedback that could be missing.
    private(set) var lastSent: Instant?
    /// The total number of bytes of numbered packets.
    private(set) var totalBytes = 0
    private var slots = [Slot](repeating: Slot(), count: firstSize)
    private var unwrapper = SerialNumberUnwrapper<TransportSequenceNumber>()
    private var newest: Int64?
    private var highestAnswered: (number: Int64, total: Int)?
    private var clusters: [ProbeCluster] = []

    /// The number of bytes after the last packet in feedback.
    var bytes: Int { totalBytes - (highestAnswered?.total ?? 0) }

    /// Stores a cluster whose packets will be sent.
    mutating func add(_ cluster: ProbeCluster) {
        if clusters.count == Self.clusterCapacity { clusters.removeFirst() }
        clusters.append(cluster)
    }

    /// Records a sent packet.
    mutating func packetSent(_ number: TransportSequenceNumber?, size: Int, cluster: Int?, now: Instant) {
        guard let number else { return }
        lastSent = now
        let (sum, overflow) = totalBytes.addingReportingOverflow(max(0, size))
        totalBytes = overflow ? totalBytes : sum
        let unwrapped = unwrapper.unwrap(number)
        newest = unwrapped
        // Packets without feedback are kept as long as there can be more slots.
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

    /// Halves the number of slots, which may have grown for the first probes, if feedback follows closely.
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

    /// Processes feedback.
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

    /// Returns the cluster of a packet; nil for none.
    func cluster(of number: TransportSequenceNumber) -> ProbeCluster? {
        let unwrapped = unwrapper.peek(number)
        let slot = slots[index(of: unwrapped)]
        guard slot.number == UInt32(truncatingIfNeeded: unwrapped), slot.cluster > 0 else { return nil }
        return clusters.last { $0.identifier == Int(slot.cluster) }
    }

    /// Counts all packets in flight as answered, for example after a change of the path.
    mutating func forget() {
        highestAnswered = newest.map { ($0, totalBytes) }
    }

    private func index(of number: Int64) -> Int {
        Int(truncatingIfNeeded: number & Int64(slots.count - 1))
    }
}
