internal import Glibc
internal import RTCShareMedia

/// The signatures of a frame before and after a change: 32 bits for each piece of a row that is as wide as a
/// macroblock.
///
/// Equal pieces have equal signatures. Different pieces have different ones, except for one in four billion, and the
/// comparison of macroblocks uses many. Only changed parts are read again. Commit a frame after it was encoded, since
/// motion refers to that frame. One thread at a time can use it.
final class PictureSignature {
    /// A table of pieces, of luma and of both chroma planes together. Those of a macroblock are consecutive, and
    /// macroblocks follow row by row, in the order of reading.
    struct Table {
        let luma: UnsafeMutablePointer<UInt32>
        let chroma: UnsafeMutablePointer<UInt32>
        /// The number of macroblocks in a row.
        let columns: Int

        /// Returns the signature of luma in a row of pixels.
        @inline(__always)
        func luma(column: Int, line: Int) -> UInt32 { luma[(line >> 4 &* columns &+ column) &* 16 &+ line & 15] }

        /// Returns the signature of chroma in a row of samples.
        @inline(__always)
        func chroma(column: Int, line: Int) -> UInt32 { chroma[(line >> 3 &* columns &+ column) &* 8 &+ line & 7] }
    }

    let size: PixelSize
    /// The numbers of columns and rows of macroblocks.
    let columns: Int
    let rows: Int
    /// The table of the last committed frame.
    private(set) var before: Table
    /// The table of the current frame.
    private(set) var now: Table
    /// For each macroblock, row by row: 1 if it was read since, 2 if it differs from before.
    private let pending: UnsafeMutablePointer<UInt8>
    /// The value 1 for each macroblock whose entry in ``now`` is that of the frame before the last.
    private let outdated: UnsafeMutablePointer<UInt8>
    private let memory: UnsafeMutablePointer<UInt32>
    private var isSettled = true
    /// Whether a frame was committed.
    private(set) var hasBefore = false

    /// Creates an empty signature: the first frame must be read as a whole, and committed.
    init(size: PixelSize) {
        self.size = size
        columns = (size.width + 15) / 16
        rows = (size.height + 15) / 16
        let count = columns * rows
        memory = .allocate(capacity: count * 48)
        memory.initialize(repeating: 0, count: count * 48)
        before = Table(luma: memory, chroma: memory + count * 16, columns: columns)
        now = Table(luma: memory + count * 24, chroma: memory + count * 40, columns: columns)
        pending = .allocate(capacity: count * 2)
        pending.initialize(repeating: 0, count: count * 2)
        outdated = pending + count
    }

    deinit {
        memory.deallocate()
        pending.deallocate()
    }

    /// Reads the macroblocks of an I420 frame that may have changed: 1 in a map of all, row by row; nil for all.
    func update(_ picture: any PixelPlanes, changed: [UInt8]? = nil) throws(VideoCodingError) {
        guard picture.format == .i420, picture.size == size, changed.map({ $0.count == columns * rows }) ?? true else {
            throw .unexpectedPicture(size: picture.size, format: picture.format, expected: size)
        }
        try picture.withPlanePointers { (planes) throws(VideoCodingError) in
            update(planes, changed: changed)
        }
    }

    /// Reads the macroblocks of planes with the size of the frame.
    func update(_ planes: PlanePointers, changed: [UInt8]?) {
        if let changed {
            changed.withUnsafeBufferPointer { update(planes, changed: $0) }
        } else {
            update(planes, changed: UnsafeBufferPointer(start: nil, count: 0))
        }
    }

    private func update(_ planes: PlanePointers, changed: UnsafeBufferPointer<UInt8>) {
        let (luma, blue, red) = (planes.first, planes.second, planes.third)
        for row in 0..<rows {
            for column in 0..<columns where changed.isEmpty || changed[row * columns + column] != 0 {
                update(
                    column: column, row: row,
                    Samples(
                        luma: luma.first + row * 16 * Int(luma.stride) + column * 16,
                        blue: blue.first + row * 8 * Int(blue.stride) + column * 8,
                        red: red.first + row * 8 * Int(red.stride) + column * 8,
                        strides: (Int(luma.stride), Int(blue.stride), Int(red.stride))),
                    isNew: false)
            }
        }
        settle()
    }

    /// The addresses of a macroblock's samples.
    struct Samples {
        let luma: UnsafePointer<UInt8>
        let blue: UnsafePointer<UInt8>
        let red: UnsafePointer<UInt8>
        let strides: (luma: Int, blue: Int, red: Int)
    }

