internal import Glibc
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
        // Four steps halve the size.
        motionScale: .init(weights: (0...51).map { pow(2, Double(21 - $0) / 4) }, usualComplexity: 23),
        coarseness: QuantizerRange.interpolated([
            (0, 0), (4, 0), (14, 5), (21, 15), (27, 29), (34, 60), (40, 95), (42, 106), (51, 127),
        ]).map { Int($0.rounded()) },
        finestKeyFrame: 21, finestChange: 18, passes: [32, 24, 18, 11, 2], codesPagesAsKeyFrames: true)

    private let coder: H264Coder
    private let decoder: H264Decoder
    private var repetitions = H264Repetitions()
    /// The configuration from the next key frame on.
    private var wanted: H264Coder.Configuration
    /// The number of latest frames that OpenH264 made key frames by its own choice. It does so while most of a screen
    /// changes, also if that moves as a whole, and predicts such content better as a video.
    private var chosenKeyFrames = 0
    private static let mostChosenKeyFrames = 2
    /// Whether the next frame is the first of an encoder.
    private var isFirst = true
    /// Whether the last frame made content finer that had come to rest.
    private var isResting = false

    init(size: PixelSize, hint: ContentHint) throws(VideoCodingError) {
        wanted = H264Coder.Configuration(size: size, hint: hint == .motion ? .motion : .detail)
        coder = try H264Coder(wanted)
        decoder = try H264Decoder(largestSize: PixelSize(width: 8704, height: 8704))
    }

    func reconfigure(size: PixelSize, hint: ContentHint) throws(VideoCodingError) -> Bool {
        // Only whether it is motion changes anything. At rest, a key frame delays nothing, and text is sharper as a screen.
        wanted = H264Coder.Configuration(size: size, hint: hint == .motion ? .motion : .detail)
        let isScreenAgain = isResting && wanted != coder.configuration && wanted.hint == .detail
        guard wanted.size != coder.configuration.size || isScreenAgain else { return false }
        try reconfigure(wanted)
        return true
    }

    private func reconfigure(_ configuration: H264Coder.Configuration) throws(VideoCodingError) {
        guard configuration != coder.configuration else { return }
        try coder.reconfigure(configuration)
        isFirst = true
    }

    func encode(
        replacing shown: I420Picture, quantizer: Int, asKeyFrame: Bool, keepsLast: Bool, refines: Bool,
        isNatural: Bool
    ) throws(VideoCodingError) -> CodedFrame? {
        // OpenH264 can't change its kind of content while it runs, and a key frame for a video costs more than it gains: the
        // next one that is needed anyway adopts the hint, or that which OpenH264 would choose.
        if asKeyFrame {
            try reconfigure(wanted)
        } else if chosenKeyFrames == Self.mostChosenKeyFrames || chosenKeyFrames > 0 && wanted.hint == .motion {
            try reconfigure(H264Coder.Configuration(size: wanted.size, hint: .motion))
        }
        guard let coded = try coder.encode(shown, quantizer: quantizer, asKeyFrame: asKeyFrame) else { return nil }
        // With another quantizer, it is one that the coder needed.
        let isChosen = coded.isKeyFrame && !asKeyFrame && !isFirst && coded.quantizer == quantizer
        chosenKeyFrames = isChosen ? chosenKeyFrames + 1 : 0
        (isFirst, isResting) = (false, refines)
        let data = try repetitions.following(coded)
        guard try decoder.decode(data, onto: shown) else {
            throw .codecFailed(library: "OpenH264", operation: "decoding its own frame", reason: "it shows none")
        }
        return CodedFrame(
            data: data, isKeyFrame: coded.isKeyFrame, quantizer: coded.quantizer,
            replacement: coded.quantizer == quantizer ? nil : coded.quantizer)
    }

    func repetition(of shown: I420Picture) -> CodedFrame? {
        repetitions.next().map { CodedFrame(data: $0, isKeyFrame: false, quantizer: 26) }
    }
}
