/// The index of a WebM file (RFC 9559 §5.1.5) in the space that the file's head reserves for it. The index is valid at
/// every moment.
///
/// Each entry takes 32 bytes, so that a page boundary never divides the write of one, and a void element follows the
/// last. A new entry takes the beginning of that. When the space is full, every second entry is removed: a recording of
/// three hours, with an entry every ten seconds, keeps all of them, one of a day has an entry every eighty seconds.
struct CueIndex {
    /// Bytes to write into the index's space.
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

    /// Creates an index with space for so many entries.
    init(capacity: Int = 1024) {
        self.capacity = max(2, capacity)
    }

    /// The size of the space in bytes.
    var byteCount: Int { capacity * Self.slot }

    /// The content of the space before the first entry.
    var empty: Write { nothing(from: 0) }

    /// Adds an entry for a cluster that begins with a key frame of a track: its time, and its position in the segment.
    /// - Returns: The writes, in order.
    mutating func add(track: Int, milliseconds: Int, clusterPosition: Int) -> [Write] {
        var writes: [Write] = []
        if cues.count == capacity {
            cues = cues.enumerated().filter { $0.offset.isMultiple(of: 2) }.map(\.element)
            // Until the void element overwrites the entries behind, some exist twice, which is harmless.
            writes.append(Write(offset: 0, bytes: cues.flatMap(Self.bytes)))
            writes.append(nothing(from: cues.count))
        }
        let cue = Cue(track: track, milliseconds: milliseconds, clusterPosition: clusterPosition)
        cues.append(cue)
        // Until the entry is written, this is inside the previous void element.
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
