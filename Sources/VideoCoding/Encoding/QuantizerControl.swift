internal import Glibc

/// Chooses the quantizer of a frame, so that it takes the available bits.
///
///     bits ≈ complexity · activity · step^-0.7        (activity: ``PictureActivity``; step: the quantizer's)
///
/// In measurements, the complexity of text, videos and blurred pages is between 85 and 300 at any quantizer. So the
/// estimate for a first frame is good without a trial, and later ones are learned from earlier frames. libvpx's own
/// control uses the number of macroblocks, and must encode a page of text several times too large before it learns.
///
/// The ``BitLedger`` determines the available bits. Bits that no change used are for the next one, and later frames
/// save an excess.
struct QuantizerControl {
    /// The assumed complexity of a first frame.
    private static let usualComplexity = 150.0
    /// The range of complexities.
    private static let complexities = 40.0...600.0
    private static let exponent = 0.7
    /// The minimum ratio of a frame's complexity to the previous one: suddenly simple content, such as an image that
    /// was visible a moment ago, does not stay so.
    private static let mostSimplification = 0.85
    /// The weight of a single frame in a sequence: some frames of a video happen to have motion that libvpx finds, and
    /// take a third of the bits of others.
    private static let weightOfOne = 0.25
    /// The fraction of missing bits that the next frame saves, and the minimum fraction of its share that remains.
    private static let saving = 0.25
    private static let leastShare = 0.3
    /// The number of steps by which a frame that is coded again becomes finer.
    private static let refinement = 6

    /// The content to code.
    struct Picture {
        /// The kind of content. Each kind is learned separately.
        enum Kind: CaseIterable {
            case keyFrame
            /// A new page after an idle time, as an inter frame.
            case page
            /// A frame shortly after another.
            case following
            /// A blurred key frame or page, whose bits do not predict those of a sharp one.
            case blurred
        }

        let kind: Kind
        /// The ``PictureActivity`` of the content.
        let activity: Double
    }

    private var complexity = Dictionary(
        uniqueKeysWithValues: Picture.Kind.allCases.map { ($0, Self.usualComplexity) })

    /// Returns the bits for the next frame, whose own part is `share`: all available bits, or almost its share if fewer
    /// are available. Bits for a burst are only for pages: otherwise the first frames of a video would be much finer
    /// than the next ones.
    func allowance(share: Double, for kind: Picture.Kind, from ledger: BitLedger) -> Double {
        let credit = ledger.credit
        guard credit < share else { return kind == .following ? min(credit, max(ledger.usualCredit, share)) : credit }
        return max(share + (credit - share) * Self.saving, share * Self.leastShare)
    }

    /// Returns the quantizer, 0 to 63, at which the frame takes about `bits`.
    func quantizer(for picture: Picture, bits: Double, in limits: ClosedRange<Int>) -> Int {
        limits.first { self.bits(picture, at: $0) <= bits } ?? limits.upperBound
    }

    /// Returns the bits of the frame at a quantizer, 0 to 63.
    func bits(_ picture: Picture, at quantizer: Int) -> Double {
        complexity[picture.kind, default: Self.usualComplexity] * picture.activity * Self.factor(of: quantizer)
    }

    /// Returns the next finer quantizer for a frame that was coded with this one and has not changed since.
    static func finer(than quantizer: Int, in limits: ClosedRange<Int>) -> Int {
        min(max(quantizer - refinement, limits.lowerBound), limits.upperBound)
    }

    /// Records the bits of a frame.
    mutating func record(_ bits: Int, for picture: Picture, quantizer: Int) {
        let expected = picture.activity * Self.factor(of: quantizer)
        guard expected > 0 else { return }
        let known = complexity[picture.kind, default: Self.usualComplexity]
        let change = pow(Double(bits) / expected / known, picture.kind == .following ? Self.weightOfOne : 0.5)
        complexity[picture.kind] = min(
            max(known * max(change, Self.mostSimplification), Self.complexities.lowerBound),
            Self.complexities.upperBound)
    }

    private static func factor(of quantizer: Int) -> Double {
        pow(Double(Quantizer.step(of: indices[quantizer])), -exponent)
    }

    /// Returns the quantizer of libvpx's configuration for an index in a frame's header.
    static func quantizer(ofIndex index: Int) -> Int {
        indices.lastIndex { $0 <= index } ?? 0
    }

    /// The index in a frame's header (RFC 6386 §9.6), 0 to 127, of each quantizer of libvpx's configuration, 0 to 63.
    static let indices = [
        0, 1, 2, 3, 4, 5, 7, 8, 9, 10, 12, 13, 15, 17, 18, 19, 20, 21, 23, 24, 25, 26, 27, 28, 29, 30, 31, 33, 35, 37,
        39, 41, 43, 45, 47, 49, 51, 53, 55, 57, 59, 61, 64, 67, 70, 73, 76, 79, 82, 85, 88, 91, 94, 97, 100, 103, 106,
        109, 112, 115, 118, 121, 124, 127,
    ]
}
