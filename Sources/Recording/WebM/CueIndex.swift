/// The index of a WebM file (RFC 9559 §5.1.5) in the room that the file's head has for it: it is whole at every moment.
///
/// Each place takes 32 bytes, so that no write of one is ever cut in two by the end of a page, and what follows the last is
/// an element of nothing. A new one takes the beginning of that. Once the room is full every second place is left out: a
/// film of three hours, with a place each ten seconds, has all of them, one of a day one each eighty seconds.
struct CueIndex {
    /// Bytes to be written in the index's room.
    struct Write: Hashable {
        let offset: Int
        let bytes: [UInt8]
    }

    private struct Cue {
        let track: Int
        let milliseconds: Int
        let clusterPosition: Int
    }

    private var cues: [Cue] = []
    private let capacity: Int
    private static let slot = 32

    /// An index with room for so many places.
    init(capacity: Int = 1024) {
        self.capacity = max(2, capacity)
    }

    /// The bytes of the room.
    var byteCount: Int { capacity * Self.slot }

    /// What the room holds before the first place.
    var empty: Write { nothing(from: 0) }

    /// Adds a place: where a track can be begun to be played, at a time, the cluster of it standing so far into the segment.
    /// - Returns: what is to be written, in this order.
    mutating func add(track: Int, milliseconds: Int, clusterPosition: Int) -> [Write] {
        var writes: [Write] = []
        if cues.count == capacity {
            cues = cues.enumerated().filter { $0.offset.isMultiple(of: 2) }.map(\.element)
            // Until what is behind them is gone too, some stand twice, which is no harm.
            writes.append(Write(offset: 0, bytes: cues.flatMap(Self.bytes)))
            writes.append(nothing(from: cues.count))
        }
        let cue = Cue(track: track, milliseconds: milliseconds, clusterPosition: clusterPosition)
        cues.append(cue)
        // Until the place is written, this is within the nothing that was there before.
        if cues.count < capacity { writes.append(nothing(from: cues.count)) }
        return writes + [Write(offset: (cues.count - 1) * Self.slot, bytes: Self.bytes(of: cue))]
    }

    private func nothing(from index: Int) -> Write {
        Write(
            offset: index * Self.slot, bytes: EBML.voidHead(byteCount: (capacity - index) * Self.slot))
    }

    private static func bytes(of cue: Cue) -> [UInt8] {
        var point = EBML()
        point.write(.cueTime, EBML.fixed(UInt64(cue.milliseconds), byteCount: 5))
        point.write(.cueTrackPositions) { positions in
            positions.write(.cueTrack, UInt64(cue.track))
            positions.write(.cueClusterPosition, EBML.fixed(UInt64(cue.clusterPosition), byteCount: 8))
        }
        let head = 2
        point.writeVoid(byteCount: slot - head - point.bytes.count)
        var cue = EBML()
        cue.write(.cuePoint, point.bytes)
        return cue.bytes
    }
}
