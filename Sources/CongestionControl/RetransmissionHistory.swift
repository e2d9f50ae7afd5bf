public import RTCShareRTP
public import RTCShareWireFormat

/// The newest packets of a stream, kept for receivers that ask for them again (RFC 4585 §6.2.1).
///
/// A ring with a place for each of the newest sequence numbers, up to `capacity`; what is older than ``maximumAge`` is let
/// go as new packets come. It begins small, and grows where it would turn over what is younger: most streams are far from
/// the rate that they may reach, and a room has thousands of them. Packets are descriptors as in ``Pacer``, whose bytes every peer of a share may have in common.
/// How many there is room for follows from the rate that is sent at most and from the age (``capacity(for:maximumAge:)``):
/// what the receiver can still want is there, and no more. Nothing is allocated but to grow. What runs for every packet
/// is inlined into the caller's module, which knows what stands for a packet: generic code that doesn't know costs as much
/// as encrypting the packet.
public struct RetransmissionHistory<Packet: Sendable>: Sendable {
    /// What is known of a packet: most of what is asked needs no copy of the packet. Sixteen bytes, for a room has thousands
    /// of connections, and each has hundreds of these.
    @usableFromInline
    struct Record: Sendable {
        @usableFromInline let sent: Instant
        @usableFromInline let size: UInt16
        @usableFromInline let number: SequenceNumber
        /// Milliseconds from ``sent`` to when it was sent again last, rounded up; zero where it was not.
        @usableFromInline var delay: UInt16 = 0
        /// Whether a retransmission waits to be sent.
        @usableFromInline var isQueued = false

        @inlinable
        init(number: SequenceNumber, size: Int, sent: Instant) {
            self.number = number
            self.size = UInt16(clamping: size)
            self.sent = sent
        }

        /// When it was sent again last, to the millisecond; nil where it was not.
        var lastRetransmission: Instant? {
            delay == 0 ? nil : sent.advanced(by: .milliseconds(Int(delay)))
        }

        /// Takes note that a retransmission has left.
        mutating func didRetransmit(now: Instant) {
            isQueued = false
            delay = UInt16(clamping: max(1, (now.nanoseconds - sent.nanoseconds + 999_999) / 1_000_000))
        }
    }

    /// The most packets that a history can hold: a quarter of the circle of sequence numbers is never ambiguous.
    public static var maximumCapacity: Int { 16384 }

    /// How long a packet is kept.
    public let maximumAge: Duration
    @usableFromInline let maximumAgeNanoseconds: Int64
    /// Packets returned by ``lookup(_:now:roundTripTime:)``.
    public private(set) var packetsRetransmitted = 0
    /// The bytes of those packets.
    public private(set) var bytesRetransmitted = 0
    /// Requests refused because the answer to an earlier one may still be under way.
    public private(set) var requestsTooSoon = 0
    /// Requests for packets that are no longer, or never were, in the history.
    public private(set) var requestsUnknown = 0

    /// A packet and what is known of it, side by side: in a room neither is in the processor's cache any more when its turn
    /// comes.
    @usableFromInline
    struct Slot: Sendable {
        /// Nil where there is no packet.
        @usableFromInline var record: Record?
        @usableFromInline var packet: Packet?

        /// A place without a packet.
        @inlinable
        init() {}
    }

    @usableFromInline var slots: [Slot]
    @usableFromInline var newest: SequenceNumber?
    @usableFromInline var oldest: SequenceNumber?
    /// Which packet padding is made of next; nil for the newest.
    private var paddingCursor: SequenceNumber?
    /// How many of the newest packets padding is made of.
    private static var paddingSearch: Int { 64 }

    /// A history that grows to at least `capacity` packets, rounded up to a power of two and held at ``maximumCapacity``.
    public init(capacity: Int = 4096, maximumAge: Duration = .seconds(3)) {
        self.capacity = Self.rounded(capacity)
        let size = min(self.capacity, Self.firstSize)
        slots = Array(repeating: Slot(), count: size)
        self.maximumAge = maximumAge
        maximumAgeNanoseconds = maximumAge.wholeNanoseconds
    }

    private static func rounded(_ capacity: Int) -> Int {
        var limit = 16
        while limit < min(capacity, maximumCapacity) { limit *= 2 }
        return limit
    }

    /// Has it grow to at least `capacity` packets, where that is more than before.
    public mutating func allow(capacity: Int) {
        self.capacity = max(self.capacity, Self.rounded(capacity))
    }

    /// How many packets of half the usual size a rate makes in `maximumAge`, at least 256.
    public static func capacity(for rate: DataRate, maximumAge: Duration = .seconds(3)) -> Int {
        max(256, min(rate.bytes(in: maximumAge) / 600, maximumCapacity))
    }

    /// The packets that fit at most.
    public private(set) var capacity: Int
    /// There is room for so many to begin with.
    @usableFromInline static var firstSize: Int { 64 }

    /// Takes note of a packet of `size` bytes that is sent at `now`. Sequence numbers are to rise; gaps do no harm.
    @inlinable
    public mutating func insert(_ number: SequenceNumber, _ packet: consuming Packet, size: Int, now: Instant) {
        if let newest, !number.isNewer(than: newest) || number.distance(from: newest) >= capacity {
            // A numbering that begins anew: nobody can ask for the old one unambiguously.
            removeAll()
        }
        if oldest == nil { oldest = number }
        newest = number
        expireOld(now: now)
        while slots.count < capacity, isFull(for: number, now: now) { grow() }
        expire(now: now)
        if index(of: number) == 0, slots.count > Self.firstSize { shrink(before: number, now: now) }
        let index = index(of: number)
        slots[index].record = Record(number: number, size: size, sent: now)
        slots[index].packet = packet
    }

