internal import Glibc
internal import RTCShareCVPX
internal import RTCShareMedia

/// A reference frame, whose size is a multiple of its macroblocks', and the effect of a scroll on it.
///
/// The result is exactly that of a decoder for the same scroll (RFC 6386 §18): luma moves by whole pixels. Chroma, with
/// half the rows and columns, can move by half samples, which a six-tap filter interpolates.
final class ReferencePicture {
    private let columns: Int
    private let rows: Int
    private let planes: [UnsafeMutablePointer<UInt8>]
    /// A copy of a chroma plane from before a move by half a row.
    private let copy: UnsafeMutablePointer<UInt8>
    private let memory: UnsafeMutablePointer<UInt8>
    /// A copy of a plane from before a move sideways, with lines of the result; empty until that happens.
    private var sideways: [UInt8] = []

    /// Creates a reference frame of this size, whose memory is not cleared.
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

    /// Copies a reference frame of libvpx's encoder or decoder into this one.
    func copy(
        _ reference: ReferenceFrame, of context: UnsafeMutablePointer<vpx_codec_ctx_t>
    ) throws(VideoCodingError) -> vpx_codec_err_t {
        cvpx_reference(context, Int32(VP8_COPY_REFERENCE.rawValue), reference.name, try image())
    }

    /// Copies this reference frame into libvpx's encoder or decoder.
    func set(
        _ reference: ReferenceFrame, of context: UnsafeMutablePointer<vpx_codec_ctx_t>
    ) throws(VideoCodingError) -> vpx_codec_err_t {
        cvpx_reference(context, Int32(VP8_SET_REFERENCE.rawValue), reference.name, try image())
    }

    /// Returns the frame as libvpx's image. The rows have no borders between them, so that none is written.
    private func image() throws(VideoCodingError) -> vpx_image_t {
        var image = vpx_image_t()
        let (width, height) = (UInt32(columns * 16), UInt32(rows * 16))
        guard vpx_img_wrap(&image, VPX_IMG_FMT_I420, width, height, 1, memory) != nil else {
            throw .codecFailed(
                library: "libvpx", operation: "wrapping a reference of \(width)x\(height)", reason: "refused")
        }
        return image
    }

    /// The number of samples in all planes.
    private var count: Int { columns * rows * 384 }

    /// Copies another reference frame of the same size.
    func copy(_ other: ReferencePicture) {
        memory.update(from: other.memory, count: min(count, other.count))
    }

    /// Whether all samples are equal.
    func isSame(as other: ReferencePicture) -> Bool {
        count == other.count && memcmp(memory, other.memory, count) == 0
    }

    /// Calls `body` with each plane and its stride: luma, then the two chroma planes.
    func withPlanes(_ body: (_ plane: UnsafePointer<UInt8>, _ stride: Int) -> Void) {
        body(planes[0], columns * 16)
        for plane in planes.dropFirst() { body(plane, columns * 8) }
    }

    /// The samples: luma, and the two chroma planes, whose rows are half as long.
    var samples: (planes: [UnsafeMutablePointer<UInt8>], stride: Int) { (planes, columns * 16) }

