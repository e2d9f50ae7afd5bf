/// A rectangle in pixels; `x` and `y` count from the upper left corner.
public struct PixelRectangle: Hashable, Sendable {
    /// The number of columns left of the rectangle.
    public let x: Int
    /// The number of rows above the rectangle.
    public let y: Int
    /// The size of the rectangle.
    public let size: PixelSize

    /// Creates a rectangle of `size` with its upper left corner at `x`, `y`.
    public init(x: Int, y: Int, size: PixelSize) {
        self.x = x
        self.y = y
        self.size = size
    }

    /// Returns the common part of two rectangles; nil if there is none.
    public func intersection(_ other: PixelRectangle) -> PixelRectangle? {
        let left = max(x, other.x)
        let top = max(y, other.y)
        let right = min(x.end(size.width), other.x.end(other.size.width))
        let bottom = min(y.end(size.height), other.y.end(other.size.height))
        guard left < right, top < bottom else { return nil }
        return PixelRectangle(x: left, y: top, size: PixelSize(width: right - left, height: bottom - top))
    }

    /// Returns the smallest rectangle that contains both.
    public func union(_ other: PixelRectangle) -> PixelRectangle {
        let left = min(x, other.x)
        let top = min(y, other.y)
        let right = max(x.end(size.width), other.x.end(other.size.width))
        let bottom = max(y.end(size.height), other.y.end(other.size.height))
        return PixelRectangle(x: left, y: top, size: PixelSize(width: right - left, height: bottom - top))
    }
}

extension Int {
    /// Returns the sum with a length, limited to the type's range.
    fileprivate func end(_ length: Int) -> Int {
        let (sum, overflow) = addingReportingOverflow(length)
        return overflow ? (length > 0 ? .max : .min) : sum
    }
}
