extension TransportFeedback {
    /// The packet status chunks of the deltas (§3.1.3, §3.1.4).
    ///
    /// At each position this takes the chunk that covers the most packets: a run, 14 one-bit statuses, or 7 two-bit
    /// statuses.
    var statusChunks: [UInt16] {
        var chunks: [UInt16] = []
        var index = 0
        while index < deltas.count {
            let run = runLength(at: index)
            let oneBit = oneBitReach(at: index)
            let twoBit = min(7, deltas.count - index)
            if run >= max(oneBit, twoBit) {
                chunks.append(Self.symbol(of: deltas[index]).rawValue << 13 | UInt16(run))
                index += run
            } else if oneBit >= twoBit {
                chunks.append(0x8000 | vector(at: index, count: oneBit, width: 1))
                index += oneBit
            } else {
                chunks.append(0xC000 | vector(at: index, count: twoBit, width: 2))
                index += twoBit
            }
        }
        return chunks
    }

    /// The number of bytes of the whole packet.
    var byteCount: Int {
        let deltaBytes = deltas.reduce(0) { sum, delta in sum + Self.byteCount(of: delta) }
        return (20 + statusChunks.count * 2 + deltaBytes + 3) & ~3
    }

    static func byteCount(of delta: Int16?) -> Int {
        switch symbol(of: delta) {
        case .notReceived: 0
        case .smallDelta: 1
        case .largeDelta: 2
        }
    }

    private func runLength(at start: Int) -> Int {
        let symbol = Self.symbol(of: deltas[start])
        let limit = min(deltas.count, start + 0x1FFF)
        var end = start + 1
        while end < limit, Self.symbol(of: deltas[end]) == symbol { end += 1 }
        return end - start
    }

    /// Returns the number of statuses from `start` that a chunk of one-bit symbols covers: at most 14, or zero if one
    /// of them is a large delta, since a parser always reads a chunk to its end.
    private func oneBitReach(at start: Int) -> Int {
        let end = min(deltas.count, start + 14)
        let fits = deltas[start..<end].allSatisfy { Self.symbol(of: $0) != .largeDelta }
        return fits ? end - start : 0
    }

    /// Returns the symbols from `start`, the first in the highest of 14 bits, with zeros after the last.
    private func vector(at start: Int, count: Int, width: Int) -> UInt16 {
        var bits: UInt16 = 0
        for index in 0..<count {
            bits |= Self.symbol(of: deltas[start + index]).rawValue << UInt16(14 - width * (index + 1))
        }
        return bits
    }
}
