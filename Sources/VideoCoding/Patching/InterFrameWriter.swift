/// Writes what the frames have in common that are not libvpx's: they build on the last picture alone, and leave everything
/// as it was that later frames build on but for that picture (RFC 6386 §9, §19.2).
enum InterFrameWriter {
    /// Of 256ths, the one that a decision is written with that comes out the same each time.
    static let surelyFalse: UInt8 = 255
    static let surelyTrue: UInt8 = 1

    /// The first partition, of which nothing is written yet.
    static func begin() -> BooleanEncoder {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(4096)
        // The frame's tag, which is known last.
        bytes.append(contentsOf: [0, 0, 0])
        return BooleanEncoder(after: bytes)
    }

    /// The header up to the probabilities of modes. No probability is kept, no segment and no filter changes; macroblocks
    /// that have no coefficients say so, whose probability is `skipProbability` of 256 to have some. `updates` says what the
    /// frame becomes beside the last picture.
    static func writeHeader(
        quantizer: Int, updates: ReferenceUpdates, skipProbability: UInt8, to encoder: inout BooleanEncoder
    ) {
        // No segments; the loop filter's type, level and sharpness, with nothing to filter; no changes to it by mode.
        encoder.writeLiteral(0, bits: 1 + 1 + 6 + 3 + 1)
        // One partition of coefficients.
        encoder.writeLiteral(0, bits: 2)
        encoder.writeLiteral(quantizer, bits: 7)
        // No differences from it.
        encoder.writeLiteral(0, bits: 5)
        // Golden and alternate reference: replaced or not, else copied from nowhere, and neither of the other sign.
        encoder.writeLiteral(updates.golden ? 1 : 0, bits: 1)
        encoder.writeLiteral(updates.alternate ? 1 : 0, bits: 1)
        if !updates.golden { encoder.writeLiteral(0, bits: 2) }
        if !updates.alternate { encoder.writeLiteral(0, bits: 2) }
        encoder.writeLiteral(0, bits: 2)
        // Probabilities hold for this frame alone; the frame is the last picture to the next.
        encoder.writeLiteral(0b01, bits: 2)
        for probability in CoefficientUpdateProbabilities.values { encoder.write(false, probability) }
        encoder.writeLiteral(1, bits: 1)
        encoder.writeLiteral(Int(skipProbability), bits: 8)
        // None is coded by itself, all build on the last picture, none on golden.
        encoder.writeLiteral(Int(surelyTrue), bits: 8)
        encoder.writeLiteral(Int(surelyFalse), bits: 8)
        encoder.writeLiteral(128, bits: 8)
        // The probabilities of modes that nothing here has.
        encoder.writeLiteral(0, bits: 2)
    }

    /// Of a mode, by how much of what is around has no vector, or the same one (RFC 6386 §16.3): above and left count two
    /// each, between them one.
    private static let isZero: [UInt8] = [7, 14, 135, 60, 159, 234]
    private static let isNearest: [UInt8] = [1, 18, 64, 56, 134, 188]
    /// Nothing around has another vector, nor is any macroblock split.
    private static let isNear: UInt8 = 1
    private static let isNew: UInt8 = 143

    /// The probabilities of vectors, and the modes of all macroblocks (RFC 6386 §16.3): those of `coded` have coefficients;
    /// vectors are zero or that of the scroll, so that the nearest is that one wherever it is around.
    static func writeModes(
        _ coded: MacroblockMap, moved scroll: Scroll?, skipProbability: UInt8, to encoder: inout BooleanEncoder
    ) {
        let vector = MotionVectorCode(rows: scroll?.rows ?? 0)
        if scroll == nil {
            MotionVectorCode.writeNoProbabilities(to: &encoder)
        } else {
            vector.writeProbabilities(to: &encoder)
        }
        let columns = coded.columns
        for row in 0..<coded.rows {
            for column in 0..<columns {
                let index = row * columns + column
                // How much weight is around, and how much of it moved. What is outside has none.
                var (weight, movedWeight) = (0, 0)
                func look(_ neighbour: Int, _ share: Int) {
                    weight += share
                    if let scroll, scroll.moved[neighbour] != 0 { movedWeight += share }
                }
                if row > 0 { look(index - columns, 2) }
                if column > 0 { look(index - 1, 2) }
                if row > 0, column > 0 { look(index - columns - 1, 1) }
                encoder.write(coded.cells[index] == 0, skipProbability)
                encoder.write(true, surelyTrue)
                encoder.write(false, surelyFalse)
                let moves = scroll.map { $0.moved[index] != 0 } ?? false
                encoder.write(moves, isZero[weight - movedWeight])
                guard moves else { continue }
                // What comes from inside of the picture is never clamped.
                encoder.write(movedWeight == 0, isNearest[movedWeight])
                guard movedWeight == 0 else { continue }
                encoder.write(true, isNear)
                encoder.write(false, isNew)
                vector.write(to: &encoder)
            }
        }
    }

    /// The frame.
    static func finish(_ encoder: consuming BooleanEncoder, coefficients: [UInt8]) -> [UInt8] {
        var bytes = encoder.finish()
        // RFC 6386 §9.1: a frame between key frames, version 0, shown; then the first partition's length.
        let tag = 1 | 1 << 4 | (bytes.count - 3) << 5
        for index in 0..<3 { bytes[index] = UInt8(truncatingIfNeeded: tag >> (index * 8)) }
        bytes.append(contentsOf: coefficients)
        return bytes
    }
}
