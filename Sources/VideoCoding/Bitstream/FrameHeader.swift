/// What a frame's header says of what it leaves for later frames (RFC 6386 §9, §19.2).
struct FrameHeader {
    let isKeyFrame: Bool
    /// What it becomes beside the last picture.
    let updates: ReferenceUpdates
    /// Whether its probabilities hold on.
    let keepsProbabilities: Bool
    /// The probabilities of coefficients that it changes: place and value.
    private(set) var coefficientUpdates: [(index: Int, value: UInt8)] = []

    /// Reads the header of a frame; nil where it ends early.
    init?(frame: [UInt8]) {
        isKeyFrame = frame.first.map { $0 & 1 == 0 } ?? false
        var decoder = BooleanDecoder(frame, from: isKeyFrame ? 10 : 3)
        // Colour space and clamping.
        if isKeyFrame { decoder.skip(bits: 2) }
        if decoder.readFlag() { Self.skipSegmentation(&decoder) }
        // The loop filter's type, level and sharpness.
        decoder.skip(bits: 1 + 6 + 3)
        if decoder.readFlag(), decoder.readFlag() {
            for _ in 0..<8 { decoder.skipOptional(bits: 6 + 1) }
        }
        // Partitions and quantizer.
        decoder.skip(bits: 2 + 7)
        for _ in 0..<5 { decoder.skipOptional(bits: 4 + 1) }
        if isKeyFrame {
            updates = .all
            keepsProbabilities = decoder.readFlag()
        } else {
            let (golden, alternate) = (decoder.readFlag(), decoder.readFlag())
            updates = ReferenceUpdates(golden: golden, alternate: alternate)
            // From where they are copied otherwise, and their signs.
            if !golden { decoder.skip(bits: 2) }
            if !alternate { decoder.skip(bits: 2) }
            decoder.skip(bits: 2)
            keepsProbabilities = decoder.readFlag()
            // Whether it becomes the last picture.
            decoder.skip(bits: 1)
        }
        for (index, probability) in CoefficientUpdateProbabilities.values.enumerated()
        where decoder.read(probability) {
            coefficientUpdates.append((index, UInt8(decoder.readLiteral(bits: 8))))
        }
        guard decoder.isWithinData else { return nil }
    }

    /// RFC 6386 §9.3.
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
