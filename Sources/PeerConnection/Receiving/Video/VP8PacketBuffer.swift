import RTCShareRTP
import RTCShareWireFormat

/// The packets that wait to become frames: a ring with a place for each sequence number.
struct VP8PacketBuffer: Sendable {
    struct Slot: Sendable {
        var number: Int64
        var timestamp: RTPTimestamp
        var marker: Bool
        /// Nil for a packet without media, which only takes up a sequence number.
        var descriptor: VP8PayloadDescriptor?
        /// The bytes after the descriptor.
        var payload: [UInt8]
        var arrival: Instant
        /// How the picture stands, where the packet says so.
        var orientation: VideoOrientation?

        var startsFrame: Bool { descriptor?.startsFrame ?? false }
        /// RFC 6386 §9.1: the lowest bit of the first byte is clear in a key frame.
        var startsKeyFrame: Bool { startsFrame && payload.first.map { $0 & 1 == 0 } ?? false }
    }

    enum Run: Equatable {
        /// All packets from the start to `last` are there and make one frame.
        case complete(last: Int64)
        /// The packet with this number has not arrived.
        case missing(Int64)
        /// The packets there can't be one frame.
        case broken
    }

    private var slots: [Slot?]
    /// The last number that was ever at each place, which tells a second copy from a packet that comes too late.
    private var seen: [Int64]
    private(set) var byteCount = 0
    private(set) var packetCount = 0
    private(set) var newest: Int64?

    init(capacity: Int) {
        var size = 64
        while size < min(capacity, 8192) { size *= 2 }
        slots = Array(repeating: nil, count: size)
        seen = Array(repeating: .min, count: size)
    }

    var capacity: Int { slots.count }

    subscript(number: Int64) -> Slot? {
        guard let slot = slots[index(of: number)], slot.number == number else { return nil }
        return slot
    }

    /// Whether this number has been stored, even if it was removed since.
    func hasSeen(_ number: Int64) -> Bool { seen[index(of: number)] == number }

    mutating func insert(_ slot: Slot) {
        remove(at: index(of: slot.number))
        let index = index(of: slot.number)
        byteCount += slot.payload.count
        packetCount += 1
        seen[index] = slot.number
        slots[index] = slot
        newest = max(newest ?? slot.number, slot.number)
    }

    /// Removes the packets in `range`, of which at most the ring's last turn is there; returns the count of frames that
    /// they were of, without one whose timestamp is `timestamp`, which becomes that of the last one.
    mutating func remove(_ range: Range<Int64>, after timestamp: inout RTPTimestamp?) -> Int {
        var frames = 0
        guard let newest else { return 0 }
        let end = min(range.upperBound, newest + 1)
        var number = max(range.lowerBound, newest + 1 - Int64(capacity))
        while number < end, packetCount > 0 {
            let index = index(of: number)
            if let slot = slots[index], slot.number == number {
                if slot.descriptor != nil, slot.timestamp != timestamp {
                    frames += 1
                    timestamp = slot.timestamp
                }
                remove(at: index)
            }
            number += 1
        }
        return frames
    }

    /// Follows the packets of a frame that starts at `start`, on from `cursor`, which moves to where the way ends.
    func run(from start: Int64, cursor: inout Int64) -> Run {
        guard let first = slots[index(of: start)], first.number == start else { return .missing(start) }
        guard first.startsFrame else { return .broken }
        cursor = max(cursor, start)
        var last = start
        while cursor < start + Int64(capacity) {
            guard let slot = slots[index(of: cursor)], slot.number == cursor else { return .missing(cursor) }
            if slot.descriptor != nil {
                if slot.timestamp != first.timestamp {
                    // Not every sender sets the marker: the start of another frame ends this one as well.
                    return slot.startsFrame ? .complete(last: cursor - 1) : .broken
                }
                last = cursor
                if slot.marker { return .complete(last: last) }
            }
            cursor += 1
        }
        return .broken
    }

    /// When the first packet after `number` arrived that is there.
    func arrival(after number: Int64) -> Instant? {
        guard let newest else { return nil }
        var next = number + 1
        while next <= newest {
            if let slot = slots[index(of: next)], slot.number == next { return slot.arrival }
            next += 1
        }
        return nil
    }

    private mutating func remove(at index: Int) {
        guard let slot = slots[index].take() else { return }
        byteCount -= slot.payload.count
        packetCount -= 1
    }

    private func index(of number: Int64) -> Int {
        Int(truncatingIfNeeded: number & Int64(slots.count - 1))
    }
}
