internal import CVPX
internal import Glibc
internal import Media

/// A picture that frames build on, as wide and high as its macroblocks are, and what a scroll makes of it.
///
/// It is exactly what a decoder makes of the same scroll (RFC 6386 §18): luma moves by whole pixels; chroma, of half the
/// rows, by halves too, which its six taps interpolate.
final class ReferencePicture {
    private let columns: Int
    private let rows: Int
    private let planes: [UnsafeMutablePointer<UInt8>]
    /// A chroma plane as it was before it moved by half a row.
    private let copy: UnsafeMutablePointer<UInt8>
    private let memory: UnsafeMutablePointer<UInt8>

    /// A picture of this size, whose memory is not cleared.
    init(size: PixelSize) {
        columns = (size.width + 15) / 16
        rows = (size.height + 15) / 16
        let block = columns * rows * 64
        memory = .allocate(capacity: block * 7)
        planes = [memory, memory + block * 4, memory + block * 5]
        copy = memory + block * 6
    }

    deinit {
        memory.deallocate()
    }

    func matches(_ size: PixelSize) -> Bool {
        columns == (size.width + 15) / 16 && rows == (size.height + 15) / 16
    }

    /// Lends it to libvpx, which copies from it or to it. Rows follow each other without borders, so that none is written.
    func withImage<Result>(_ body: (vpx_image_t) throws(VideoCodingError) -> Result) throws(VideoCodingError) -> Result
    {
        var image = vpx_image_t()
        let (width, height) = (UInt32(columns * 16), UInt32(rows * 16))
        guard vpx_img_wrap(&image, VPX_IMG_FMT_I420, width, height, 1, memory) != nil else {
            throw .codecFailed(operation: "wrapping a reference of \(width)x\(height)", reason: "refused")
        }
        return try body(image)
    }

    /// Each plane and its stride: luma, then the two of chroma.
    func withPlanes(_ body: (_ plane: UnsafePointer<UInt8>, _ stride: Int) -> Void) {
        body(planes[0], columns * 16)
        for plane in planes.dropFirst() { body(plane, columns * 8) }
    }

    /// Its samples: luma, and the two planes of chroma, whose rows are half as long.
    var samples: (planes: [UnsafeMutablePointer<UInt8>], stride: Int) { (planes, columns * 16) }

    /// Moves what the scroll moves, which has to be expressible.
    func apply(_ scroll: Scroll) {
        let reachable = scroll.reachableRows
        scroll.moved.withUnsafeBufferPointer { moved in
            move(planes[0], moved, within: reachable, by: scroll.rows, blockSize: 16)
            for plane in planes.dropFirst() {
                if scroll.rows.isMultiple(of: 2) {
                    move(plane, moved, within: reachable, by: scroll.rows / 2, blockSize: 8)
                } else {
                    interpolate(plane, moved, within: reachable, by: scroll.rows >> 1)
                }
            }
        }
    }

    /// In place: rows are written in the order in which none is needed any more.
    private func move(
        _ plane: UnsafeMutablePointer<UInt8>, _ moved: UnsafeBufferPointer<UInt8>, within reachable: Range<Int>,
        by distance: Int, blockSize: Int
    ) {
        let stride = columns * blockSize
        forEachSpan(moved, within: reachable, isDown: distance < 0) { row, first, end in
            let target = plane + row * blockSize * stride + first * blockSize
            let count = (end - first) * blockSize
            for line in 0..<blockSize {
                let start = (distance > 0 ? line : blockSize - 1 - line) * stride
                memcpy(target + start, target + start + distance * stride, count)
            }
        }
    }

