import RTCShareCXCB
import RTCShareCYUV
import RTCShareMedia

/// Reads pixels from the X server as small images. Used on one thread.
struct ImageReader {
    /// The size within which images fit.
    let bound: PixelSize
    private let connection: XConnection
    private var reader: ScreenReader
    /// The memory into which pixels are read, one drawable after the other.
    private var segment: SharedSegment?

    /// The maximum number of pixels that are read at a time: a few screens.
    static let mostPixels = 32 << 20

    init(connection: XConnection, bound: PixelSize) {
        self.connection = connection
        self.bound = bound
        reader = ScreenReader(connection: connection)
    }

    /// Returns an image of each part of `pixels`, in coordinates of its area. A part that is not completely inside has
    /// no image. Nil if the area is too large, or `signal` was raised.
    mutating func images(
        of parts: [PixelRectangle], in pixels: ScreenGeometry.Pixels, signal: StopSignal?
    ) throws(CaptureError) -> [PixelBuffer?]? {
        let size = pixels.area.size
        guard size.area > 0, size.area <= Self.mostPixels else { return nil }
        let picture = ScreenPicture(size: size, segment: try segment(ofPixels: size.area))
        let whole = PixelRectangle(x: 0, y: 0, size: size)
        guard try reader.read([whole], of: pixels, into: picture, signal: signal) else { return nil }
        return withExtendedLifetime(picture) {
            parts.map { whole.intersection($0) == $0 ? image(of: $0, in: picture) : nil }
        }
    }

    private func image(of part: PixelRectangle, in picture: ScreenPicture) -> PixelBuffer? {
        let fitted = part.size.fitted(within: bound)
        guard fitted.area > 0 else { return nil }
        let corner = picture.memory.baseAddress?.advanced(by: part.y * picture.stride + part.x * 4)
        return PixelBuffer(size: fitted, format: .bgra) { planes, strides in
            _ = ARGBScale(
                corner?.assumingMemoryBound(to: UInt8.self), Int32(picture.stride), Int32(part.size.width),
                Int32(part.size.height), planes[0].baseAddress?.assumingMemoryBound(to: UInt8.self),
                Int32(strides[0]), Int32(fitted.width), Int32(fitted.height), kFilterBox)
        }
    }

    /// Releases the memory until the next call.
    mutating func rest() { segment = nil }

    /// Returns memory for so many pixels, that of the last call if it is large enough.
    private mutating func segment(ofPixels count: Int) throws(CaptureError) -> SharedSegment? {
        if let segment, segment.memory.count >= count * 4 { return segment }
        segment = nil
        segment = try SharedSegment(connection: connection, byteCount: count * 4)
        return segment
    }
}