    /// Moves the scroll's macroblocks. The scroll must be expressible.
    func apply(_ scroll: Scroll) {
        guard scroll.columns == 0 else { return applySideways(scroll) }
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

    /// Moves in place: rows are written in an order in which no later one needs the overwritten samples.
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

    // MARK: Sideways

    /// The number of columns to the left and right of a copied plane, which repeat its first and its last.
    private static let margin = 16
    /// The number of lines for a chroma block, two above it and three below.
    private static let sourceLines = 13

    private func applySideways(_ scroll: Scroll) {
        let width = columns * 16 + Self.margin * 2
        let count = width * rows * 16
        if sideways.isEmpty { sideways = Array(repeating: 0, count: count + width * Self.sourceLines) }
        sideways.withUnsafeMutableBufferPointer { memory in
            guard let copy = memory.baseAddress else { return }
            for (index, plane) in planes.enumerated() {
                moveSideways(plane, by: scroll, blockSize: index == 0 ? 16 : 8, copy: copy, lines: copy + count)
            }
        }
    }

    private func moveSideways(
        _ plane: UnsafeMutablePointer<UInt8>, by scroll: Scroll, blockSize: Int, copy: UnsafeMutablePointer<UInt8>,
        lines: UnsafeMutablePointer<UInt8>
    ) {
        let (stride, height) = (columns * blockSize, rows * blockSize)
        let width = stride + Self.margin * 2
        for y in 0..<height {
            let (line, source) = (copy + y * width, plane + y * stride)
            line.update(repeating: source[0], count: Self.margin)
            (line + Self.margin).update(from: source, count: stride)
            (line + Self.margin + stride).update(repeating: source[stride - 1], count: Self.margin)
        }
        // The distances in half samples.
        let (down, across) = blockSize == 16 ? (scroll.rows * 2, scroll.columns * 2) : (scroll.rows, scroll.columns)
        let (isHalfDown, isHalfAcross) = (!down.isMultiple(of: 2), !across.isMultiple(of: 2))
        scroll.moved.withUnsafeBufferPointer { moved in
            forEachSpan(moved, within: scroll.reachableRows, isDown: false) { row, first, end in
                let count = (end - first) * blockSize
                let target = plane + row * blockSize * stride + first * blockSize
                func source(_ line: Int) -> UnsafePointer<UInt8> {
                    let y = min(max(row * blockSize + line + down >> 1, 0), height - 1)
                    return UnsafePointer(copy + y * width + Self.margin + first * blockSize + across >> 1)
                }
                guard isHalfDown || isHalfAcross else {
                    for line in 0..<blockSize { memcpy(target + line * stride, source(line), count) }
                    return
                }
                for line in 0..<Self.sourceLines {
                    let source = source(line - 2)
                    if isHalfAcross {
                        let taps = (source - 2, source - 1, source, source + 1, source + 2, source + 3)
                        Self.interpolate(0..<count, taps, into: lines + line * width)
                    } else {
                        memcpy(lines + line * width, source, count)
                    }
                }
                for line in 0..<blockSize {
                    func tap(_ number: Int) -> UnsafePointer<UInt8> { UnsafePointer(lines + (line + number) * width) }
                    if isHalfDown {
                        let taps = (tap(0), tap(1), tap(2), tap(3), tap(4), tap(5))
                        Self.interpolate(0..<count, taps, into: target + line * stride)
                    } else {
                        memcpy(target + line * stride, tap(2), count)
                    }
                }
            }
        }
    }

    // MARK: Interpolation

    /// Interpolates from `distance` rows below plus a half: in place if the distance is so large that no overwritten
    /// sample is needed, otherwise from a copy.
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
            // For a downward move, this starts with the last line.
            for line in 0..<8 {
                let y = row * 8 + (isDown ? 7 - line : line)
                func tap(_ number: Int) -> UnsafePointer<UInt8> {
                    // Rows above the first and below the last repeat them.
                    source + min(max(y + distance - 2 + number, 0), last) * stride
                }
                let taps = (tap(0), tap(1), tap(2), tap(3), tap(4), tap(5))
                Self.interpolate(first * 8..<end * 8, taps, into: plane + y * stride)
            }
        }
    }

    private typealias Taps = (
        UnsafePointer<UInt8>, UnsafePointer<UInt8>, UnsafePointer<UInt8>, UnsafePointer<UInt8>, UnsafePointer<UInt8>,
        UnsafePointer<UInt8>
    )

    /// Interpolates a multiple of eight samples.
    private static func interpolate(_ range: Range<Int>, _ taps: Taps, into target: UnsafeMutablePointer<UInt8>) {
        var x = range.lowerBound
        while x + 16 <= range.upperBound {
            interpolate(SIMD8<UInt16>.self, taps, at: x, into: target)
            x += 16
        }
        if x < range.upperBound { interpolate(SIMD4<UInt16>.self, taps, at: x, into: target) }
    }

    /// Interpolates as many pixels as a vector has bytes. Each number contains two pixels.
    @inline(__always)
    private static func interpolate<Vector: SIMD<UInt16>>(
        _ type: Vector.Type, _ taps: Taps, at x: Int, into target: UnsafeMutablePointer<UInt8>
    ) {
        func load(_ line: UnsafePointer<UInt8>) -> Vector { UnsafeRawPointer(line + x).loadUnaligned(as: type) }
        let (first, second, third) = (load(taps.0), load(taps.1), load(taps.2))
        let (fourth, fifth, sixth) = (load(taps.3), load(taps.4), load(taps.5))
        let low = Vector(repeating: 0xFF)
        let even = interpolate(first & low, second & low, third & low, fourth & low, fifth & low, sixth & low)
        let byte = Vector(repeating: 8)
        let odd = interpolate(
            first &>> byte, second &>> byte, third &>> byte, fourth &>> byte, fifth &>> byte, sixth &>> byte)
        UnsafeMutableRawPointer(target + x).storeBytes(of: even | odd &<< byte, as: type)
    }

    /// Returns the filter (3, -16, 77, 77, -16, 3) / 128, limited to the range from 0 to 255.
    @inline(__always)
    private static func interpolate<Vector: SIMD<UInt16>>(
        _ first: Vector, _ second: Vector, _ third: Vector, _ fourth: Vector, _ fifth: Vector, _ sixth: Vector
    ) -> Vector {
        let more = (third &+ fourth) &* Vector(repeating: 77) &+ (first &+ sixth) &* Vector(repeating: 3)
        let less = (second &+ fifth) &* Vector(repeating: 16)
        // The sums are from -8160 to 40 864. The addition of 8192 makes them positive.
        let value = (more &- less &+ Vector(repeating: 8192 + 64)) &>> Vector(repeating: 7)
        // This limits 64 to 319 to the range from 0 to 255.
        return pointwiseMin(pointwiseMax(value, Vector(repeating: 64)) &- Vector(repeating: 64), Vector(repeating: 255))
    }

    /// Calls `body` with each run of moved macroblocks, row by row, from the bottom for a downward move.
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

extension ReferenceFrame {
    /// libvpx's name of the reference frame.
    fileprivate var name: vpx_ref_frame_type_t {
        switch self {
        case .last: VP8_LAST_FRAME
        case .golden: VP8_GOLD_FRAME
        case .alternate: VP8_ALTR_FRAME
        }
    }
}
