extension TransportFeedback {
    /// The packet status chunks of the deltas (§3.1.3, §3.1.4).
    ///
    /// At each place the chunk that reaches furthest is taken: a run, 14 statuses of one bit, or 7 of two.
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

    /// Bytes of the whole packet as it is written.
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

    /// How many statuses from `start` on one-bit symbols can say, at most 14.
    private func oneBitReach(at start: Int) -> Int {
        let limit = min(deltas.count, start + 14)
        var end = start
        while end < limit, Self.symbol(of: deltas[end]) != .largeDelta { end += 1 }
        return end - start
    }

    /// The symbols from `start` on, the first in the highest of 14 bits, zeros after the last.
    private func vector(at start: Int, count: Int, width: Int) -> UInt16 {
        var bits: UInt16 = 0
        for index in 0..<count {
            bits |= Self.symbol(of: deltas[start + index]).rawValue << UInt16(14 - width * (index + 1))
        }
        return bits
    }
}
