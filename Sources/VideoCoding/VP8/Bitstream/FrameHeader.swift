/// The parts of a frame's header that affect later frames (RFC 6386 §9, §19.2).
struct FrameHeader {
    let isKeyFrame: Bool
    /// The reference frames that the frame updates, in addition to the last frame.
    let updates: ReferenceUpdates
    /// Whether its probabilities stay valid for later frames.
    let keepsProbabilities: Bool
    /// The coefficient probabilities that it changes: index and value.
    private(set) var coefficientUpdates: [(index: Int, value: UInt8)] = []

    /// Parses the header of a frame; nil if it ends early.
    init?(frame: [UInt8]) {
        isKeyFrame = frame.first.map { $0 & 1 == 0 } ?? false
        var decoder = BooleanDecoder(frame, from: isKeyFrame ? 10 : 3)
        // Color space and clamping are skipped.
        if isKeyFrame { decoder.skip(bits: 2) }
        if decoder.readFlag() { Self.skipSegmentation(&decoder) }
        // The loop filter's type, level and sharpness are skipped.
        decoder.skip(bits: 1 + 6 + 3)
        if decoder.readFlag(), decoder.readFlag() {
            for _ in 0..<8 { decoder.skipOptional(bits: 6 + 1) }
        }
        // Partitions and quantizer are skipped.
        decoder.skip(bits: 2 + 7)
        for _ in 0..<5 { decoder.skipOptional(bits: 4 + 1) }
        if isKeyFrame {
            updates = .all
            keepsProbabilities = decoder.readFlag()
        } else {
            let (golden, alternate) = (decoder.readFlag(), decoder.readFlag())
            updates = ReferenceUpdates(golden: golden, alternate: alternate)
            // The sources of copies to the other references, and their sign biases, are skipped.
            if !golden { decoder.skip(bits: 2) }
            if !alternate { decoder.skip(bits: 2) }
            decoder.skip(bits: 2)
            keepsProbabilities = decoder.readFlag()
            // Whether it updates the last frame is skipped.
            decoder.skip(bits: 1)
        }
        for (index, probability) in CoefficientUpdateProbabilities.values.enumerated()
        where decoder.read(probability) {
            coefficientUpdates.append((index, UInt8(decoder.readLiteral(bits: 8))))
        }
        guard decoder.isWithinData else { return nil }
    }

    /// Skips the segmentation (RFC 6386 §9.3).
    private static func skipSegmentation(_ decoder: inout BooleanDecoder) {
        let (updatesMap, updatesData) = (decoder.readFlag(), decoder.readFlag())
        if updatesData {
            decoder.skip(bits: 1)
            for bits in [7, 6] {
                for _ in 0..<4 { decoder.skipOptional(bits: bits + 1) }
            }
        }
        if updatesMap {
            for _ in 0..<3 { decoder.skipOptional(bits: 8) }
        }
    }
}
