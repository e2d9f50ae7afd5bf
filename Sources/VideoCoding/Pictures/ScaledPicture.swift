internal import RTCShareCYUV
internal import RTCShareMedia

/// A source's picture in I420, scaled and turned: what a frame changes is made anew, and nothing else.
///
///     frame ─▶ the tiles that its damage touches ─▶ I420 ─▶ scaled ─▶ turned ─▶ put in their places
///
/// Every tile is made of a rectangle of the source that is its own, so that a picture is the same whatever changed in
/// which order, and a tile fits into the processor's cache. A smaller picture's samples are each made of the source's
/// pixels that they cover, which lie inside of that rectangle: nothing shows where tiles meet. Used from one thread.
final class ScaledPicture {
    private let sourceSize: PixelSize
    private let size: PixelSize
    private let rotation: VideoRotation
    /// What it shows.
    let picture: I420Picture
    private let columns: GridLines
    private let rows: GridLines
    /// A tile as the source has it, in I420.
    private let tile: I420Picture
    /// A tile before it is turned.
    private let upright: I420Picture
    /// 1 for each tile that is to be made anew, row by row.
    private var isDue: [UInt8]
    /// Where it was made anew.
    private var parts: [PixelRectangle] = []

    /// About what a tile has, before a turn.
    private static let tileSize = PixelSize(width: 192, height: 48)

    /// A picture of `size` after a clockwise turn, of sources of `sourceSize`.
    init(_ size: PixelSize, of sourceSize: PixelSize, turnedBy rotation: VideoRotation) throws(VideoCodingError) {
        let scaled = rotation.swapsSides ? PixelSize(width: size.height, height: size.width) : size
        // A sample of a larger picture is made of pixels around it, and where a turned tile lies chroma has to begin.
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

    /// Whether it is what an `init` with these would make.
    func makes(_ size: PixelSize, of sourceSize: PixelSize, turnedBy rotation: VideoRotation) -> Bool {
        self.size == size && self.sourceSize == sourceSize && self.rotation == rotation
    }

    /// Makes it show `source`, which differs from what was there before at most in `damage`; nil is everywhere. Gives where
    /// it was made anew. After an error it shows parts of both.
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

    /// Makes a tile, and gives where it lies.
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

    /// Where a part of the scaled picture lies once that is turned.
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

/// Where tiles meet along one axis, in the source and in what is made of it.
private struct GridLines {
    private let source: [Int]
    private let target: [Int]

    /// One tile.
    init(source sourceLength: Int, target targetLength: Int) {
        source = [0, sourceLength]
        target = [0, targetLength]
    }

    /// Tiles of about `length`, up to four times as long where that has them begin at whole pixels of the source: there a
    /// tile is what it would be if the whole were scaled at once. Else they begin less than a pixel beside.
    init(source sourceLength: Int, target targetLength: Int, tile length: Int) {
        // Even in both, where chroma samples lie.
        let whole = 2 * targetLength / Self.greatestDivisor(sourceLength, targetLength)
        let step = whole > length * 4 ? length * 4 : max((length + whole / 2) / whole, 1) * whole
        // The last is at least half as long as the others.
        let count = max((targetLength + step / 2) / step, 1)
        source =
            (0..<count).map { ($0 * step * sourceLength + targetLength) / (targetLength * 2) * 2 } + [sourceLength]
        target = (0..<count).map { $0 * step } + [targetLength]
    }

    private static func greatestDivisor(_ one: Int, _ other: Int) -> Int {
        other == 0 ? one : greatestDivisor(other, one % other)
    }

    var count: Int { source.count - 1 }

    /// The most that one tile takes.
    var longest: (source: Int, target: Int) {
        (0..<count).reduce((0, 0)) { (max($0.0, tile($1).source.count), max($0.1, tile($1).target.count)) }
    }

    func tile(_ index: Int) -> (source: Range<Int>, target: Range<Int>) {
        (source[index]..<source[index + 1], target[index]..<target[index + 1])
    }

    /// The tiles that have something of the source's pixels from `first` on.
    func touched(from first: Int, length: Int) -> Range<Int> {
        let start = (0..<count).first { source[$0 + 1] > first } ?? count
        let end = (start..<count).first { source[$0] >= first + length } ?? count
        return start..<end
    }
}
