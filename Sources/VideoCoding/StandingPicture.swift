internal import CYUV
internal import Glibc
internal import Media

/// The picture as an encoder was given it last, in I420: what a frame changes is converted into it, and nothing else.
///
///     frame ─▶ its damage, by rows of macroblocks ─▶ converted beside it ─▶ what differs is copied, and told
///
/// What a source calls changed and is not, or what it says nothing of, is found by looking: only macroblocks that differ
/// count. A row of them fits into the processor's cache, so that looking at a whole picture costs little more than
/// converting it. Used from one thread.
final class StandingPicture: VideoFrameBuffer, @unchecked Sendable {
    // Sendable: it never leaves the thread of its encoder.
    let size: PixelSize
    let format = PixelFormat.i420
    private let memory: UnsafeMutableRawBufferPointer
    private let readablePlanes: [UnsafeRawBufferPointer]
    private let strides: [Int]
    private let planes: Planes
    /// A row of macroblocks, as the frame has it.
    private let row: UnsafeMutableRawBufferPointer
    private let rowPlanes: Planes
    private var isEmpty = true

    /// Where the samples lie.
    private struct Planes {
        let luma: UnsafeMutablePointer<UInt8>
        let blue: UnsafeMutablePointer<UInt8>
        let red: UnsafeMutablePointer<UInt8>
        let lumaStride: Int
        var chromaStride: Int { lumaStride / 2 }

        init(_ memory: UnsafeMutableRawBufferPointer, stride: Int, rows: Int) throws(VideoCodingError) {
            guard let base = memory.baseAddress?.assumingMemoryBound(to: UInt8.self) else { throw .emptyPicture }
            luma = base
            blue = base + stride * rows
            red = blue + stride / 2 * (rows / 2)
            lumaStride = stride
        }
    }

    /// A picture of `size` with nothing in it.
    init(size: PixelSize) throws(VideoCodingError) {
        guard size.width > 0, size.height > 0 else { throw .emptyPicture }
        self.size = size
        // Whole macroblocks, so that those at the edge are compared and copied as any other.
        let stride = (size.width + 127) & ~127
        let rows = (size.height + 15) & ~15
        memory = .allocate(byteCount: stride * rows * 3 / 2, alignment: 64)
        row = .allocate(byteCount: stride * 16 * 3 / 2, alignment: 64)
        for part in [memory, row] { part.initializeMemory(as: UInt8.self, repeating: 128) }
        planes = try Planes(memory, stride: stride, rows: rows)
        rowPlanes = try Planes(row, stride: stride, rows: 16)
        strides = [stride, stride / 2, stride / 2]
        readablePlanes = [
            UnsafeRawBufferPointer(start: planes.luma, count: stride * rows),
            UnsafeRawBufferPointer(start: planes.blue, count: stride / 2 * rows / 2),
            UnsafeRawBufferPointer(start: planes.red, count: stride / 2 * rows / 2),
        ]
    }

    deinit {
        memory.deallocate()
        row.deallocate()
    }

    func withPlanes<Result>(_ body: (borrowing PlaneSet) throws -> Result) rethrows -> Result {
        try withExtendedLifetime(self) {
            try body(PlaneSet(planes: readablePlanes, strides: strides))
        }
    }

    /// Makes it show `picture`, which differs from what it shows at most in `parts`; nil is everywhere. What does differ is
    /// put into `changed`.
    func update(
        from picture: any VideoFrameBuffer, parts: [PixelRectangle]?, changed: inout MacroblockMap
    ) throws(VideoCodingError) {
        guard picture.size == size else {
            throw .unexpectedPicture(size: picture.size, format: picture.format, expected: size)
        }
        let whole = PixelRectangle(x: 0, y: 0, size: size)
        let parts = isEmpty ? [whole] : parts ?? [whole]
        guard !parts.isEmpty else { return }
        if isEmpty { changed.insertAll() }
        isEmpty = false
        let format = picture.format
        try picture.withPlanePointers { (source) throws(VideoCodingError) in
            for part in parts {
                let covered = changed.cells(in: part)
                guard !covered.columns.isEmpty else { continue }
                for row in covered.rows {
                    try convert(source, format, row: row, columns: covered.columns)
                    take(row: row, columns: covered.columns, changed: &changed)
                }
            }
        }
    }