    /// The packet to send again, or nil where it is gone, or where the answer to an earlier request still waits to be
    /// sent, or was sent less than a round trip ago: then the request has crossed the answer. Once a packet that was
    /// returned has left, ``didRetransmit(_:now:)`` is to be told.
    public mutating func lookup(_ number: SequenceNumber, now: Instant, roundTripTime: Duration) -> Packet? {
        let index = index(of: number)
        guard let record = slots[index].record, record.number == number, now - record.sent <= maximumAge else {
            requestsUnknown += 1
            return nil
        }
        if record.isQueued || record.lastRetransmission.map({ now - $0 < roundTripTime }) ?? false {
            requestsTooSoon += 1
            return nil
        }
        slots[index].record?.isQueued = true
        packetsRetransmitted += 1
        bytesRetransmitted += Int(record.size)
        return slots[index].packet
    }

    /// The packet that is there under a number, whatever was asked of it.
    public func packet(_ number: SequenceNumber) -> Packet? {
        let index = index(of: number)
        return slots[index].record?.number == number ? slots[index].packet : nil
    }

    /// Takes note that a packet that was looked up has left, or will not.
    public mutating func didRetransmit(_ number: SequenceNumber, now: Instant) {
        let index = index(of: number)
        guard slots[index].record?.number == number else { return }
        slots[index].record?.didRetransmit(now: now)
    }

    /// A packet that padding may be made of: the newest first, then the one before the last that was given, as long as
    /// there is one no older than ``maximumAge``; nil where there is none.
    public mutating func nextForPadding(now: Instant) -> (number: SequenceNumber, packet: Packet)? {
        guard let newest else { return nil }
        var number = paddingCursor ?? newest
        for _ in 0..<Self.paddingSearch {
            let index = index(of: number)
            guard let record = slots[index].record, record.number == number, now - record.sent <= maximumAge,
                newest.distance(from: number) < Self.paddingSearch
            else {
                if number == newest { return nil }
                number = newest
                continue
            }
            paddingCursor = number.advanced(by: -1)
            return slots[index].packet.map { (number, $0) }
        }
        return nil
    }

    /// Whether the packet is still there, without counting a request.
    public func contains(_ number: SequenceNumber, now: Instant) -> Bool {
        guard let record = slots[index(of: number)].record else { return false }
        return record.number == number && now - record.sent <= maximumAge
    }

    /// Lets go of every packet.
    @inlinable
    public mutating func removeAll() {
        for index in slots.indices { slots[index] = Slot() }
        newest = nil
        oldest = nil
    }

    /// Lets go of what is older than ``maximumAge``.
    @inlinable
    mutating func expireOld(now: Instant) {
        guard var number = oldest, let newest else { return }
        let limit = now.nanoseconds - maximumAgeNanoseconds
        while newest.isNewer(than: number) {
            let index = index(of: number)
            if let record = slots[index].record, record.number == number {
                guard record.sent.nanoseconds < limit else { break }
                slots[index] = Slot()
            }
            number = number.next
        }
        oldest = number
    }

    /// Lets go of what the ring turns over, whatever its age.
    @inlinable
    mutating func expire(now: Instant) {
        guard var number = oldest, let newest, newest.distance(from: number) >= slots.count else { return }
        while newest.distance(from: number) >= slots.count {
            let index = index(of: number)
            if let record = slots[index].record, record.number == number {
                slots[index] = Slot()
            }
            number = number.next
        }
        oldest = number
    }

    /// Whether a packet would turn over one that is worth more room: one in the youngest third of its time. Receivers ask
    /// within a few round trips; libwebrtc keeps packets for a second, too.
    @inlinable
    func isFull(for number: SequenceNumber, now: Instant) -> Bool {
        guard let oldest, number.distance(from: oldest) >= slots.count,
            let record = slots[index(of: oldest)].record
        else { return false }
        return now.nanoseconds - record.sent.nanoseconds < maximumAgeNanoseconds / 3
    }

    /// Gives room back that was needed for a while, as for a large picture: where half of it is much for what is asked for.
    @usableFromInline
    mutating func shrink(before number: SequenceNumber, now: Instant) {
        // Of the packet that was sent as many before as three eighths of the room hold: what is asked for fills three
        // quarters of half of it at most, and a second with more packets than most does not have it grow again at once.
        guard let record = slots[slots.count / 8 * 5].record,
            now.nanoseconds - record.sent.nanoseconds > maximumAgeNanoseconds / 3
        else { return }
        let half = slots.count / 2
        var smaller = [Slot](repeating: Slot(), count: half)
        // The older half goes.
        for place in slots[half...] {
            guard let record = place.record else { continue }
            smaller[Int(record.number.rawValue) & (half - 1)] = place
        }
        slots = smaller
        if let oldest, number.distance(from: oldest) > half { self.oldest = number.advanced(by: -half) }
    }

    @usableFromInline
    mutating func grow() {
        var larger = [Slot](repeating: Slot(), count: slots.count * 2)
        for place in slots {
            guard let record = place.record else { continue }
            larger[Int(record.number.rawValue) & (larger.count - 1)] = place
        }
        slots = larger
    }

    @inlinable
    func index(of number: SequenceNumber) -> Int {
        Int(number.rawValue) & (slots.count - 1)
    }
}
