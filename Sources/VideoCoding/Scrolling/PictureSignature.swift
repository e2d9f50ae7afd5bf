internal import Glibc
internal import RTCShareMedia

/// What a picture shows in 32 bits for each piece of a row as wide as a macroblock, before a change and after it.
///
/// Pieces that are equal have equal numbers; others differ, but for one in four billion, and macroblocks are told by many.
/// Only what changed is looked at again. To be committed is what was encoded: what moved is said of that. Used from one
/// thread at a time.
final class PictureSignature {
    /// A table of pieces, of luma and of both planes of chroma together: those of a macroblock follow each other, and
    /// macroblocks do row by row, as they are looked at.
    struct Table {
        let luma: UnsafeMutablePointer<UInt32>
        let chroma: UnsafeMutablePointer<UInt32>
        /// Macroblocks in a row.
        let columns: Int

        /// The luma of a row of pixels.
        @inline(__always)
        func luma(column: Int, line: Int) -> UInt32 { luma[(line >> 4 &* columns &+ column) &* 16 &+ line & 15] }

        /// The chroma of a row of samples of it.
        @inline(__always)
        func chroma(column: Int, line: Int) -> UInt32 { chroma[(line >> 3 &* columns &+ column) &* 8 &+ line & 7] }
    }

    let size: PixelSize
    /// Columns and rows of macroblocks.
    let columns: Int
    let rows: Int
    /// Of the picture that was committed last.
    private(set) var before: Table
    /// Of the same with what changed since.
    private(set) var now: Table
    /// For each macroblock, row by row: 1 where it was looked at since, 2 where it shows something else than before.
    private let pending: UnsafeMutablePointer<UInt8>
    /// 1 for each that ``now`` tells of the picture before the last.
    private let outdated: UnsafeMutablePointer<UInt8>
    private let memory: UnsafeMutablePointer<UInt32>
    private var isSettled = true
    /// Whether a picture was committed.
    private(set) var hasBefore = false

    /// Nothing is known yet: the first picture has to be looked at as a whole, and committed.
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

    /// Looks at the macroblocks of an I420 picture that may have changed: 1 in a map of all, row by row; nil is all.
    func update(_ picture: any PixelPlanes, changed: [UInt8]? = nil) throws(VideoCodingError) {
        guard picture.format == .i420, picture.size == size, changed.map({ $0.count == columns * rows }) ?? true else {
            throw .unexpectedPicture(size: picture.size, format: picture.format, expected: size)
        }
        try picture.withPlanePointers { (planes) throws(VideoCodingError) in
            update(planes, changed: changed)
        }
    }

    /// The same of planes that are as large as the picture.
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

    /// Where a macroblock's samples lie.
    struct Samples {
        let luma: UnsafePointer<UInt8>
        let blue: UnsafePointer<UInt8>
        let red: UnsafePointer<UInt8>
        let strides: (luma: Int, blue: Int, red: Int)
    }

    /// Looks at a macroblock that may have changed, or that is known to differ from how it was looked at last (`isNew`).
    /// Before anything is asked, ``settle()`` has to be called.
    @inline(__always)
    func update(column: Int, row: Int, _ samples: Samples, isNew: Bool) {
        let index = row * columns + column
        if column * 16 + 16 <= size.width {
            sign(samples, index, lines: min(16, size.height - row * 16))
        } else {
            signPart(samples, index, lines: min(16, size.height - row * 16), width: size.width - column * 16)
        }
        // What was looked at once since may be again as it was before.
        let differs = isNew && pending[index] == 0 || isOther(index)
        pending[index] = differs ? 2 : 1
        outdated[index] = 0
        isSettled = false
    }

    private func isOther(_ index: Int) -> Bool {
        memcmp(before.luma + index * 16, now.luma + index * 16, 64) != 0
            || memcmp(before.chroma + index * 8, now.chroma + index * 8, 32) != 0
    }

    /// What was not looked at again is what it was.
    func settle() {
        guard !isSettled else { return }
        isSettled = true
        for index in 0..<columns * rows where outdated[index] != 0 {
            (now.luma + index * 16).update(from: before.luma + index * 16, count: 16)
            (now.chroma + index * 8).update(from: before.chroma + index * 8, count: 8)
            outdated[index] = 0
        }
    }

    /// What is now is what was before, to the next picture.
    func commit() {
        settle()
        // The tables change places. What is not looked at again next time is made equal then.
        swap(&before, &now)
        for index in 0..<columns * rows where pending[index] != 0 {
            outdated[index] = 1
            pending[index] = 0
            isSettled = false
        }
        hasBefore = true
    }

    /// What was before is not known any more: the next picture has to be looked at as a whole, and committed.
    func forget() { hasBefore = false }

    /// Whether a macroblock shows something else than before, by its place row by row.
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

    /// The last column's, of which the picture has a part.
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

    /// A piece of luma, which needs not be where a macroblock begins.
    @inline(__always)
    static func luma(_ source: UnsafePointer<UInt8>) -> UInt32 { mix(load(source), load(source + 8)) }

    /// One of both planes of chroma.
    @inline(__always)
    static func chroma(_ blue: UnsafePointer<UInt8>, _ red: UnsafePointer<UInt8>) -> UInt32 {
        mix(load(blue), load(red))
    }

    @inline(__always)
    private static func load(_ source: UnsafePointer<UInt8>) -> UInt64 {
        UnsafeRawPointer(source).loadUnaligned(as: UInt64.self)
    }

    /// Fewer bytes than eight: what is left of a picture's last column.
    private static func load(_ source: UnsafePointer<UInt8>, count: Int) -> UInt64 {
        var value: UInt64 = 0
        for index in 0..<max(min(count, 8), 0) { value = value << 8 | UInt64(source[index]) }
        return value
    }

    /// Both halves of a product, in which each bit of both sides has a part.
    @inline(__always)
    private static func mix(_ one: UInt64, _ other: UInt64) -> UInt32 {
        let product = (one ^ 0xA076_1D64_78BD_642F).multipliedFullWidth(by: other ^ 0xE703_7ED1_A0B4_28DB)
        return UInt32(truncatingIfNeeded: (product.high ^ product.low) >> 16)
    }
}
