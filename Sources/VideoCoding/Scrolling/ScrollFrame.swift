internal import Media

/// Writes a VP8 frame that holds nothing but motion vectors: it shows the picture before, a part of it moved.
///
/// libvpx finds in real time what moved by some sixteen rows, and codes a page anew that scrolled farther. This frame
/// says it in some hundred bytes, whatever the distance. It leaves everything as it was that later frames build on, but
/// for the last picture and what is told: no probability is kept (RFC 6386 §9.11), no segment and no filter changes.
enum ScrollFrame {
    /// Of two, the one that a decision is written with that comes out the same each time.
    private static let surelyFalse = InterFrameWriter.surelyFalse
    private static let surelyTrue = InterFrameWriter.surelyTrue
    /// Of a mode, by how much of what is around has no vector, or this one (RFC 6386 §16.3): above and left count two each,
    /// between them one.
    static let isZero: [UInt8] = [7, 14, 135, 60, 159, 234]
    private static let isNearest: [UInt8] = [1, 18, 64, 56, 134, 188]
    /// Nothing around has another vector, nor is any macroblock split.
    private static let isNear: UInt8 = 1
    private static let isNew: UInt8 = 143

    /// The frame; `quantizer`, 0 to 127, is only told, since nothing is quantized. The scroll has to be expressible.
    /// `updates` says what the frame becomes beside the last picture.
    static func data(_ scroll: Scroll, quantizer: Int, updates: ReferenceUpdates) -> [UInt8] {
        var encoder = InterFrameWriter.begin()
        let vector = MotionVectorCode(rows: scroll.rows)
        InterFrameWriter.writeHeader(
            quantizer: quantizer, updates: updates, skipProbability: surelyTrue, to: &encoder)
        vector.writeProbabilities(to: &encoder)
        writeMacroblocks(scroll, vector: vector, to: &encoder)
        // Some decoders refuse an empty partition of coefficients.
        return InterFrameWriter.finish(encoder, coefficients: [0, 0, 0, 0])
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
