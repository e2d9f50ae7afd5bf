/// Pixels in one of the layouts that the encoder path understands, where they lie.
public protocol PixelPlanes {
    /// Columns and rows.
    var size: PixelSize { get }
    /// The layout, which says what planes there are.
    var format: PixelFormat { get }
    /// Lends each plane's memory, in the order of ``PixelFormat``, for the time of one call.
    func withPlanes<Result>(_ body: (borrowing PlaneSet) throws -> Result) rethrows -> Result
}

/// The pixels of a frame, which nobody changes any more: any thread can look at them.
public protocol VideoFrameBuffer: PixelPlanes, Sendable {}

/// How pixels lie in memory.
public enum PixelFormat: Sendable, Hashable {
    /// Three planes: luma, and blue and red chroma at half the width and height (rounded up); BT.601, limited range.
    case i420
    /// Two planes: luma, and interleaved blue and red chroma at half the width and height (rounded up).
    case nv12
    /// One plane of four bytes a pixel: blue, green, red, and a byte that is not looked at. What X11 gives at depth 24.
    case bgra
    /// One plane of four bytes a pixel: a byte that is not looked at, red, green, blue.
    case argb

    /// How many planes there are.
    public var planeCount: Int {
        switch self {
        case .i420: 3
        case .nv12: 2
        case .bgra, .argb: 1
        }
    }

    /// Bytes in a row, and rows, of a plane of a picture of this size.
    public func planeExtent(_ plane: Int, of size: PixelSize) -> (rowBytes: Int, rows: Int) {
        let chroma = PixelSize(width: (size.width + 1) / 2, height: (size.height + 1) / 2)
        return switch (self, plane) {
        case (.bgra, _), (.argb, _): (size.width * 4, size.height)
        case (_, 0): (size.width, size.height)
        case (.i420, _): (chroma.width, chroma.height)
        case (.nv12, _): (chroma.width * 2, chroma.height)
        }
    }
}

/// The planes of a picture, lent. Strides are bytes from a row to the next.
public struct PlaneSet: ~Copyable {
    /// Each plane's first byte and length; valid only while lent.
    public let planes: [UnsafeRawBufferPointer]
    /// Each plane's stride in bytes.
    public let strides: [Int]

    /// The planes of a picture, whose memory the caller keeps alive while it lends this.
    public init(planes: [UnsafeRawBufferPointer], strides: [Int]) {
        self.planes = planes
        self.strides = strides
    }
}
