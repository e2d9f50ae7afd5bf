internal import RTCShareCYUV
internal import RTCShareMedia

/// A source's frame in I420, scaled and rotated. Only the changed parts are updated.
///
///     frame ─▶ the tiles that its damage touches ─▶ I420 ─▶ scaled ─▶ rotated ─▶ copied to their places
///
/// Every tile is made from its own rectangle of the source, so that the result does not depend on the order of changes,
/// and a tile fits into the processor's cache. Each sample of a smaller frame is made from the source pixels that it
/// covers, which are within that rectangle, so that the borders of tiles are not visible. One thread uses it.
final class ScaledPicture {
    private let sourceSize: PixelSize
    private let size: PixelSize
    private let rotation: VideoRotation
    /// The resulting image.
    let picture: I420Picture
    private let columns: GridLines
    private let rows: GridLines
    /// A tile of the source, in I420.
    private let tile: I420Picture
    /// A tile before rotation.
    private let upright: I420Picture
    /// The value 1 for each tile that must be updated, row by row.
    private var isDue: [UInt8]
    /// The updated rectangles.
    private var parts: [PixelRectangle] = []

    /// The approximate size of a tile before rotation.
    private static let tileSize = PixelSize(width: 192, height: 48)

    /// Creates an image of `size` after a clockwise rotation, for sources of `sourceSize`.
    init(_ size: PixelSize, of sourceSize: PixelSize, turnedBy rotation: VideoRotation) throws(VideoCodingError) {
        let scaled = rotation.swapsSides ? PixelSize(width: size.height, height: size.width) : size
        // A sample of a larger frame is made from pixels around it, and a rotated tile must start at a chroma sample.
        let isTiled =
            scaled.width <= sourceSize.width && scaled.height <= sourceSize.height
            && (rotation == .upright || size.width.isMultiple(of: 2) && size.height.isMultiple(of: 2))
        let tile = Self.tileSize
        columns =
            isTiled
            ? GridLines(source: sourceSize.width, target: scaled.width, tile: tile.width)
            : GridLines(source: sourceSize.width, target: scaled.width)
        rows =
            isTiled
            ? GridLines(source: sourceSize.height, target: scaled.height, tile: tile.height)
            : GridLines(source: sourceSize.height, target: scaled.height)
        self.tile = try I420Picture(size: PixelSize(width: columns.longest.source, height: rows.longest.source))
        upright = try I420Picture(size: PixelSize(width: columns.longest.target, height: rows.longest.target))
        picture = try I420Picture(size: size)
        isDue = Array(repeating: 1, count: columns.count * rows.count)
        self.sourceSize = sourceSize
        self.size = size
        self.rotation = rotation
    }

    /// Whether an `init` with these arguments would create an equal object.
    func makes(_ size: PixelSize, of sourceSize: PixelSize, turnedBy rotation: VideoRotation) -> Bool {
        self.size == size && self.sourceSize == sourceSize && self.rotation == rotation
    }

    /// Updates the image from `source`, which differs from the previous one only in `damage`; nil for everywhere.
    /// Returns the updated rectangles. After an error it shows parts of both.
    func update(
        from source: any PixelPlanes, damage: [PixelRectangle]?
    ) throws(VideoCodingError) -> [PixelRectangle] {
        guard source.size == sourceSize else {
            throw .unexpectedPicture(size: source.size, format: source.format, expected: sourceSize)
        }
        parts.removeAll(keepingCapacity: true)
        for part in damage ?? [PixelRectangle(x: 0, y: 0, size: sourceSize)] { markDue(part) }
        let format = source.format
        try source.withPlanePointers { (planes) throws(VideoCodingError) in
            for row in 0..<rows.count {
                for column in 0..<columns.count where isDue[row * columns.count + column] == 1 {
                    parts.append(try make(column: column, row: row, planes, format))
                    isDue[row * columns.count + column] = 0
                }
            }
        }
        return parts
    }

    private func markDue(_ part: PixelRectangle) {
        guard let part = part.intersection(PixelRectangle(x: 0, y: 0, size: sourceSize)) else { return }
        let touched = columns.touched(from: part.x, length: part.size.width)
        for row in rows.touched(from: part.y, length: part.size.height) {
            for column in touched { isDue[row * columns.count + column] = 1 }
        }
    }