    /// Converts a part of a row of macroblocks.
    private func convert(
        _ source: PlanePointers, _ format: PixelFormat, row: Int, columns: Range<Int>
    ) throws(VideoCodingError) {
        let (x, y) = (columns.lowerBound * 16, row * 16)
        let width = Int32(min(columns.upperBound * 16, size.width) - x)
        let height = Int32(min(16, size.height - y))
        let (first, second, third) = (source.first, source.second, source.third)
        let luma = rowPlanes.luma + x
        let (blue, red) = (rowPlanes.blue + x / 2, rowPlanes.red + x / 2)
        let (lumaStride, chromaStride) = (Int32(rowPlanes.lumaStride), Int32(rowPlanes.chromaStride))
        let pixels = first.first + y * Int(first.stride) + x * 4
        switch format {
        case .bgra:
            // libyuv names formats by the word, not by the byte: its ARGB is blue, green, red, alpha in memory.
            try checkYUV(
                "ARGBToI420",
                ARGBToI420(
                    pixels, first.stride, luma, lumaStride, blue, chromaStride, red, chromaStride, width, height))
        case .argb:
            try checkYUV(
                "BGRAToI420",
                BGRAToI420(
                    pixels, first.stride, luma, lumaStride, blue, chromaStride, red, chromaStride, width, height))
        case .nv12:
            try checkYUV(
                "NV12ToI420",
                NV12ToI420(
                    first.first + y * Int(first.stride) + x, first.stride,
                    second.first + y / 2 * Int(second.stride) + x, second.stride, luma, lumaStride, blue,
                    chromaStride, red, chromaStride, width, height))
        case .i420:
            let offset = (y / 2, x / 2)
            try checkYUV(
                "I420Copy",
                I420Copy(
                    first.first + y * Int(first.stride) + x, first.stride,
                    second.first + offset.0 * Int(second.stride) + offset.1, second.stride,
                    third.first + offset.0 * Int(third.stride) + offset.1, third.stride, luma, lumaStride, blue,
                    chromaStride, red, chromaStride, width, height))
        }
    }

    /// Copies the macroblocks of a converted row that differ.
    private func take(row: Int, columns: Range<Int>, changed: inout MacroblockMap) {
        let height = min(16, size.height - row * 16)
        guard differs(row: row, columns: columns, height: height) else { return }
        var firstChanged: Int?
        for column in columns {
            if differs(row: row, columns: column..<column + 1, height: height) {
                changed.insert(row * changed.columns + column)
                firstChanged = firstChanged ?? column
            } else if let first = firstChanged {
                copy(row: row, columns: first..<column)
                firstChanged = nil
            }
        }
        if let firstChanged { copy(row: row, columns: firstChanged..<columns.upperBound) }
    }

    private func differs(row: Int, columns: Range<Int>, height: Int) -> Bool {
        let (x, y) = (columns.lowerBound * 16, row * 16)
        let width = columns.count * 16
        for line in 0..<height
        where memcmp(
            planes.luma + (y + line) * planes.lumaStride + x, rowPlanes.luma + line * rowPlanes.lumaStride + x, width)
            != 0
        { return true }
        for line in 0..<(height + 1) / 2 {
            let (here, there) = ((y / 2 + line) * planes.chromaStride + x / 2, line * rowPlanes.chromaStride + x / 2)
            if memcmp(planes.blue + here, rowPlanes.blue + there, width / 2) != 0
                || memcmp(planes.red + here, rowPlanes.red + there, width / 2) != 0
            {
                return true
            }
        }
        return false
    }

    private func copy(row: Int, columns: Range<Int>) {
        let (x, y) = (columns.lowerBound * 16, row * 16)
        let width = Int32(columns.count * 16)
        CopyPlane(
            rowPlanes.luma + x, Int32(rowPlanes.lumaStride), planes.luma + y * planes.lumaStride + x,
            Int32(planes.lumaStride), width, 16)
        let offset = y / 2 * planes.chromaStride + x / 2
        for (from, to) in [(rowPlanes.blue, planes.blue), (rowPlanes.red, planes.red)] {
            CopyPlane(
                from + x / 2, Int32(rowPlanes.chromaStride), to + offset, Int32(planes.chromaStride), width / 2, 8)
        }
    }
}
