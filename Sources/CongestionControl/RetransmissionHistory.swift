public import RTCShareRTP
public import RTCShareWireFormat

/// The newest packets of a stream, stored for retransmission requests (RFC 4585 §6.2.1).
///
/// It is a ring with a slot for each of the newest sequence numbers, up to `capacity`. Packets older than
/// ``maximumAge`` are removed when new ones arrive. It starts small, and grows when it would overwrite younger packets:
/// most streams are far from their maximum rate, and a room has thousands of them. Packets are descriptors as in
/// ``Pacer``, whose bytes all peers of a share can have in common. The capacity follows from the maximum rate and the
/// age (``capacity(for:maximumAge:)``), so that it contains what the receiver can still request, and no more. It
/// allocates only to grow. Code that runs for every packet is inlined into the caller's module, which knows the packet
/// type: generic code without that knowledge costs as much as the encryption of the packet.
public struct RetransmissionHistory<Packet: Sendable>: Sendable {
    /// The properties of a packet, with which most checks need no copy of the packet. They take sixteen bytes, since a
    /// room has thousands of connections with hundreds of packets each.
    @usableFromInline
    struct Record: Sendable {
        @usableFromInline let sent: Instant
        @usableFromInline let size: UInt16
        @usableFromInline let number: SequenceNumber
        /// The milliseconds from ``sent`` to the last retransmission, rounded up; zero if there is none.
        @usableFromInline var delay: UInt16 = 0
        /// Whether a retransmission is queued.
        @usableFromInline var isQueued = false

        @inlinable
        init(number: SequenceNumber, size: Int, sent: Instant) {
            self.number = number
            self.size = UInt16(clamping: size)
            self.sent = sent
        }

        /// The time of the last retransmission, in milliseconds; nil if there is none.
        var lastRetransmission: Instant? {
            delay == 0 ? nil : sent.advanced(by: .milliseconds(Int(delay)))
        }

        /// Records that a retransmission was sent.
        mutating func didRetransmit(now: Instant) {
            isQueued = false
            delay = UInt16(clamping: max(1, (now.nanoseconds - sent.nanoseconds + 999_999) / 1_000_000))
        }
    }

    /// The maximum number of packets in a history: a quarter of the sequence numbers, which is never ambiguous.
    public static var maximumCapacity: Int { 16384 }

    /// The maximum age of a packet.
    public let maximumAge: Duration
    @usableFromInline let maximumAgeNanoseconds: Int64
    /// The number of packets returned by ``lookup(_:now:roundTripTime:)``.
    public private(set) var packetsRetransmitted = 0
    /// The number of bytes of those packets.
    public private(set) var bytesRetransmitted = 0
    /// The number of requests that were rejected because the answer to an earlier one can still be in flight.
    public private(set) var requestsTooSoon = 0
    /// The number of requests for packets that are not, or not any more, in the history.
    public private(set) var requestsUnknown = 0

    /// A packet with its properties next to it: in a room neither is still in the processor's cache when it is needed.
    @usableFromInline
    struct Slot: Sendable {
        /// The properties; nil if there is no packet.
        @usableFromInline var record: Record?
        @usableFromInline var packet: Packet?

        /// Creates an empty slot.
        @inlinable
        init() {}
    }

    @usableFromInline var slots: [Slot]
    @usableFromInline var newest: SequenceNumber?
    @usableFromInline var oldest: SequenceNumber?
    /// The next packet to make padding of; nil for the newest.
    private var paddingCursor: SequenceNumber?
    /// The number of the newest packets that padding is made of.
    private static var paddingSearch: Int { 64 }

    /// Creates a history that grows to at least `capacity` packets, rounded up to a power of two and limited to
    /// ``maximumCapacity``.
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

    /// Lets the history grow to at least `capacity` packets, if that is more than before.
    public mutating func allow(capacity: Int) {
        self.capacity = max(self.capacity, Self.rounded(capacity))
    }

    /// Returns the number of packets of half the usual size that a rate produces in `maximumAge`, at least 256.
    public static func capacity(for rate: DataRate, maximumAge: Duration = .seconds(3)) -> Int {
        max(256, min(rate.bytes(in: maximumAge) / 600, maximumCapacity))
    }

    /// The maximum number of packets.
    public private(set) var capacity: Int
    /// The initial number of slots.
    @usableFromInline static var firstSize: Int { 64 }

    /// Stores a packet of `size` bytes that is sent at `now`. Sequence numbers must increase, but gaps are allowed.
    @inlinable
    public mutating func insert(_ number: SequenceNumber, _ packet: consuming Packet, size: Int, now: Instant) {
        if let newest, !number.isNewer(than: newest) || number.distance(from: newest) >= capacity {
            // The numbers restart, so that requests for the old ones would be ambiguous.
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

    /// Returns the packet to retransmit. It is nil if the packet is gone, or if the answer to an earlier request is
    /// still queued or was sent less than a round trip ago: then the request has crossed the answer. Call
    /// ``didRetransmit(_:now:)`` after the packet was sent.
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

    /// Returns the packet with a sequence number, regardless of earlier requests.
    public func packet(_ number: SequenceNumber) -> Packet? {
        let index = index(of: number)
        return slots[index].record?.number == number ? slots[index].packet : nil
    }

    /// The packet with the newest sequence number.
    public var newestPacket: Packet? { newest.flatMap { packet($0) } }

    /// Records that a packet from a lookup was sent, or will not be.
    public mutating func didRetransmit(_ number: SequenceNumber, now: Instant) {
        let index = index(of: number)
        guard slots[index].record?.number == number else { return }
        slots[index].record?.didRetransmit(now: now)
    }

    /// Returns a packet to make padding of: the newest first, then the packet before the previously returned one, as
    /// long as it is not older than ``maximumAge``; nil if there is none.
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

    /// Whether the history still contains the packet. This does not count as a request.
    public func contains(_ number: SequenceNumber, now: Instant) -> Bool {
        guard let record = slots[index(of: number)].record else { return false }
        return record.number == number && now - record.sent <= maximumAge
    }

    /// Removes every packet.
    @inlinable
    public mutating func removeAll() {
        for index in slots.indices { slots[index] = Slot() }
        newest = nil
        oldest = nil
    }

    /// Removes packets that are older than ``maximumAge``.
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

    /// Removes packets that the ring will overwrite, whatever their age.
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

    /// Whether a packet would overwrite one that is worth more slots: one in the first third of its maximum age.
    /// Receivers send requests within a few round trips, and libwebrtc also stores packets for a second.
    @inlinable
    func isFull(for number: SequenceNumber, now: Instant) -> Bool {
        guard let oldest, number.distance(from: oldest) >= slots.count,
            let record = slots[index(of: oldest)].record
        else { return false }
        return now.nanoseconds - record.sent.nanoseconds < maximumAgeNanoseconds / 3
    }

    /// Halves the number of slots, which may have grown for a large frame, if half of it is enough.
    @usableFromInline
    mutating func shrink(before number: SequenceNumber, now: Instant) {
        // This checks the packet that was sent three eighths of the slots earlier. So the packets that are still needed
        // fill at most three quarters of the smaller ring, and a second with more packets than usual does not make it
        // grow again immediately.
        guard let record = slots[slots.count / 8 * 5].record,
            now.nanoseconds - record.sent.nanoseconds > maximumAgeNanoseconds / 3
        else { return }
        let half = slots.count / 2
        var smaller = [Slot](repeating: Slot(), count: half)
        // The older half is removed.
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
