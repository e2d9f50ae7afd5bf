extension PixelSize {
    /// The number of blocks of 16 by 16 pixels that cover the frame, the unit of video codecs' frame sizes.
    public var macroblocks: Int { (width + 15) / 16 * ((height + 15) / 16) }

    /// Returns the largest size of this aspect ratio, no larger than this, that `maximum` macroblocks cover; even, and
    /// at least 2×2.
    public func fitted(withinMacroblocks maximum: Int) -> PixelSize {
        guard macroblocks > maximum else { return self }
        var size = self
        var width = Int((Double(width) * (Double(maximum) / Double(macroblocks)).squareRoot()).rounded(.up))
        while size.macroblocks > maximum, width >= 2 {
            let height = max(2, Int((Double(width) * Double(self.height) / Double(self.width)).rounded(.down)))
            size = PixelSize(width: width & ~1, height: height & ~1)
            width -= 2
        }
        return size
    }
}
