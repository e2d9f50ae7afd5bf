internal import Media

/// Writes a VP8 frame that holds nothing but motion vectors: it shows the picture before, a part of it moved.
///
/// libvpx finds in real time what moved by some sixteen rows, and codes a page anew that scrolled farther. This frame
/// says it in some hundred bytes, whatever the distance. It leaves everything as it was that later frames build on, but
/// for the last picture and what is told: no probability is kept (RFC 6386 §9.11), no segment and no filter changes.
enum ScrollFrame {
    /// Of two, the one that a decision is written with that comes out the same each time.
    private static let surelyFalse: UInt8 = 255
    private static let surelyTrue: UInt8 = 1
    /// Of a mode, by how much of what is around has no vector, or this one (RFC 6386 §16.3): above and left count two each,
    /// between them one.
    private static let isZero: [UInt8] = [7, 14, 135, 60, 159, 234]
    private static let isNearest: [UInt8] = [1, 18, 64, 56, 134, 188]
    /// Nothing around has another vector, nor is any macroblock split.
    private static let isNear: UInt8 = 1
    private static let isNew: UInt8 = 143

    /// The frame; `quantizer`, 0 to 127, is only told, since nothing is quantized. The scroll has to be expressible.
    /// `updates` says what the frame becomes beside the last picture.
    static func data(_ scroll: Scroll, quantizer: Int, updates: ReferenceUpdates) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(4096)
        bytes.append(contentsOf: [0, 0, 0])
        var encoder = BooleanEncoder(after: bytes)
        let vector = MotionVectorCode(rows: scroll.rows)
        writeHeader(quantizer: quantizer, updates: updates, to: &encoder)
        vector.writeProbabilities(to: &encoder)
        writeMacroblocks(scroll, vector: vector, to: &encoder)
        bytes = encoder.finish()
        // RFC 6386 §9.1: a frame between key frames, version 0, shown; then the first partition's length.
        let tag = 1 | 1 << 4 | (bytes.count - 3) << 5
        for index in 0..<3 { bytes[index] = UInt8(truncatingIfNeeded: tag >> (index * 8)) }
        // The partition of coefficients, of which there are none. Some decoders refuse an empty one.
        bytes.append(contentsOf: [0, 0, 0, 0])
        return bytes
    }

    /// RFC 6386 §9.3 to §9.11, §19.2.
    private static func writeHeader(
        quantizer: Int, updates: ReferenceUpdates, to encoder: inout BooleanEncoder
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
        // Macroblocks without coefficients say so, and all are.
        encoder.writeLiteral(1, bits: 1)
        encoder.writeLiteral(Int(surelyTrue), bits: 8)
        // None is coded by itself, all build on the last picture, none on golden.
        encoder.writeLiteral(Int(surelyTrue), bits: 8)
        encoder.writeLiteral(Int(surelyFalse), bits: 8)
        encoder.writeLiteral(128, bits: 8)
        // The probabilities of modes that nothing here has.
        encoder.writeLiteral(0, bits: 2)
    }

    /// RFC 6386 §16.3, where all vectors are zero or one other: the nearest is that one wherever it is around.
    private static func writeMacroblocks(
        _ scroll: Scroll, vector: MotionVectorCode, to encoder: inout BooleanEncoder
    ) {
        let (columns, rows) = scroll.extent
        scroll.moved.withUnsafeBufferPointer { moved in
            for row in 0..<rows {
                for column in 0..<columns {
                    let index = row * columns + column
                    // How much weight is around, and how much of it moved. What is outside has none.
                    var weight = 0
                    var movedWeight = 0
                    if row > 0 {
                        weight += 2
                        if moved[index - columns] != 0 { movedWeight += 2 }
                    }
                    if column > 0 {
                        weight += 2
                        if moved[index - 1] != 0 { movedWeight += 2 }
                    }
                    if row > 0, column > 0 {
                        weight += 1
                        if moved[index - columns - 1] != 0 { movedWeight += 1 }
                    }
                    encoder.write(true, surelyTrue)
                    encoder.write(true, surelyTrue)
                    encoder.write(false, surelyFalse)
                    let moves = moved[index] != 0
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
    }
}