    /// Reads a macroblock that may have changed, or that is known to differ from its last reading (`isNew`). Call
    /// ``settle()`` before any comparison.
    @inline(__always)
    func update(column: Int, row: Int, _ samples: Samples, isNew: Bool) {
        let index = row * columns + column
        if column * 16 + 16 <= size.width {
            sign(samples, index, lines: min(16, size.height - row * 16))
        } else {
            signPart(samples, index, lines: min(16, size.height - row * 16), width: size.width - column * 16)
        }
        // A macroblock that was read once since can be equal to the former one again.
        let differs = isNew && pending[index] == 0 || isOther(index)
        pending[index] = differs ? 2 : 1
        outdated[index] = 0
        isSettled = false
    }

    private func isOther(_ index: Int) -> Bool {
        memcmp(before.luma + index * 16, now.luma + index * 16, 64) != 0
            || memcmp(before.chroma + index * 8, now.chroma + index * 8, 32) != 0
    }

    /// Completes the table with the entries of macroblocks that were not read again.
    func settle() {
        guard !isSettled else { return }
        isSettled = true
        for index in 0..<columns * rows where outdated[index] != 0 {
            (now.luma + index * 16).update(from: before.luma + index * 16, count: 16)
            (now.chroma + index * 8).update(from: before.chroma + index * 8, count: 8)
            outdated[index] = 0
        }
    }

    /// Makes the current frame the former one of the next frame.
    func commit() {
        settle()
        // The tables are swapped. Macroblocks that are not read again next time are copied then.
        swap(&before, &now)
        for index in 0..<columns * rows where pending[index] != 0 {
            outdated[index] = 1
            pending[index] = 0
            isSettled = false
        }
        hasBefore = true
    }

    /// Forgets the former frame: the next one must be read as a whole, and committed.
    func forget() { hasBefore = false }

    /// Whether a macroblock, by its index row by row, differs from before.
    @inline(__always)
    func differs(_ index: Int) -> Bool { pending[index] == 2 }

    @inline(__always)
    private func sign(_ samples: Samples, _ index: Int, lines: Int) {
        var target = now.luma + index * 16
        var source = samples.luma
        for line in 0..<lines {
            target[line] = Self.luma(source)
            source += samples.strides.luma
        }
        target = now.chroma + index * 8
        source = samples.blue
        var other = samples.red
        for line in 0..<(lines + 1) / 2 {
            target[line] = Self.chroma(source, other)
            source += samples.strides.blue
            other += samples.strides.red
        }
    }

    /// Computes the signatures of the last column, which is only partly within the frame.
    private func signPart(_ samples: Samples, _ index: Int, lines: Int, width: Int) {
        for line in 0..<lines {
            let source = samples.luma + line * samples.strides.luma
            now.luma[index * 16 + line] =
                Self.mix(Self.load(source, count: min(width, 8)), Self.load(source + 8, count: width - 8))
        }
        for line in 0..<(lines + 1) / 2 {
            let (source, other) = (
                samples.blue + line * samples.strides.blue, samples.red + line * samples.strides.red
            )
            now.chroma[index * 8 + line] =
                Self.mix(Self.load(source, count: (width + 1) / 2), Self.load(other, count: (width + 1) / 2))
        }
    }

    /// Returns the signature of a piece of luma, which can start anywhere.
    @inline(__always)
    static func luma(_ source: UnsafePointer<UInt8>) -> UInt32 { mix(load(source), load(source + 8)) }

    /// Returns the signature of a piece of both chroma planes.
    @inline(__always)
    static func chroma(_ blue: UnsafePointer<UInt8>, _ red: UnsafePointer<UInt8>) -> UInt32 {
        mix(load(blue), load(red))
    }

    @inline(__always)
    private static func load(_ source: UnsafePointer<UInt8>) -> UInt64 {
        UnsafeRawPointer(source).loadUnaligned(as: UInt64.self)
    }

    /// Loads fewer than eight bytes, for the rest of a frame's last column.
    private static func load(_ source: UnsafePointer<UInt8>, count: Int) -> UInt64 {
        var value: UInt64 = 0
        for index in 0..<max(min(count, 8), 0) { value = value << 8 | UInt64(source[index]) }
        return value
    }

    /// Returns both halves of a product, which depends on each bit of both arguments.
    @inline(__always)
    private static func mix(_ one: UInt64, _ other: UInt64) -> UInt32 {
        let product = (one ^ 0xA076_1D64_78BD_642F).multipliedFullWidth(by: other ^ 0xE703_7ED1_A0B4_28DB)
        return UInt32(truncatingIfNeeded: (product.high ^ product.low) >> 16)
    }
}
