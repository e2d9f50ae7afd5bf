internal import Glibc
internal import RTCShareMedia
internal import RTCShareRTP

extension AV1Coder: FrameCoder {
    static var format: any VideoPayloadFormat { .av1 }
    static var keepsFrames: Bool { true }
    static var largestScroll: Int { AV1PartialFrame.largestDistance }

    /// The quantizers of libaom's configuration, with the sizes of a page of text relative to that at 30. libaom skips
    /// smaller steps than those between the passes.
    static let range = QuantizerRange(
        scale: .init(
            weights: QuantizerRange.interpolated([
                (0, 4), (1, 4), (2, 3.2), (10, 1.9), (20, 1.16), (30, 1), (40, 0.86), (50, 0.71), (55, 0.6), (57, 0.54),
                (60, 0.43), (63, 0.3),
            ]), usualComplexity: 11, pageRatio: 2, palettes: 0.15),
        // Eight steps halve the size.
        motionScale: .init(weights: (0...63).map { pow(2, Double(30 - $0) / 8) }, usualComplexity: 11),
        coarseness: QuantizerRange.interpolated([
            (0, 0), (1, 0), (2, 1), (10, 5), (30, 15), (43, 29), (53, 60), (60, 95), (62, 106), (63, 127),
        ]).map { Int($0.rounded()) },
        finestKeyFrame: 30, finestChange: 20, passes: [50, 36, 24, 10, 1])

    /// The number of processors from which a second thread halves the time of a frame.
    private static let leastProcessors = 4

    convenience init(size: PixelSize, hint: ContentHint) throws(VideoCodingError) {
        let threads = sysconf(Int32(_SC_NPROCESSORS_ONLN)) >= Self.leastProcessors ? 2 : 1
        try self.init(Configuration(size: size, hint: hint, threads: threads))
    }

    func reconfigure(size: PixelSize, hint: ContentHint) throws(VideoCodingError) -> Bool {
        // Only whether it is motion changes anything.
        let new = Configuration(size: size, hint: hint == .motion ? .motion : .detail, threads: configuration.threads)
        guard new != configuration else { return false }
        try reconfigure(new)
        return true
    }

    func encode(
        replacing shown: I420Picture, quantizer: Int, asKeyFrame: Bool, keepsLast: Bool, refines: Bool,
        isNatural: Bool
    ) throws(VideoCodingError) -> CodedFrame? {
        try encode(
            shown, quantizer: quantizer, asKeyFrame: asKeyFrame, keepsLast: keepsLast, refines: refines,
            isNatural: isNatural, shown: shown.samples
        ).map {
            CodedFrame(data: $0.data, isKeyFrame: $0.isKeyFrame, quantizer: $0.quantizer)
        }
    }
}
