internal import Glibc

/// Which quantizer a picture is coded with, so that it takes the bits that are there for it.
///
///     bits ≈ complexity · activity · step^-0.7        (activity: ``PictureActivity``; step: the quantizer's)
///
/// As measured, the complexity of text, films and blurred pages is between 85 and 300 at any quantizer: a first picture is
/// hit well without a try, and what follows is learnt from what came before. libvpx's own control goes by the number of
/// macroblocks, and has to see a page of text come out several times too large before it knows.
///
/// How many bits are there the ``BitLedger`` says. Those that no change used are for the next; those that were too many are
/// saved by what follows.
struct QuantizerControl {
    /// What is known of a first picture.
    private static let usualComplexity = 150.0
    /// No picture is taken for simpler or harder than this.
    private static let complexities = 40.0...600.0
    private static let exponent = 0.7
    /// What is suddenly simple, as a picture that was there a moment ago, does not stay so: by so much at most pictures are
    /// taken for simpler than the one before.
    private static let mostSimplification = 0.85
    /// What one of the pictures that follow each other counts: of a film some happen to move as libvpx finds it, and take a
    /// third of what others do.
    private static let weightOfOne = 0.25
    /// Of what is missing, the part that the next picture saves, and the least of its share that is left to it.
    private static let saving = 0.25
    private static let leastShare = 0.3
    /// By how many steps a picture that is coded again becomes finer.
    private static let refinement = 6

    /// What is to be coded.
    struct Picture {
        /// Each is learnt for itself.
        enum Kind: CaseIterable {
            case keyFrame
            /// Of a page that is new after a rest, as an inter frame.
            case page
            /// Of a picture shortly after another.
            case following
            /// A blurred key frame or page, which says nothing about the bits of a sharp one.
            case blurred
        }

        let kind: Kind
        /// ``PictureActivity`` of what is coded.
        let activity: Double
    }

    private var complexity = Dictionary(
        uniqueKeysWithValues: Picture.Kind.allCases.map { ($0, Self.usualComplexity) })

    /// Bits for the next picture, of which `share` is its own: all that are there, and where these are fewer, nearly its
    /// share. What leaves in a burst is for pages: the first pictures of a film would be far finer than those that follow.
    func allowance(share: Double, for kind: Picture.Kind, from ledger: BitLedger) -> Double {
        let credit = ledger.credit
        guard credit < share else { return kind == .following ? min(credit, max(ledger.usualCredit, share)) : credit }
        return max(share + (credit - share) * Self.saving, share * Self.leastShare)
    }

    /// The quantizer, 0 to 63, at which the picture takes about so many bits.
    func quantizer(for picture: Picture, bits: Double, in limits: ClosedRange<Int>) -> Int {
        limits.first { self.bits(picture, at: $0) <= bits } ?? limits.upperBound
    }

    /// The bits that the picture takes at a quantizer, 0 to 63.
    func bits(_ picture: Picture, at quantizer: Int) -> Double {
        complexity[picture.kind, default: Self.usualComplexity] * picture.activity * Self.factor(of: quantizer)
    }

    /// The next finer quantizer for a picture that was coded with this one and did not change since.
    static func finer(than quantizer: Int, in limits: ClosedRange<Int>) -> Int {
        min(max(quantizer - refinement, limits.lowerBound), limits.upperBound)
    }

    /// The picture took so many bits.
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

    /// The quantizer of this index of a frame's header, as libvpx's configuration counts them.
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
