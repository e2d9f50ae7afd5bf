extension PixelSize {
    /// Returns the size at which the complete frame fits into `bound`: both sides even, the aspect ratio kept as
    /// closely as that allows, and never larger than this size.
    ///
    /// The side that meets its bound first is the largest even number that fits, the other side the even number nearest
    /// to the aspect ratio. A side of one pixel stays one. If either size is empty, so is the result.
    public func fitted(within bound: PixelSize) -> PixelSize {
        guard width > 0, height > 0, bound.width > 0, bound.height > 0 else { return PixelSize(width: 0, height: 0) }
        let limit = PixelSize(width: min(width, bound.width), height: min(height, bound.height))
        // Whether the width meets its bound first.
        if Double(limit.width) / Double(width) <= Double(limit.height) / Double(height) {
            let fitted = Self.even(limit.width)
            return PixelSize(width: fitted, height: Self.scaled(height, by: fitted, over: width, limit: limit.height))
        } else {
            let fitted = Self.even(limit.height)
            return PixelSize(width: Self.scaled(width, by: fitted, over: height, limit: limit.width), height: fitted)
        }
    }

    /// The largest even size within this one; a side of one pixel stays one.
    var even: PixelSize { PixelSize(width: Self.even(width), height: Self.even(height)) }

    private static func even(_ side: Int) -> Int {
        side < 2 ? side : side & ~1
    }

    /// Returns the even number nearest to `side * numerator / denominator`, at least 2 and at most `limit`.
    private static func scaled(_ side: Int, by numerator: Int, over denominator: Int, limit: Int) -> Int {
        let exact = Double(side) * Double(numerator) / Double(denominator)
        let nearest = 2 * Int((exact / 2).rounded())
        return min(max(nearest, 2), even(limit))
    }
}
