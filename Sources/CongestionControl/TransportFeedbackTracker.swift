package import RTCShareRTP
package import RTCShareWireFormat

/// Joins the packets that a transport sent with what transport-wide feedback says of them
/// (draft-holmer-rmcat-transport-wide-cc-extensions-01). Bookkeeping only: estimators build on the results.
package struct TransportFeedbackTracker: Sendable {
    /// What became of one packet.
    package struct PacketResult: Hashable, Sendable {
        /// The packet.
        package let number: TransportSequenceNumber
        /// Its size as it was given.
        package let size: Int
        /// When it was sent.
        package let sent: Instant
        /// When it arrived, on the receiver's clock from an arbitrary beginning; nil for lost.
        package let arrival: Duration?

        /// What became of the packet `number`.
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

    /// Sixteen bytes: a room has thousands of connections, and each has hundreds of these.
    private struct Entry: Sendable {
        var sent = Instant(nanoseconds: 0)
        /// Its lower half is enough to tell it from others at its place.
        var number: UInt32 = 0
        var size: UInt16 = 0
        var fate = Fate.none
    }

    /// Packets of which feedback can still be joined, at most.
    package static var capacity: Int { 8192 }
    /// There is room for so many to begin with.
    private static var firstSize: Int { 128 }
    /// What is younger than this is kept, in flight or not, as long as there can be more room: feedback may say otherwise
    /// of it yet.
    private static var keptTime: Int64 { 1_000_000_000 }

    /// Packets that arrived, and their bytes.
    package private(set) var packetsAcknowledged = 0
    /// Bytes that arrived.
    package private(set) var bytesAcknowledged = 0
    /// Packets reported as missing, less those that were reported as received later.
    package private(set) var packetsLost = 0
    /// Packets that no feedback told of before their place was needed.
    package private(set) var packetsUnresolved = 0
    /// Packets sent of which nothing is known yet.
    package private(set) var packetsInFlight = 0
    /// The bytes of those packets.
    package private(set) var bytesInFlight = 0
    /// Feedback packets processed.
    package private(set) var feedbackReceived = 0
    /// Feedback packets missing by their count.
    package private(set) var feedbackLost = 0

    private var slots = [Entry](repeating: Entry(), count: firstSize)
    private var unwrapper = SerialNumberUnwrapper<TransportSequenceNumber>()
    /// The newest feedback without its packets: its count and its reference time.
    private var newest: TransportFeedback?
    /// Where the reference time of `newest` is since the first one.
    private var reference = Duration.zero

    /// A tracker that knows of no packet.
    package init() {}

    /// Takes note of a packet of `size` bytes that is sent at `now`.
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

    /// Joins nothing any more with what was sent up to now: it took another path, and says nothing of the one that follows.
    package mutating func forget() {
        packetsUnresolved += packetsInFlight
        packetsInFlight = 0
        bytesInFlight = 0
        slots = [Entry](repeating: Entry(), count: Self.firstSize)
    }

    private func isWorthKeeping(_ entry: Entry, now: Instant) -> Bool {
        entry.fate == .inFlight || entry.fate != .none && now.nanoseconds - entry.sent.nanoseconds < Self.keptTime
    }

    /// Gives room back that was needed for a while, as for the first probes: where half of it is much for what is kept.
    private mutating func shrink(now: Instant) {
        // It was sent as many packets ago as three eighths of the room hold: the rest of half of it is left for seconds with
        // more packets than most.
        let last = slots[slots.count / 8 * 5]
        guard last.fate != .none, now.nanoseconds - last.sent.nanoseconds > Self.keptTime,
            !slots[..<(slots.count / 2)].contains(where: { $0.fate == .inFlight })
        else { return }
        var smaller = [Entry](repeating: Entry(), count: slots.count / 2)
        // The older half goes, the younger one stays.
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

    /// What `feedback` says that was not known: a packet that arrived, once; one that is missing, once, and again if
    /// it arrives after all. In the order of the numbers.
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

    /// Where the feedback's reference time is since the first one, its wraps undone.
    private mutating func updateReference(_ feedback: TransportFeedback) -> Duration {
        var head = feedback
        head.deltas = []
        guard let newest else {
            self.newest = head
            return reference
        }
        let base = reference + feedback.referenceDuration(since: newest)
        let step = feedback.feedbackPacketCount &- newest.feedbackPacketCount
        // Feedback that was overtaken moves nothing on.
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
