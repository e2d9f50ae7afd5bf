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
                    copy.update(from: plane, count: columns * rows * 64)
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
        func moveRow(_ y: Int) {
            forEachSpan(moved, inRow: y / blockSize) { first, end in
                let target = plane + y * stride + first * blockSize
                memcpy(target, target + distance * stride, (end - first) * blockSize)
            }
        }
        let lines = reachable.lowerBound * blockSize..<reachable.upperBound * blockSize
        if distance > 0 {
            for y in lines { moveRow(y) }
        } else {
            for y in lines.reversed() { moveRow(y) }
        }
    }

    /// From the copy, `distance` rows below and a half.
    private func interpolate(
        _ plane: UnsafeMutablePointer<UInt8>, _ moved: UnsafeBufferPointer<UInt8>, within reachable: Range<Int>,
        by distance: Int
    ) {
        let stride = columns * 8
        let last = rows * 8 - 1
        for y in reachable.lowerBound * 8..<reachable.upperBound * 8 {
            // Above the first row and below the last they go on unchanged.
            func row(_ offset: Int) -> UnsafePointer<UInt8> {
                UnsafePointer(copy + min(max(y + distance + offset, 0), last) * stride)
            }
            let taps = (row(-2), row(-1), row(0), row(1), row(2), row(3))
            forEachSpan(moved, inRow: y / 8) { first, end in
                let target = plane + y * stride
                for x in Swift.stride(from: first * 8, to: end * 8, by: 8) {
                    let outer = Self.load(taps.0 + x) &+ Self.load(taps.5 + x)
                    let middle = Self.load(taps.1 + x) &+ Self.load(taps.4 + x)
                    let inner = Self.load(taps.2 + x) &+ Self.load(taps.3 + x)
                    // 3, -16, 77, 77, -16, 3 of 128; the sums stay within 16 bits, and below zero is zero.
                    let sum = inner &* 77 &+ outer &* 3 &+ 64
                    let less = middle &* 16
                    let value = pointwiseMin((pointwiseMax(sum, less) &- less) &>> 7, SIMD8(repeating: 255))
                    UnsafeMutableRawPointer(target + x).storeBytes(
                        of: SIMD8<UInt8>(truncatingIfNeeded: value), as: SIMD8<UInt8>.self)
                }
            }
        }
    }

    @inline(__always)
    private static func load(_ pixels: UnsafePointer<UInt8>) -> SIMD8<UInt16> {
        SIMD8(truncatingIfNeeded: UnsafeRawPointer(pixels).loadUnaligned(as: SIMD8<UInt8>.self))
    }

    /// The runs of moved macroblocks of a row.
    @inline(__always)
    private func forEachSpan(
        _ moved: UnsafeBufferPointer<UInt8>, inRow row: Int, _ body: (_ first: Int, _ end: Int) -> Void
    ) {
        var column = 0
        while column < columns {
            guard moved[row * columns + column] != 0 else {
                column += 1
                continue
            }
            let first = column
            while column < columns, moved[row * columns + column] != 0 { column += 1 }
            body(first, column)
        }
    }
}
