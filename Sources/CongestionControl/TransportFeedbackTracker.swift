package import RTCShareRTP
package import RTCShareWireFormat

/// Matches the packets that a transport sent with the results in transport-wide feedback
/// (draft-holmer-rmcat-transport-wide-cc-extensions-01). Bookkeeping only: estimators build on the results.
package struct TransportFeedbackTracker: Sendable {
    /// The result for one packet.
    package struct PacketResult: Hashable, Sendable {
        /// The number of the packet.
        package let number: TransportSequenceNumber
        /// The size that the caller reported.
        package let size: Int
        /// The time of sending.
        package let sent: Instant
        /// The time of arrival on the receiver's clock, from an arbitrary origin; nil for a lost packet.
        package let arrival: Duration?

        package init(number: TransportSequenceNumber, size: Int, sent: Instant, arrival: Duration?) {
            self.number = number
            self.size = size
            self.sent = sent
            self.arrival = arrival
        }
    }

    private enum Fate: UInt8, Sendable {
        case none
        case inFlight
        case lost
        case acknowledged
    }

    /// A packet's state in sixteen bytes: a room has thousands of connections with hundreds of packets each.
    private struct Entry: Sendable {
        var sent = Instant(nanoseconds: 0)
        /// The lower half of the packet's number, which is enough to identify it in its slot.
        var number: UInt32 = 0
        var size: UInt16 = 0
        var fate = Fate.none
    }

    /// The maximum number of packets that feedback can still match.
    package static var capacity: Int { 8192 }
    /// The initial number of slots.
    private static var firstSize: Int { 128 }
    /// The minimum time for which a packet is stored, in flight or not, as long as there can be more slots: feedback
    /// can still change its result.
    private static var keptTime: Int64 { 1_000_000_000 }

    /// The number of packets that arrived.
    package private(set) var packetsAcknowledged = 0
    /// The number of bytes that arrived.
    package private(set) var bytesAcknowledged = 0
    /// The number of packets reported as missing, minus those that were later reported as received.
    package private(set) var packetsLost = 0
    /// The number of packets whose slot was reused before any feedback.
    package private(set) var packetsUnresolved = 0
    /// The number of packets without a result.
    package private(set) var packetsInFlight = 0
    /// The number of bytes of those packets.
    package private(set) var bytesInFlight = 0
    /// The number of feedback packets processed.
    package private(set) var feedbackReceived = 0
    /// The number of feedback packets missing according to their count.
    package private(set) var feedbackLost = 0

    private var slots = [Entry](repeating: Entry(), count: firstSize)
    private var unwrapper = SerialNumberUnwrapper<TransportSequenceNumber>()
    /// The latest feedback without its packets: its count and its reference time.
    private var newest: TransportFeedback?
    /// The reference time of `newest`, relative to the first one.
    private var reference = Duration.zero

    /// Creates a tracker without packets.
    package init() {}

    /// Records a packet of `size` bytes that is sent at `now`.
    package mutating func packetSent(_ number: TransportSequenceNumber, size: Int, now: Instant) {
        let number = unwrapper.unwrap(number)
        var index = index(of: number)
        while slots.count < Self.capacity, isWorthKeeping(slots[index], now: now) {
            grow()
            index = self.index(of: number)
        }
        if index == 0, slots.count > Self.firstSize {
            shrink(now: now)
            index = self.index(of: number)
        }
        let old = slots[index]
        if old.fate == .inFlight {
            packetsUnresolved += 1
            packetsInFlight -= 1
            bytesInFlight -= Int(old.size)
        }
        let size = Int(UInt16(clamping: size))
        slots[index] = Entry(
            sent: now, number: UInt32(truncatingIfNeeded: number), size: UInt16(size), fate: .inFlight)
        packetsInFlight += 1
        bytesInFlight += size
    }

    /// Removes all packets sent so far: they used another path, and do not describe the next one.
    package mutating func forget() {
        packetsUnresolved += packetsInFlight
        packetsInFlight = 0
        bytesInFlight = 0
        slots = [Entry](repeating: Entry(), count: Self.firstSize)
    }

    private func isWorthKeeping(_ entry: Entry, now: Instant) -> Bool {
        entry.fate == .inFlight || entry.fate != .none && now.nanoseconds - entry.sent.nanoseconds < Self.keptTime
    }

    /// Halves the number of slots, which may have grown for the first probes, if half of it is enough.
    private mutating func shrink(now: Instant) {
        // This checks the packet that was sent three eighths of the slots earlier. The rest of the smaller half is for
        // seconds with more packets than usual.
        let last = slots[slots.count / 8 * 5]
        guard last.fate != .none, now.nanoseconds - last.sent.nanoseconds > Self.keptTime,
            !slots[..<(slots.count / 2)].contains(where: { $0.fate == .inFlight })
        else { return }
        var smaller = [Entry](repeating: Entry(), count: slots.count / 2)
        // The older half is removed, the younger half stays.
        for entry in slots[smaller.count...] where entry.fate != .none {
            smaller[Int(entry.number) & (smaller.count - 1)] = entry
        }
        slots = smaller
    }

    private mutating func grow() {
        var larger = [Entry](repeating: Entry(), count: slots.count * 2)
        for entry in slots where entry.fate != .none { larger[Int(entry.number) & (larger.count - 1)] = entry }
        slots = larger
    }

    /// Returns the new results in `feedback`, in the order of the numbers: an arrived packet once, and a missing packet
    /// once and again if it arrives later.
    package mutating func receive(_ feedback: TransportFeedback) -> [PacketResult] {
        feedbackReceived += 1
        let base = updateReference(feedback)
        var results: [PacketResult] = []
        results.reserveCapacity(min(feedback.deltas.count, slots.count))
        var number = unwrapper.peek(feedback.baseSequenceNumber)
        var arrival = base
        for delta in feedback.deltas {
            if let delta { arrival += .microseconds(Int64(delta) * 250) }
            if let result = resolve(number, arrival: delta == nil ? nil : arrival) { results.append(result) }
            number += 1
        }
        return results
    }

    private mutating func resolve(_ number: Int64, arrival: Duration?) -> PacketResult? {
        let index = index(of: number)
        let entry = slots[index]
        guard entry.number == UInt32(truncatingIfNeeded: number), entry.fate == .inFlight || entry.fate == .lost else {
            return nil
        }
        switch (entry.fate, arrival) {
        case (.lost, nil): return nil
        case (.lost, _): packetsLost -= 1
        default:
            packetsInFlight -= 1
            bytesInFlight -= Int(entry.size)
        }
        if arrival != nil {
            packetsAcknowledged += 1
            bytesAcknowledged += Int(entry.size)
        } else {
            packetsLost += 1
        }
        slots[index].fate = arrival == nil ? .lost : .acknowledged
        return PacketResult(
            number: TransportSequenceNumber(UInt16(truncatingIfNeeded: number)), size: Int(entry.size),
            sent: entry.sent,
            arrival: arrival)
    }

    /// Returns the feedback's reference time relative to the first one, without its wraps.
    private mutating func updateReference(_ feedback: TransportFeedback) -> Duration {
        var head = feedback
        head.deltas = []
        guard let newest else {
            self.newest = head
            return reference
        }
        let base = reference + feedback.referenceDuration(since: newest)
        let step = feedback.feedbackPacketCount &- newest.feedbackPacketCount
        // Reordered feedback does not change the state.
        guard step > 0, step < 128 else { return base }
        feedbackLost += Int(step) - 1
        self.newest = head
        reference = base
        return base
    }

    private func index(of number: Int64) -> Int {
        Int(truncatingIfNeeded: number & Int64(slots.count - 1))
    }
}
