internal import Glibc

extension QuantizerControl.Scale {
    /// The quantizers of libvpx's configuration, 0 to 63. Bits are about proportional to the quantizer's step to the power
    /// of -0.7; the complexity of text, videos and blurred pages is between 85 and 300.
    static let vp8 = Self(
        weights: indices.map { pow(Double(Quantizer.step(of: $0)), -0.7) }, usualComplexity: 150)

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
