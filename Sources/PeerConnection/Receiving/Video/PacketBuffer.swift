import RTCShareRTP
import RTCShareWireFormat

/// The packets that wait for their frame: a ring with a slot for each sequence number.
struct PacketBuffer: Sendable {
    struct Slot: Sendable {
        var number: Int64
        var timestamp: RTPTimestamp
        var marker: Bool
        /// The content; nil for a packet without media, which only occupies a sequence number.
        var content: PacketContent?
        /// The piece of the frame.
        var piece: [UInt8]
        /// Whether the packet has media that can't be read, so that no frame can have it.
        var isUnreadable = false
        var arrival: Instant
        /// The orientation of the frame, if the packet has it.
        var orientation: VideoOrientation?

        /// Whether the packet has no media.
        var isPadding: Bool { content == nil && !isUnreadable }
        var startsFrame: Bool { content?.startsFrame ?? false }
        /// Whether a frame can start here, if the packets before it are another frame's.
        var canStartFrame: Bool { content.map { $0.start != .none } ?? false }
        var startsKeyFrame: Bool { content?.startsKeyFrame ?? false }
    }

    enum Run: Equatable {
        /// All packets from the start to `last` exist and are one frame.
        case complete(last: Int64)
        /// The packet with this number has not arrived.
        case missing(Int64)
        /// The packets can't be one frame.
        case broken
    }

    private var slots: [Slot?]
    /// The last number in each slot, which distinguishes a duplicate from a late packet.
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

    /// Whether this number was stored, even if it was removed since.
    func hasSeen(_ number: Int64) -> Bool { seen[index(of: number)] == number }

    mutating func insert(_ slot: Slot) {
        remove(at: index(of: slot.number))
        let index = index(of: slot.number)
        byteCount += slot.piece.count
        packetCount += 1
        seen[index] = slot.number
        slots[index] = slot
        newest = max(newest ?? slot.number, slot.number)
    }

    /// Removes the packets in `range`, of which at most the ring's last round exists. Returns the number of their
    /// frames, except one with the timestamp `timestamp`, which becomes that of the last frame.
    mutating func remove(_ range: Range<Int64>, after timestamp: inout RTPTimestamp?) -> Int {
        var frames = 0
        guard let newest else { return 0 }
        let end = min(range.upperBound, newest + 1)
        var number = max(range.lowerBound, newest + 1 - Int64(capacity))
        while number < end, packetCount > 0 {
            let index = index(of: number)
            if let slot = slots[index], slot.number == number {
                if !slot.isPadding, slot.timestamp != timestamp {
                    frames += 1
                    timestamp = slot.timestamp
                }
                remove(at: index)
            }
            number += 1
        }
        return frames
    }

    /// Follows the packets of a frame that starts at `start`, from `cursor`, which moves to the end of the existing
    /// packets.
    func run(from start: Int64, cursor: inout Int64) -> Run {
        guard let first = slots[index(of: start)], first.number == start else { return .missing(start) }
        guard first.canStartFrame else { return .broken }
        cursor = max(cursor, start)
        var last = start
        while cursor < start + Int64(capacity) {
            guard let slot = slots[index(of: cursor)], slot.number == cursor else { return .missing(cursor) }
            if slot.isUnreadable {
                return slot.timestamp == first.timestamp ? .broken : .complete(last: cursor - 1)
            } else if let content = slot.content {
                if slot.timestamp != first.timestamp {
                    // Not every sender sets the marker: the start of another frame also ends this one.
                    return slot.canStartFrame ? .complete(last: cursor - 1) : .broken
                }
                guard content.format === first.content?.format else { return .broken }
                last = cursor
                if slot.marker { return .complete(last: last) }
            }
            cursor += 1
        }
        return .broken
    }

    /// Returns the arrival time of the first existing packet after `number`.
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
        byteCount -= slot.piece.count
        packetCount -= 1
    }

    private func index(of number: Int64) -> Int {
        Int(truncatingIfNeeded: number & Int64(slots.count - 1))
    }
}
