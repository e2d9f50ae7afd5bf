internal import RTCShareMedia

/// The prediction mode of each macroblock of a frame (RFC 6386 §16): unchanged, moved by the frame's vector, or
/// intra-coded with DC prediction.
struct PredictionModes {
    /// The moved part, which has one vector. Everything else is unchanged.
    let scroll: Scroll?
    /// The macroblocks with coefficients.
    var coded: MacroblockMap
    /// The value 1 for each intra-coded macroblock; empty if there is none.
    private(set) var intra: [UInt8] = []
    private(set) var intraCount = 0

    init(size: PixelSize, scroll: Scroll?) {
        self.scroll = scroll
        coded = MacroblockMap(size: size)
    }

    mutating func insertIntra(_ index: Int) {
        if intra.isEmpty { intra = Array(repeating: 0, count: coded.cells.count) }
        intra[index] = 1
        intraCount += 1
    }

    // MARK: Writing

    /// Writes the probabilities of intra modes, of which only DC prediction is used.
    private static func writeIntraProbabilities(_ isUsed: Bool, to encoder: inout BooleanEncoder) {
        for count in [4, 3] {
            encoder.writeLiteral(isUsed ? 1 : 0, bits: 1)
            guard isUsed else { continue }
            for _ in 0..<count { encoder.writeLiteral(Int(InterFrameWriter.surelyFalse), bits: 8) }
        }
    }

    /// The probabilities of modes, by the weight of neighbors with no vector or with the same one (RFC 6386 §16.3):
    /// above and left weigh two each, above-left weighs one.
    private static let isZero: [UInt8] = [7, 14, 135, 60, 159, 234]
    private static let isNearest: [UInt8] = [1, 18, 64, 56, 134, 188]
    /// No neighbor has another vector, and no macroblock is split.
    private static let isNear: UInt8 = 1
    private static let isNew: UInt8 = 143

    /// Writes the probabilities of modes and vectors, and the modes of all macroblocks (RFC 6386 §16.3), after a
    /// frame's header. Vectors are zero or that of the scroll, so that the nearest one is that vector if any neighbor
    /// has it.
    func write(after header: InterFrameWriter.Header, to encoder: inout BooleanEncoder) {
        let hasIntra = intraCount > 0
        Self.writeIntraProbabilities(hasIntra, to: &encoder)
        let vector = MotionVectorCode(rows: scroll?.rows ?? 0, columns: scroll?.columns ?? 0)
        if scroll == nil {
            MotionVectorCode.writeNoProbabilities(to: &encoder)
        } else {
            vector.writeProbabilities(to: &encoder)
        }
        // 0 is unchanged, 1 is moved, 2 is intra-coded. A border of intra-coded macroblocks surrounds the frame.
        let (columns, rows) = (coded.columns, coded.rows)
        let width = columns + 1
        // Almost all macroblocks are unchanged, and so are their neighbors.
        let unchanged = BooleanEncoder.ValueGroup([
            (true, header.skipProbability), (true, header.interProbability), (false, InterFrameWriter.surelyFalse),
            (false, Self.isZero[5]),
        ])
        withUnsafeTemporaryAllocation(of: UInt8.self, capacity: width * (rows + 1)) { kinds in
            kinds.initialize(repeating: 2)
            for row in 0..<rows {
                for column in 0..<columns {
                    let index = row * columns + column
                    let moves = scroll.map { $0.moved[index] } ?? 0
                    kinds[(row + 1) * width + column + 1] = hasIntra && intra[index] != 0 ? 2 : moves != 0 ? 1 : 0
                }
            }
            coded.cells.withUnsafeBufferPointer { coded in
                for row in 0..<rows {
                    for column in 0..<columns {
                        let place = (row + 1) * width + column + 1
                        let kind = kinds[place]
                        let (above, left) = (kinds[place - width], kinds[place - 1])
                        let between = kinds[place - width - 1]
                        let isCoded = coded[row * columns + column] != 0
                        if kind | above | left | between == 0, !isCoded {
                            encoder.write(unchanged)
                            continue
                        }
                        encoder.write(!isCoded, header.skipProbability)
                        encoder.write(kind != 2, header.interProbability)
                        guard kind != 2 else {
                            // Luma and chroma use DC prediction.
                            encoder.write(false, InterFrameWriter.surelyFalse)
                            encoder.write(false, InterFrameWriter.surelyFalse)
                            continue
                        }
                        encoder.write(false, InterFrameWriter.surelyFalse)
                        // The weights of unchanged and of moved neighbors.
                        let stays = (above == 0 ? 2 : 0) + (left == 0 ? 2 : 0) + (between == 0 ? 1 : 0)
                        encoder.write(kind == 1, Self.isZero[stays])
                        guard kind == 1 else { continue }
                        let moved = (above == 1 ? 2 : 0) + (left == 1 ? 2 : 0) + (between == 1 ? 1 : 0)
                        // The source is within the frame, so that vectors are never clamped.
                        encoder.write(moved == 0, Self.isNearest[moved])
                        guard moved == 0 else { continue }
                        encoder.write(true, Self.isNear)
                        encoder.write(false, Self.isNew)
                        vector.write(to: &encoder)
                    }
                }
            }
        }
    }
}
