/// The layout of pixels in memory.
public enum PixelFormat: Sendable, Hashable {
    /// Three planes: luma, and blue and red chroma at half the width and height (rounded up); BT.601, limited range.
    case i420
    /// Two planes: luma, and interleaved blue and red chroma at half the width and height (rounded up).
    case nv12
    /// One plane of four bytes per pixel: blue, green, red, and an unused byte. The format of X11 at depth 24.
    case bgra
    /// One plane of four bytes per pixel: an unused byte, red, green, blue.
    case argb

    /// The number of planes.
    public var planeCount: Int {
        switch self {
        case .i420: 3
        case .nv12: 2
        case .bgra, .argb: 1
        }
    }

    /// Returns the number of bytes per row, and the number of rows, of a plane for frames of this size.
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