    /// From `distance` rows below and a half: in place where that is so far that none is needed any more, or else from a
    /// copy.
    private func interpolate(
        _ plane: UnsafeMutablePointer<UInt8>, _ moved: UnsafeBufferPointer<UInt8>, within reachable: Range<Int>,
        by distance: Int
    ) {
        let stride = columns * 8
        let last = rows * 8 - 1
        var source = UnsafePointer(plane)
        if (-3...2).contains(distance) {
            copy.update(from: plane, count: columns * rows * 64)
            source = UnsafePointer(copy)
        }
        let isDown = distance < 0
        forEachSpan(moved, within: reachable, isDown: isDown) { row, first, end in
            // Lines as they go: from the last one up where things move down. The taps are the same in both orders.
            func tap(_ number: Int) -> Int {
                let y = isDown ? row * 8 + 7 + distance + 3 - number : row * 8 + distance - 2 + number
                // Above the first row and below the last they go on unchanged.
                return min(max(y, 0), last) * stride
            }
            let target = plane + (isDown ? row * 8 + 7 : row * 8) * stride
            var x = first * 8
            while x + 16 <= end * 8 {
                Self.interpolate(
                    source + x, tap, into: target + x, step: isDown ? -stride : stride,
                    widen: { (pixels: SIMD16<UInt8>) in SIMD16<Int16>(truncatingIfNeeded: pixels) },
                    narrow: { SIMD16(truncatingIfNeeded: $0) })
                x += 16
            }
            guard x < end * 8 else { return }
            Self.interpolate(
                source + x, tap, into: target + x, step: isDown ? -stride : stride,
                widen: { (pixels: SIMD8<UInt8>) in SIMD8<Int16>(truncatingIfNeeded: pixels) },
                narrow: { SIMD8(truncatingIfNeeded: $0) })
        }
    }

    /// Eight lines, each of six, of which one is new each time.
    @inline(__always)
    private static func interpolate<Pixels: SIMD<UInt8>, Wide: SIMD<Int16>>(
        _ source: UnsafePointer<UInt8>, _ tap: (Int) -> Int, into target: UnsafeMutablePointer<UInt8>, step: Int,
        widen: (Pixels) -> Wide, narrow: (Wide) -> Pixels
    ) {
        func line(_ number: Int) -> Wide {
            widen(UnsafeRawPointer(source + tap(number)).loadUnaligned(as: Pixels.self))
        }
        var (first, second, third, fourth, fifth) = (line(0), line(1), line(2), line(3), line(4))
        var target = target
        for number in 0..<8 {
            let sixth = line(number + 5)
            let value = interpolate(first, second, third, fourth, fifth, sixth)
            UnsafeMutableRawPointer(target).storeBytes(of: narrow(value), as: Pixels.self)
            (first, second, third, fourth, fifth) = (second, third, fourth, fifth, sixth)
            target += step
        }
    }

    /// 3, -16, 77, 77, -16, 3 of 128. Sums are from -8160 to 40 864: less 16 384 they are numbers of sixteen bits.
    @inline(__always)
    private static func interpolate<Vector: SIMD<Int16>>(
        _ first: Vector, _ second: Vector, _ third: Vector, _ fourth: Vector, _ fifth: Vector, _ sixth: Vector
    ) -> Vector {
        let sum =
            (third &+ fourth) &* Vector(repeating: 77) &+ (first &+ sixth) &* Vector(repeating: 3)
            &- (second &+ fifth) &* Vector(repeating: 16) &+ Vector(repeating: 64 - 16_384)
        let value = sum &>> Vector(repeating: 7) &+ Vector(repeating: 128)
        // Not below zero, and not above 255, without looking at each.
        let positive = value & ~(value &>> Vector(repeating: 15))
        let room = Vector(repeating: 255) &- positive
        return positive &+ (room & (room &>> Vector(repeating: 15)))
    }

    /// The runs of moved macroblocks, row by row, from below where things move down.
    @inline(__always)
    private func forEachSpan(
        _ moved: UnsafeBufferPointer<UInt8>, within reachable: Range<Int>, isDown: Bool,
        _ body: (_ row: Int, _ first: Int, _ end: Int) -> Void
    ) {
        for index in 0..<reachable.count {
            let row = isDown ? reachable.upperBound - 1 - index : reachable.lowerBound + index
            var column = 0
            while column < columns {
                guard moved[row * columns + column] != 0 else {
                    column += 1
                    continue
                }
                let first = column
                while column < columns, moved[row * columns + column] != 0 { column += 1 }
                body(row, first, column)
            }
        }
    }
}
