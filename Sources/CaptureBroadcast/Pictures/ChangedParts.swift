import RTCShareCYUV
import RTCShareMedia

extension PixelFormat {
    /// Returns the position of a part of a frame in a plane: bytes from a row's start, first row, bytes of the part's
    /// rows, and number of rows. `part` begins at even columns and rows if chroma has half the resolution.
    func extent(of part: PixelRectangle, plane: Int) -> (column: Int, row: Int, rowBytes: Int, rows: Int) {
        let extent = planeExtent(plane, of: part.size)
        // The offset of a part is the extent of a frame that ends there.
        let before = planeExtent(plane, of: PixelSize(width: part.x, height: part.y))
        return (before.rowBytes, before.rows, extent.rowBytes, extent.rows)
    }

    /// Returns the smallest rectangle around `part` on whole chroma samples, within a frame of `size`.
    func aligned(_ part: PixelRectangle, in size: PixelSize) -> PixelRectangle? {
        guard let part = part.intersection(PixelRectangle(x: 0, y: 0, size: size)) else { return nil }
        guard self == .i420 || self == .nv12 else { return part }
        let left = part.x & ~1
        let top = part.y & ~1
        let right = min((part.x + part.size.width + 1) & ~1, size.width)
        let bottom = min((part.y + part.size.height + 1) & ~1, size.height)
        return PixelRectangle(x: left, y: top, size: PixelSize(width: right - left, height: bottom - top))
    }
}

/// Copies a part of a plane, whose rows are `sourceStride` and `targetStride` bytes apart.
func copyPart(
    of place: (column: Int, row: Int, rowBytes: Int, rows: Int), from source: UnsafeRawPointer,
    stride sourceStride: Int,
    to target: UnsafeMutableRawPointer, stride targetStride: Int
) {
    CopyPlane(
        source.advanced(by: place.row * sourceStride + place.column).assumingMemoryBound(to: UInt8.self),
        Int32(sourceStride),
        target.advanced(by: place.row * targetStride + place.column).assumingMemoryBound(to: UInt8.self),
        Int32(targetStride), Int32(place.rowBytes), Int32(place.rows))
}

/// The changes of a frame since some time: parts, or everything if the parts are unknown.
struct ChangedParts: Equatable {
    /// The parts; nil for everything.
    private(set) var parts: [PixelRectangle]?

    /// The number of parts above which everything counts as changed.
    static let most = 32

    static let nothing = ChangedParts(parts: [])
    static let everything = ChangedParts(parts: nil)

    init(parts: [PixelRectangle]?) {
        self.parts = parts.flatMap { $0.count <= Self.most ? $0 : nil }
    }

    /// Returns the parts on whole chroma samples, of a frame of `size`.
    func aligned(to format: PixelFormat, of size: PixelSize) -> ChangedParts {
        ChangedParts(parts: parts?.compactMap { format.aligned($0, in: size) })
    }

    /// Returns the total number of pixels, with overlaps counted for each part; for everything, that of `size`.
    func area(of size: PixelSize) -> Int { parts?.reduce(0) { $0 + $1.size.area } ?? size.area }

    /// Adds changed parts.
    mutating func add(_ more: ChangedParts) {
        guard let own = parts, let others = more.parts else { return parts = nil }
        let new = others.filter { other in !own.contains { $0.intersection(other) == other } }
        let kept = own.filter { part in !new.contains { $0.intersection(part) == part } }
        parts = kept.count + new.count <= Self.most ? kept + new : nil
    }
}
