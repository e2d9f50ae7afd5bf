internal import RTCShareMedia

/// How each macroblock of a frame is coded (RFC 6386 §16): as it stood before, moved as far as all that moves, or by itself as
/// the mean of what is beside it.
struct PredictionModes {
    /// What moves, which has one vector; all else stays.
    let scroll: Scroll?
    /// What has coefficients.
    var coded: MacroblockMap
    /// 1 for each that is coded by itself, as the mean of what is beside it; where there is none, no such bytes.
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

    /// The probabilities of the modes of what is coded by itself, which has but one: the mean.
    private static func writeIntraProbabilities(_ isUsed: Bool, to encoder: inout BooleanEncoder) {
        for count in [4, 3] {
            encoder.writeLiteral(isUsed ? 1 : 0, bits: 1)
            guard isUsed else { continue }
            for _ in 0..<count { encoder.writeLiteral(Int(InterFrameWriter.surelyFalse), bits: 8) }
        }
    }

    /// Of a mode, by how much of what is around has no vector, or the same one (RFC 6386 §16.3): above and left count two
    /// each, between them one.
    private static let isZero: [UInt8] = [7, 14, 135, 60, 159, 234]
    private static let isNearest: [UInt8] = [1, 18, 64, 56, 134, 188]
    /// Nothing around has another vector, nor is any macroblock split.
    private static let isNear: UInt8 = 1
    private static let isNew: UInt8 = 143

    /// Writes the probabilities of modes and vectors, and the modes of all macroblocks (RFC 6386 §16.3), after a frame's
    /// header: vectors are zero or that of the scroll, so that the nearest is that one wherever it is around.
    func write(after header: InterFrameWriter.Header, to encoder: inout BooleanEncoder) {
        let hasIntra = intraCount > 0
        Self.writeIntraProbabilities(hasIntra, to: &encoder)
        let vector = MotionVectorCode(rows: scroll?.rows ?? 0, columns: scroll?.columns ?? 0)
        if scroll == nil {
            MotionVectorCode.writeNoProbabilities(to: &encoder)
        } else {
            vector.writeProbabilities(to: &encoder)
        }
        // 0 where it stays, 1 where it moves, 2 where it is coded by itself; a row and a column of such stand around all.
        let (columns, rows) = (coded.columns, coded.rows)
        let width = columns + 1
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
                        encoder.write(coded[row * columns + column] == 0, header.skipProbability)
                        let kind = kinds[place]
                        encoder.write(kind != 2, header.interProbability)
                        guard kind != 2 else {
                            // The mean, of luma and of chroma.
                            encoder.write(false, InterFrameWriter.surelyFalse)
                            encoder.write(false, InterFrameWriter.surelyFalse)
                            continue
                        }
                        encoder.write(false, InterFrameWriter.surelyFalse)
                        // How much of what is around stays, and how much moved.
                        let (above, left) = (kinds[place - width], kinds[place - 1])
                        let between = kinds[place - width - 1]
                        let stays = (above == 0 ? 2 : 0) + (left == 0 ? 2 : 0) + (between == 0 ? 1 : 0)
                        encoder.write(kind == 1, Self.isZero[stays])
                        guard kind == 1 else { continue }
                        let moved = (above == 1 ? 2 : 0) + (left == 1 ? 2 : 0) + (between == 1 ? 1 : 0)
                        // What comes from inside of the picture is never clamped.
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
