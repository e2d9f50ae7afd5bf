internal import Glibc

/// Chooses the quantizer of a frame, so that it takes the available bits.
///
///     bits ≈ complexity · (natural · weight of the quantizer + flat · weight of palettes)        (``PictureActivity``)
///
/// In measurements, the complexity of text, videos and blurred pages hardly depends on the quantizer. So the estimate
/// for a first frame is good without a trial, and later ones are learned from earlier frames. libvpx's own control uses
/// the number of macroblocks, and must encode a page of text several times too large before it learns.
///
/// The ``BitLedger`` determines the available bits. Bits that no change used are for the next one, and later frames
/// save an excess.
struct QuantizerControl {
    /// The quantizers of a codec, from 0, with the sizes that content has at them.
    struct Scale: Sendable {
        /// The relative size of frames at each quantizer.
        let weights: [Double]
        /// The assumed complexity of a first frame.
        let usualComplexity: Double
        /// The ratio of the assumed complexity of a first new page to that of a key frame.
        var pageRatio = 1.0
        /// The relative size of macroblocks with few colors, at any quantizer; nil for a codec without palettes.
        var palettes: Double?
        /// The ratios of the least and of the largest complexity to the usual one.
        static let deviations = 4.0 / 15...4.0

        func size(of activity: PictureActivity, at quantizer: Int) -> Double {
            activity.natural * weights[quantizer] + activity.flat * (palettes ?? weights[quantizer])
        }
    }

    /// The minimum ratio of a frame's complexity to the previous one: suddenly simple content, such as an image that
    /// was visible a moment ago, does not stay so.
    private static let mostSimplification = 0.85
    /// The weight of a single frame in a sequence: some frames of a video happen to have motion that libvpx finds, and
    /// take a third of the bits of others.
    private static let weightOfOne = 0.25
    /// The fraction of missing bits that the next frame saves, and the minimum fraction of its share that remains.
    private static let saving = 0.25
    private static let leastShare = 0.3
    /// The maximum ratio of the sizes that content has with the quantizers of two frames in a sequence.
    private static let largestImprovement = 1.6
    /// The ratio of the sizes at two quantizers from which the coarser one is worth its loss.
    private static let leastSaving = 1.15
    /// The error of a video's scale for a screen, until it is known.
    private static let firstMotionError = 1.0
    /// The number of steps by which a frame that is coded again becomes finer.
    private static let refinement = 6

    /// The content to code.
    struct Picture {
        /// The kind of content. Each kind is learned separately.
        enum Kind: Hashable {
            case keyFrame
            /// A new page after an idle time, as an inter frame.
            case page
            /// A frame shortly after another.
            case following
            /// A blurred key frame or page, whose bits do not predict those of a sharp one.
            case blurred
            /// Unchanged content that becomes finer in a pass, after those before it.
            case refinement(pass: Int)
        }

        let kind: Kind
        let activity: PictureActivity
    }

    private let scale: Scale
    private let motionScale: Scale
    private var complexity: [Content: Double] = [:]
    /// Whether the content is a video.
    var isMotion = false
    /// The recent errors of what each scale predicted, as binary logarithms, where they differed: a film can be a part of a
    /// screen, or all of it without being declared as motion.
    private var errors = (screen: 0.0, motion: Self.firstMotionError)

    /// Content with a complexity of its own.
    private struct Content: Hashable {
        let kind: Picture.Kind
        let isMotion: Bool
    }

    /// Creates a control with the scale of a screen, and that of a video; nil for the same.
    init(_ scale: Scale, motion motionScale: Scale? = nil) {
        self.scale = scale
        self.motionScale = motionScale ?? scale
    }

    /// Whether a video's scale is that of the content.
    private func isMotion(_ kind: Picture.Kind) -> Bool {
        isMotion || kind == .following && errors.motion < errors.screen
    }

    /// A key frame of a video has the size of one of a screen.
    private func scale(of kind: Picture.Kind, isMotion: Bool) -> Scale {
        switch kind {
        case .page, .following, .refinement: isMotion ? motionScale : scale
        case .keyFrame, .blurred: scale
        }
    }

