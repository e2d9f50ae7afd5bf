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

    /// The signal-to-noise ratios of luma in dB, the best first, and the coarseness of each.
    private static let ratios: [(ratio: Double, coarseness: Int)] = [
        (57, 0), (49, 5), (43.2, 15), (39.4, 29), (33.4, 60), (28, 95), (26.2, 106), (24, 127),
    ]

    /// Returns the signal-to-noise ratio of luma that content of a coarseness has.
    static func ratio(at coarseness: Int) -> Double {
        for (above, below) in zip(ratios, ratios.dropFirst()) where coarseness <= below.coarseness {
            let part = Double(coarseness - above.coarseness) / Double(below.coarseness - above.coarseness)
            return above.ratio + (below.ratio - above.ratio) * part
        }
        return ratios[ratios.count - 1].ratio
    }

    /// Returns the coarseness of content whose luma has this mean squared error.
    static func of(meanSquaredError: Double) -> Int {
        let ratio = meanSquaredError > 0 ? 10 * log10(255 * 255 / meanSquaredError) : ratios[0].ratio
        for (above, below) in zip(ratios, ratios.dropFirst()) where ratio >= below.ratio {
            let part = max(above.ratio - ratio, 0) / (above.ratio - below.ratio)
            return above.coarseness + Int((Double(below.coarseness - above.coarseness) * part).rounded())
        }
        return coarsest
    }

    /// Returns the ratio of the bits of a frame at one coarseness to those at another: about proportional to the
    /// quantizer's step to the power of -0.7, as measured with text and with noise.
    static func bitRatio(at coarseness: Int, to other: Int) -> Double {
        pow(Double(Quantizer.step(of: other)) / Double(Quantizer.step(of: coarseness)), 0.7)
    }
}