    /// Updates a tile, and returns its rectangle.
    private func make(
        column: Int, row: Int, _ planes: PlanePointers, _ format: PixelFormat
    ) throws(VideoCodingError) -> PixelRectangle {
        let (across, down) = (columns.tile(column), rows.tile(row))
        let from = PixelSize(width: across.source.count, height: down.source.count)
        try planes.convert(
            PixelRectangle(x: across.source.lowerBound, y: down.source.lowerBound, size: from), format,
            to: tile.samples)
        let to = PixelSize(width: across.target.count, height: down.target.count)
        let place = place(PixelRectangle(x: across.target.lowerBound, y: down.target.lowerBound, size: to))
        let target = picture.samples.from(x: place.x, y: place.y)
        try scale(from, to: to, into: rotation == .upright ? target : upright.samples)
        if rotation != .upright { try turn(to, into: target) }
        return place
    }

    /// Returns the rectangle of a part of the scaled frame after rotation.
    private func place(_ part: PixelRectangle) -> PixelRectangle {
        let (right, bottom) = (part.x + part.size.width, part.y + part.size.height)
        let turned = PixelSize(width: part.size.height, height: part.size.width)
        return switch rotation {
        case .upright: part
        case .quarter: PixelRectangle(x: size.width - bottom, y: part.x, size: turned)
        case .half: PixelRectangle(x: size.width - right, y: size.height - bottom, size: part.size)
        case .threeQuarters: PixelRectangle(x: part.y, y: size.height - right, size: turned)
        }
    }

    private func scale(_ from: PixelSize, to: PixelSize, into target: I420Samples) throws(VideoCodingError) {
        let source = tile.samples
        try checkYUV(
            "I420Scale",
            I420Scale(
                source.luma, Int32(source.lumaStride), source.blue, Int32(source.chromaStride), source.red,
                Int32(source.chromaStride), Int32(from.width), Int32(from.height), target.luma,
                Int32(target.lumaStride), target.blue, Int32(target.chromaStride), target.red,
                Int32(target.chromaStride), Int32(to.width), Int32(to.height), kFilterBox))
    }

    private func turn(_ from: PixelSize, into target: I420Samples) throws(VideoCodingError) {
        let source = upright.samples
        try checkYUV(
            "I420Rotate",
            I420Rotate(
                source.luma, Int32(source.lumaStride), source.blue, Int32(source.chromaStride), source.red,
                Int32(source.chromaStride), target.luma, Int32(target.lumaStride), target.blue,
                Int32(target.chromaStride), target.red, Int32(target.chromaStride), Int32(from.width),
                Int32(from.height), rotation.libraryMode))
    }
}

/// The borders of tiles along one axis, in the source and in the result.
private struct GridLines {
    private let source: [Int]
    private let target: [Int]

    /// Creates a single tile.
    init(source sourceLength: Int, target targetLength: Int) {
        source = [0, sourceLength]
        target = [0, targetLength]
    }

    /// Creates tiles of about `length`, up to four times as long if they can then start at whole pixels of the source:
    /// such a tile equals that of a frame scaled as a whole. Otherwise their starts differ by less than a pixel.
    init(source sourceLength: Int, target targetLength: Int, tile length: Int) {
        // The borders are even in both, as chroma samples require.
        let whole = 2 * targetLength / Self.greatestDivisor(sourceLength, targetLength)
        let step = whole > length * 4 ? length * 4 : max((length + whole / 2) / whole, 1) * whole
        // The last tile is at least half as long as the others.
        let count = max((targetLength + step / 2) / step, 1)
        source =
            (0..<count).map { ($0 * step * sourceLength + targetLength) / (targetLength * 2) * 2 } + [sourceLength]
        target = (0..<count).map { $0 * step } + [targetLength]
    }

    private static func greatestDivisor(_ one: Int, _ other: Int) -> Int {
        other == 0 ? one : greatestDivisor(other, one % other)
    }

    var count: Int { source.count - 1 }

    /// The maximum lengths of one tile.
    var longest: (source: Int, target: Int) {
        (0..<count).reduce((0, 0)) { (max($0.0, tile($1).source.count), max($0.1, tile($1).target.count)) }
    }

    func tile(_ index: Int) -> (source: Range<Int>, target: Range<Int>) {
        (source[index]..<source[index + 1], target[index]..<target[index + 1])
    }

    /// Returns the tiles that contain any of the source's pixels from `first` on.
    func touched(from first: Int, length: Int) -> Range<Int> {
        let start = (0..<count).first { source[$0 + 1] > first } ?? count
        let end = (start..<count).first { source[$0] >= first + length } ?? count
        return start..<end
    }
}
