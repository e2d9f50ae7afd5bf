import RTCShareCYUV
import RTCShareMedia

extension PixelFormat {
    /// Where a part of a picture lies in a plane: bytes from a row's start, bytes of the part's rows, and its rows. `part`
    /// begins at even columns and rows where chroma is halved.
    func extent(of part: PixelRectangle, plane: Int) -> (column: Int, row: Int, rowBytes: Int, rows: Int) {
        let extent = planeExtent(plane, of: part.size)
        // The offset of a part is the extent of a picture that ends there.
        let before = planeExtent(plane, of: PixelSize(width: part.x, height: part.y))
        return (before.rowBytes, before.rows, extent.rowBytes, extent.rows)
    }

    /// The least rectangle around `part` that lies on whole samples of chroma, within a picture of `size`.
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

/// Copies a part of a plane, of which the rows lie `sourceStride` and `targetStride` bytes apart.
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

/// What changed in a picture since some time: parts, or it isn't known what, which is everything.
struct ChangedParts: Equatable {
    /// Nil is everything.
    private(set) var parts: [PixelRectangle]?

    /// More parts than this are taken for everything.
    static let most = 32

    static let nothing = ChangedParts(parts: [])
    static let everything = ChangedParts(parts: nil)

    init(parts: [PixelRectangle]?) {
        self.parts = parts.flatMap { $0.count <= Self.most ? $0 : nil }
    }

    /// The same on whole samples of chroma, of a picture of `size`.
    func aligned(to format: PixelFormat, of size: PixelSize) -> ChangedParts {
        ChangedParts(parts: parts?.compactMap { format.aligned($0, in: size) })
    }

    /// How many pixels they have, those that are in several counted for each; of everything, those of `size`.
    func area(of size: PixelSize) -> Int { parts?.reduce(0) { $0 + $1.size.area } ?? size.area }

    /// These parts changed, too.
    mutating func add(_ more: ChangedParts) {
        guard let own = parts, let others = more.parts else { return parts = nil }
        let new = others.filter { other in !own.contains { $0.intersection(other) == other } }
        let kept = own.filter { part in !new.contains { $0.intersection(part) == part } }
        parts = kept.count + new.count <= Self.most ? kept + new : nil
    }
}
