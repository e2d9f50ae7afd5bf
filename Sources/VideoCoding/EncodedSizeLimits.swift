internal import RTCShareMedia

/// The largest frames that a codec's encoder accepts.
struct EncodedSizeLimits: Sendable, Hashable {
    /// The maximum width and height.
    var longestSide = 16_383
    /// The maximum number of macroblocks in a frame; nil for any.
    var maximumMacroblocks: Int?

    /// Returns the largest size of the same aspect ratio within these limits.
    func fitting(_ size: PixelSize) -> PixelSize {
        let size = size.fitted(within: PixelSize(width: longestSide, height: longestSide))
        return maximumMacroblocks.map { size.fitted(withinMacroblocks: $0) } ?? size
    }
}
