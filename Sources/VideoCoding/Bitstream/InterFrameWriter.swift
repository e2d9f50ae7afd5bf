internal import RTCShareMedia

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

    /// What a frame says before its macroblocks.
    struct Header {
        let quantizer: Int
        /// What the frame becomes beside the last picture.
        let updates: ReferenceUpdates
        /// Whether the probabilities that it changes hold for later frames too.
        var keepsProbabilities = false
        /// Probabilities of coefficients that hold for this frame: place and value.
        var coefficientUpdates: [(index: Int, value: UInt8)] = []
        /// How likely, of 256, a macroblock has coefficients.
        let skipProbability: UInt8
        /// How likely, of 256, a macroblock is coded by itself.
        var interProbability = surelyTrue
    }

    /// The header up to the probabilities of modes. No segment and no filter changes; macroblocks that have no coefficients
    /// say so.
    static func write(_ header: Header, to encoder: inout BooleanEncoder) {
        // No segments; the loop filter's type, level and sharpness, with nothing to filter; no changes to it by mode.
        encoder.writeLiteral(0, bits: 1 + 1 + 6 + 3 + 1)
        // One partition of coefficients.
        encoder.writeLiteral(0, bits: 2)
        encoder.writeLiteral(header.quantizer, bits: 7)
        // No differences from it.
        encoder.writeLiteral(0, bits: 5)
        // Golden and alternate reference: replaced or not, else copied from nowhere, and neither of the other sign.
        let updates = header.updates
        encoder.writeLiteral(updates.golden ? 1 : 0, bits: 1)
        encoder.writeLiteral(updates.alternate ? 1 : 0, bits: 1)
        if !updates.golden { encoder.writeLiteral(0, bits: 2) }
        if !updates.alternate { encoder.writeLiteral(0, bits: 2) }
        encoder.writeLiteral(0, bits: 2)
        encoder.writeLiteral(header.keepsProbabilities ? 1 : 0, bits: 1)
        // The frame is the last picture to the next.
        encoder.writeLiteral(1, bits: 1)
        var pending = header.coefficientUpdates[...]
        for (index, probability) in CoefficientUpdateProbabilities.values.enumerated() {
            let update = pending.first.flatMap { $0.index == index ? $0 : nil }
            encoder.write(update != nil, probability)
            guard let update else { continue }
            encoder.writeLiteral(Int(update.value), bits: 8)
            pending = pending.dropFirst()
        }
        encoder.writeLiteral(1, bits: 1)
        encoder.writeLiteral(Int(header.skipProbability), bits: 8)
        // Which are coded by themselves; the others build on the last picture, none on golden.
        encoder.writeLiteral(Int(header.interProbability), bits: 8)
        encoder.writeLiteral(Int(surelyFalse), bits: 8)
        encoder.writeLiteral(128, bits: 8)
    }

    /// A frame that shows the picture before, and has later frames' coefficients go by these probabilities.
    static func frame(of size: PixelSize, keeping probabilities: CoefficientProbabilities) -> [UInt8] {
        var header = Header(
            quantizer: 0, updates: ReferenceUpdates(golden: false, alternate: false), skipProbability: surelyTrue)
        header.keepsProbabilities = true
        header.coefficientUpdates = probabilities.values.enumerated().map { (index: $0.offset, value: $0.element) }
        var encoder = begin()
        write(header, to: &encoder)
        PredictionModes(size: size, scroll: nil).write(after: header, to: &encoder)
        return finish(encoder, coefficients: emptyPartition)
    }

    /// Coefficients of no macroblock. Some decoders refuse an empty partition.
    static let emptyPartition: [UInt8] = [0, 0, 0, 0]

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
