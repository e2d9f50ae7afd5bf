/// The limits of a receiver for the frames that it decodes.
package struct PictureLimits: Hashable, Sendable {
    /// The maximum number of macroblocks, 16 by 16 pixels each, in a frame; nil for no limit.
    package let maximumMacroblocks: Int?
    /// The maximum frame rate in frames per second; nil for no limit.
    package let maximumFramesPerSecond: Double?

    /// The accepted values, from a video phone's (128 by 96 pixels) to the maximum of a VP8 frame.
    private static let macroblocks = 48...(1 << 20)
    private static let framesPerSecond = 0.1...1000

    /// Creates limits. A value that no encoder can comply with, or that none can exceed, is not a limit.
    package init(maximumMacroblocks: Int? = nil, maximumFramesPerSecond: Double? = nil) {
        self.maximumMacroblocks = maximumMacroblocks.flatMap { Self.macroblocks.contains($0) ? $0 : nil }
        self.maximumFramesPerSecond = maximumFramesPerSecond.flatMap { Self.framesPerSecond.contains($0) ? $0 : nil }
    }

    /// Returns the limits that comply with both.
    package func limited(to other: PictureLimits) -> PictureLimits {
        PictureLimits(
            maximumMacroblocks: [maximumMacroblocks, other.maximumMacroblocks].compactMap(\.self).min(),
            maximumFramesPerSecond: [maximumFramesPerSecond, other.maximumFramesPerSecond].compactMap(\.self).min())
    }
}
