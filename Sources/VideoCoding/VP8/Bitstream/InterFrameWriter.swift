internal import RTCShareMedia

/// Writes the common parts of inter frames that libvpx did not encode. They refer only to the last frame, and change
/// nothing for later frames except the last frame (RFC 6386 §9, §19.2).
enum InterFrameWriter {
    /// The probability, in 256ths, of a value that is always false.
    static let surelyFalse: UInt8 = 255
    static let surelyTrue: UInt8 = 1

    /// Returns an encoder of the first partition, with room for the frame tag.
    static func begin() -> BooleanEncoder {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(4096)
        // The frame tag is written last.
        bytes.append(contentsOf: [0, 0, 0])
        return BooleanEncoder(after: bytes)
    }

    /// The header of a frame before its macroblocks.
    struct Header {
        let quantizer: Int
        /// The reference frames that the frame updates, in addition to the last frame.
        let updates: ReferenceUpdates
        /// Whether the changed probabilities stay valid for later frames.
        var keepsProbabilities = false
        /// The changed coefficient probabilities: index and value.
        var coefficientUpdates: [(index: Int, value: UInt8)] = []
        /// The probability, in 256ths, that a macroblock has coefficients.
        let skipProbability: UInt8
        /// The probability, in 256ths, that a macroblock is intra-coded.
        var interProbability = surelyTrue
    }

    /// Writes the header up to the probabilities of modes. Segments and filter do not change, and macroblocks without
    /// coefficients are marked.
    static func write(_ header: Header, to encoder: inout BooleanEncoder) {
        // There are no segments, no loop filter (type, level and sharpness are zero), and no filter changes by mode.
        encoder.writeLiteral(0, bits: 1 + 1 + 6 + 3 + 1)
        // There is one partition of coefficients.
        encoder.writeLiteral(0, bits: 2)
        encoder.writeLiteral(header.quantizer, bits: 7)
        // There are no quantizer deltas.
        encoder.writeLiteral(0, bits: 5)
        // The golden and altref frames are updated or not, not copied, and have no sign bias.
        let updates = header.updates
        encoder.writeLiteral(updates.golden ? 1 : 0, bits: 1)
        encoder.writeLiteral(updates.alternate ? 1 : 0, bits: 1)
        if !updates.golden { encoder.writeLiteral(0, bits: 2) }
        if !updates.alternate { encoder.writeLiteral(0, bits: 2) }
        encoder.writeLiteral(0, bits: 2)
        encoder.writeLiteral(header.keepsProbabilities ? 1 : 0, bits: 1)
        // The frame updates the last frame.
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
        // The probabilities of intra coding, and of references: all inter macroblocks refer to the last frame.
        encoder.writeLiteral(Int(header.interProbability), bits: 8)
        encoder.writeLiteral(Int(surelyFalse), bits: 8)
        encoder.writeLiteral(128, bits: 8)
    }

    /// Returns a frame that repeats the last frame, and that sets the coefficient probabilities of later frames.
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

    /// The partition of no coefficients. Some decoders reject an empty partition.
    static let emptyPartition: [UInt8] = [0, 0, 0, 0]

    /// Returns the whole frame.
    static func finish(_ encoder: consuming BooleanEncoder, coefficients: [UInt8]) -> [UInt8] {
        var bytes = encoder.finish()
        // RFC 6386 §9.1: the tag of an inter frame, version 0, shown; then the first partition's length.
        let tag = 1 | 1 << 4 | (bytes.count - 3) << 5
        for index in 0..<3 { bytes[index] = UInt8(truncatingIfNeeded: tag >> (index * 8)) }
        bytes.append(contentsOf: coefficients)
        return bytes
    }
}
