internal import Glibc
internal import RTCShareCYUV
internal import RTCShareMedia

/// The last frame of an encoder, in I420. Only the changes of a new frame are converted into it.
///
///     frame ─▶ its damage, by rows of macroblocks ─▶ converted separately ─▶ differences are copied and reported
///
/// Damage that contains no change, or that the source does not report, is resolved by comparison: only macroblocks that
/// differ count. A row of them fits into the processor's cache, so that the comparison of a whole frame costs little
/// more than its conversion.
final class StandingPicture: PixelPlanes {
    let size: PixelSize
    let format = PixelFormat.i420
    private let picture: I420Picture
    /// A row of macroblocks of the new frame.
    private let row: I420Picture
    /// For each column of a row of macroblocks, the bits in which any of its lines differ.
    private let lumaDifferences: UnsafeMutablePointer<SIMD16<UInt8>>
    private let chromaDifferences: UnsafeMutablePointer<UInt64>
    private var isEmpty = true
    /// The signature with which moved content is found.
    let signature: PictureSignature

    /// Creates an empty frame of `size`.
    init(size: PixelSize) throws(VideoCodingError) {
        self.size = size
        picture = try I420Picture(size: size)
        row = try I420Picture(size: PixelSize(width: size.width, height: 16))
        signature = PictureSignature(size: size)
        lumaDifferences = .allocate(capacity: signature.columns)
        chromaDifferences = .allocate(capacity: signature.columns)
    }

    deinit {
        lumaDifferences.deallocate()
        chromaDifferences.deallocate()
    }

    func withPlanes<Result>(_ body: (borrowing PlaneSet) throws -> Result) rethrows -> Result {
        try picture.withPlanes(body)
    }

    /// Updates the frame from `picture`, which differs from it only in `parts`; nil for everywhere. Adds the actual
    /// differences to `changed`.
    func update(
        from picture: any PixelPlanes, parts: [PixelRectangle]?, changed: inout MacroblockMap
    ) throws(VideoCodingError) {
        guard picture.size == size else {
            throw .unexpectedPicture(size: picture.size, format: picture.format, expected: size)
        }
        let parts = isEmpty ? nil : parts
        if isEmpty { changed.insertAll() }
        isEmpty = false
        guard parts?.isEmpty != true else { return }
        let format = picture.format
        try picture.withPlanePointers { (source) throws(VideoCodingError) in
            guard let parts else {
                return try update(PixelRectangle(x: 0, y: 0, size: size), from: source, format, changed: &changed)
            }
            for part in parts { try update(part, from: source, format, changed: &changed) }
        }
    }

    private func update(
        _ part: PixelRectangle, from source: PlanePointers, _ format: PixelFormat, changed: inout MacroblockMap
    ) throws(VideoCodingError) {
        let covered = changed.cells(in: part)
        guard !covered.columns.isEmpty else { return }
        for row in covered.rows {
            try convert(source, format, row: row, columns: covered.columns)
            take(row: row, columns: covered.columns, changed: &changed)
        }
    }

    /// Converts a part of a row of macroblocks.
    private func convert(
        _ source: PlanePointers, _ format: PixelFormat, row: Int, columns: Range<Int>
    ) throws(VideoCodingError) {
        let (x, y) = (columns.lowerBound * 16, row * 16)
        let part = PixelSize(
            width: min(columns.upperBound * 16, size.width) - x, height: min(16, size.height - y))
        try source.convert(
            PixelRectangle(x: x, y: y, size: part), format, to: self.row.samples.from(x: x, y: 0))
    }

    /// Copies the macroblocks of a converted row that differ, and updates their signatures while they are in the cache.
    private func take(row: Int, columns: Range<Int>, changed: inout MacroblockMap) {
        let height = min(16, size.height - row * 16)
        noteDifferences(row: row, columns: columns, height: height)
        for column in columns {
            let difference = unsafeBitCast(lumaDifferences[column], to: SIMD2<UInt64>.self)
            guard difference[0] | difference[1] | chromaDifferences[column] != 0 else { continue }
            let new = self.row.samples.from(x: column * 16, y: 0)
            changed.insert(row * changed.columns + column)
            Self.copy(new, to: picture.samples.from(x: column * 16, y: row * 16))
            signature.update(
                column: column, row: row,
                PictureSignature.Samples(
                    luma: new.luma, blue: new.blue, red: new.red,
                    strides: (new.lumaStride, new.chromaStride, new.chromaStride)),
                isNew: true)
        }
    }

    /// Finds the macroblocks of the converted row that differ: line by line, which suits the processor's prefetching.
    private func noteDifferences(row: Int, columns: Range<Int>, height: Int) {
        for column in columns {
            lumaDifferences[column] = SIMD16()
            chromaDifferences[column] = 0
        }
        let old = picture.samples.from(x: 0, y: row * 16)
        let new = self.row.samples
        for line in 0..<height {
            let (here, there) = (old.luma + line * old.lumaStride, new.luma + line * new.lumaStride)
            for column in columns {
                lumaDifferences[column] |=
                    Self.load(SIMD16<UInt8>.self, here + column &* 16)
                    ^ Self.load(SIMD16<UInt8>.self, there + column &* 16)
            }
        }
        for line in 0..<(height + 1) / 2 {
            let (here, there) = (line * old.chromaStride, line * new.chromaStride)
            for (old, new) in [(old.blue, new.blue), (old.red, new.red)] {
                for column in columns {
                    chromaDifferences[column] |=
                        Self.load(UInt64.self, old + here + column &* 8)
                        ^ Self.load(UInt64.self, new + there + column &* 8)
                }
            }
        }
    }

    @inline(__always)
    private static func load<Value>(_ type: Value.Type, _ samples: UnsafePointer<UInt8>) -> Value {
        UnsafeRawPointer(samples).loadUnaligned(as: type)
    }

    @inline(__always)
    private static func copy(_ new: I420Samples, to here: I420Samples) {
        for line in 0..<16 {
            store(load(SIMD16<UInt8>.self, new.luma + line * new.lumaStride), to: here.luma + line * here.lumaStride)
        }
        for line in 0..<8 {
            let (from, to) = (line * new.chromaStride, line * here.chromaStride)
            store(load(SIMD8<UInt8>.self, new.blue + from), to: here.blue + to)
            store(load(SIMD8<UInt8>.self, new.red + from), to: here.red + to)
        }
    }

    @inline(__always)
    private static func store<Vector>(_ vector: Vector, to samples: UnsafeMutablePointer<UInt8>) {
        UnsafeMutableRawPointer(samples).storeBytes(of: vector, as: Vector.self)
    }
}