    /// Returns the bits for the next frame, whose own part is `share`: all available bits, or almost its share if fewer
    /// are available. Bits for a burst are only for pages: otherwise the first frames of a video would be much finer
    /// than the next ones.
    func allowance(share: Double, for kind: Picture.Kind, from ledger: BitLedger) -> Double {
        let credit = ledger.credit
        guard credit < share else {
            return kind == .following ? min(credit, max(ledger.usualCredit, share)) : credit
        }
        return max(share + (credit - share) * Self.saving, share * Self.leastShare)
    }

    /// Returns the quantizer at which the frame takes about `bits`, or with palettes hardly more than at the coarsest one.
    func quantizer(for picture: Picture, bits: Double, in limits: ClosedRange<Int>) -> Int {
        let hasPalettes = scale(of: picture.kind, isMotion: isMotion(picture.kind)).palettes != nil
        let least = hasPalettes ? self.bits(picture, at: limits.upperBound) * Self.leastSaving : 0
        let most = max(bits, least)
        return limits.first { self.bits(picture, at: $0) <= most } ?? limits.upperBound
    }

    /// Returns the bits of the frame at a quantizer.
    func bits(_ picture: Picture, at quantizer: Int) -> Double {
        bits(picture, at: quantizer, isMotion: isMotion(picture.kind))
    }

    private func bits(_ picture: Picture, at quantizer: Int, isMotion: Bool) -> Double {
        complexity(of: picture.kind, isMotion: isMotion)
            * scale(of: picture.kind, isMotion: isMotion).size(of: picture.activity, at: quantizer)
    }

    /// Returns the next finer quantizer for a frame that was coded with this one and has not changed since.
    static func finer(than quantizer: Int, in limits: ClosedRange<Int>) -> Int {
        min(max(quantizer - refinement, limits.lowerBound), limits.upperBound)
    }

    /// Returns a quantizer for a frame shortly after one with this quantizer: in a sequence, a single simple frame should
    /// not be much finer.
    func slightlyFiner(than quantizer: Int, notBelow finest: Int) -> Int {
        let weights = scale(of: .following, isMotion: isMotion(.following)).weights
        let limit = weights[quantizer] * Self.largestImprovement
        return max(weights.firstIndex { $0 <= limit } ?? quantizer, finest)
    }

    private func complexity(of kind: Picture.Kind, isMotion: Bool) -> Double {
        if let known = complexity[Content(kind: kind, isMotion: isMotion)] { return known }
        let scale = scale(of: kind, isMotion: isMotion)
        return scale.usualComplexity * (kind == .page ? scale.pageRatio : 1)
    }

    /// Records the bits of a frame.
    mutating func record(_ bits: Int, for picture: Picture, quantizer: Int) {
        guard picture.kind == .following, !isMotion else {
            return learn(bits, for: picture, quantizer: quantizer, isMotion: isMotion)
        }
        let bits = max(bits, 1)
        let (screen, motion) = (
            log2(Double(bits) / self.bits(picture, at: quantizer, isMotion: false)),
            log2(Double(bits) / self.bits(picture, at: quantizer, isMotion: true))
        )
        guard screen.isFinite, motion.isFinite else { return }
        let weight = min(abs(screen - motion), 1) * Self.weightOfOne
        errors.screen += (abs(screen) - errors.screen) * weight
        errors.motion += (abs(motion) - errors.motion) * weight
        learn(bits, for: picture, quantizer: quantizer, isMotion: false)
        learn(bits, for: picture, quantizer: quantizer, isMotion: true)
    }

    private mutating func learn(_ bits: Int, for picture: Picture, quantizer: Int, isMotion: Bool) {
        let expected = self.bits(picture, at: quantizer, isMotion: isMotion)
        guard expected > 0 else { return }
        let scale = scale(of: picture.kind, isMotion: isMotion)
        let known = complexity(of: picture.kind, isMotion: isMotion)
        let change = pow(Double(bits) / expected, picture.kind == .following ? Self.weightOfOne : 0.5)
        complexity[Content(kind: picture.kind, isMotion: isMotion)] = min(
            max(known * max(change, Self.mostSimplification), scale.usualComplexity * Scale.deviations.lowerBound),
            scale.usualComplexity * Scale.deviations.upperBound)
    }
}
