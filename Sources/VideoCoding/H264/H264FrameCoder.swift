internal import RTCShareMedia
internal import RTCShareRTP

/// OpenH264's encoder and its decoder, which returns the image that viewers have.
final class H264FrameCoder: FrameCoder {
    static var format: any VideoPayloadFormat { .h264 }

    /// The quantizers of H.264, with the sizes of a page of text relative to that at 21.
    static let range = QuantizerRange(
        scale: .init(
            weights: QuantizerRange.interpolated([
                (0, 2.6), (10, 1.7), (21, 1), (31, 0.57), (36, 0.4), (40, 0.3), (51, 0.12),
            ]), usualComplexity: 23),
        coarseness: QuantizerRange.interpolated([
            (0, 0), (4, 0), (14, 5), (21, 15), (27, 29), (34, 60), (40, 95), (42, 106), (51, 127),
        ]).map { Int($0.rounded()) },
        finestKeyFrame: 21, finestChange: 18, passes: [32, 24, 18, 11, 2], codesPagesAsKeyFrames: true)

    private let coder: H264Coder
    private var decoder: H264Decoder

    init(size: PixelSize, hint: ContentHint) throws(VideoCodingError) {
        coder = try H264Coder(.init(size: size, hint: hint))
        decoder = try H264Decoder(largestSize: PixelSize(width: 8704, height: 8704))
    }

    func reconfigure(size: PixelSize, hint: ContentHint) throws(VideoCodingError) -> Bool {
        // Only whether it is motion changes anything.
        let new = H264Coder.Configuration(size: size, hint: hint == .motion ? .motion : .detail)
        guard new != coder.configuration else { return false }
        try coder.reconfigure(new)
        return true
    }

    func encode(
        replacing shown: I420Picture, quantizer: Int, asKeyFrame: Bool, keepsLast: Bool, effort: FrameEffort
    ) throws(VideoCodingError) -> CodedFrame? {
        guard let coded = try coder.encode(shown, quantizer: quantizer, asKeyFrame: asKeyFrame) else { return nil }
        guard let image = try decoder.decode(coded.data) else {
            throw .codecFailed(library: "OpenH264", operation: "decoding its own frame", reason: "it shows none")
        }
        let (size, samples) = (shown.size, shown.samples)
        try image.withPlanePointers { (planes) throws(VideoCodingError) in
            try planes.convert(PixelRectangle(x: 0, y: 0, size: size), .i420, to: samples)
        }
        return CodedFrame(data: coded.data, isKeyFrame: coded.isKeyFrame, quantizer: coded.quantizer)
    }
}
