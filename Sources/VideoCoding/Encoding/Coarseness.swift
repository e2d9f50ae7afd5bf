internal import Glibc

/// The coarseness of encoded content on a scale that all codecs share, 0 (finest) to 127: the quantizer index of VP8 at
/// which a page of text has the same signal-to-noise ratio.
enum Coarseness {
    /// The coarseness up to which no further improvement is visible.
    static let fine = 15
    /// The coarsest at which text of a usual size is readable.
    static let readable = 106
    /// The coarsest.
    static let coarsest = 127

    /// Returns the ratio of the bits of a frame at one coarseness to those at another: about proportional to the
    /// quantizer's step to the power of -0.7, as measured with text and with noise.
    static func bitRatio(at coarseness: Int, to other: Int) -> Double {
        pow(Double(Quantizer.step(of: other)) / Double(Quantizer.step(of: coarseness)), 0.7)
    }
}
