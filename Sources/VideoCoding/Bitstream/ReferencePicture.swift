internal import Glibc
internal import RTCShareCVPX
internal import RTCShareMedia

/// A picture that frames build on, as wide and high as its macroblocks are, and what a scroll makes of it.
///
/// It is exactly what a decoder makes of the same scroll (RFC 6386 §18): luma moves by whole pixels; chroma, of half the
/// rows and columns, by halves too, which its six taps interpolate.
final class ReferencePicture {
    private let columns: Int
    private let rows: Int
    private let planes: [UnsafeMutablePointer<UInt8>]
    /// A chroma plane as it was before it moved by half a row.
    private let copy: UnsafeMutablePointer<UInt8>
    private let memory: UnsafeMutablePointer<UInt8>
    /// A plane as it was before it moved sideways, and lines of what comes of it; empty before that happens.
    private var sideways: [UInt8] = []

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

    /// Becomes what libvpx, its encoder or decoder, has there.
    func copy(
        _ reference: ReferenceFrame, of context: UnsafeMutablePointer<vpx_codec_ctx_t>
    ) throws(VideoCodingError) -> vpx_codec_err_t {
        cvpx_reference(context, Int32(VP8_COPY_REFERENCE.rawValue), reference.name, try image())
    }

    /// Has libvpx, its encoder or decoder, have this there.
    func set(
        _ reference: ReferenceFrame, of context: UnsafeMutablePointer<vpx_codec_ctx_t>
    ) throws(VideoCodingError) -> vpx_codec_err_t {
        cvpx_reference(context, Int32(VP8_SET_REFERENCE.rawValue), reference.name, try image())
    }

    /// The same in libvpx's words. Rows follow each other without borders, so that none is written.
    private func image() throws(VideoCodingError) -> vpx_image_t {
        var image = vpx_image_t()
        let (width, height) = (UInt32(columns * 16), UInt32(rows * 16))
        guard vpx_img_wrap(&image, VPX_IMG_FMT_I420, width, height, 1, memory) != nil else {
            throw .codecFailed(operation: "wrapping a reference of \(width)x\(height)", reason: "refused")
        }
        return image
    }

    /// Samples of all planes.
    private var count: Int { columns * rows * 384 }

    /// Becomes as another is, which is of the same size.
    func copy(_ other: ReferencePicture) {
        memory.update(from: other.memory, count: min(count, other.count))
    }

    /// Whether both are the same, to a sample.
    func isSame(as other: ReferencePicture) -> Bool {
        count == other.count && memcmp(memory, other.memory, count) == 0
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

    // MARK: Sideways

    /// Columns left and right of a copied plane, which are as its first and its last.
    private static let margin = 16
    /// Lines of a block of chroma, two above it and three below.
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
        // In halves of a sample.
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
            // From the last line up where things move down.
            for line in 0..<8 {
                let y = row * 8 + (isDown ? 7 - line : line)
                func tap(_ number: Int) -> UnsafePointer<UInt8> {
                    // Above the first row and below the last they go on unchanged.
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

    /// A multiple of eight samples.
    private static func interpolate(_ range: Range<Int>, _ taps: Taps, into target: UnsafeMutablePointer<UInt8>) {
        var x = range.lowerBound
        while x + 16 <= range.upperBound {
            interpolate(SIMD8<UInt16>.self, taps, at: x, into: target)
            x += 16
        }
        if x < range.upperBound { interpolate(SIMD4<UInt16>.self, taps, at: x, into: target) }
    }

    /// As many pixels as a vector has bytes, of which each number holds two.
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

    /// 3, -16, 77, 77, -16, 3 of 128, not below zero and not above 255.
    @inline(__always)
    private static func interpolate<Vector: SIMD<UInt16>>(
        _ first: Vector, _ second: Vector, _ third: Vector, _ fourth: Vector, _ fifth: Vector, _ sixth: Vector
    ) -> Vector {
        let more = (third &+ fourth) &* Vector(repeating: 77) &+ (first &+ sixth) &* Vector(repeating: 3)
        let less = (second &+ fifth) &* Vector(repeating: 16)
        // Sums are from -8160 to 40 864: by 8192 more they have no sign.
        let value = (more &- less &+ Vector(repeating: 8192 + 64)) &>> Vector(repeating: 7)
        // Of 64 to 319, what is within 0 to 255.
        return pointwiseMin(pointwiseMax(value, Vector(repeating: 64)) &- Vector(repeating: 64), Vector(repeating: 255))
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

extension ReferenceFrame {
    /// libvpx's name.
    fileprivate var name: vpx_ref_frame_type_t {
        switch self {
        case .last: VP8_LAST_FRAME
        case .golden: VP8_GOLD_FRAME
        case .alternate: VP8_ALTR_FRAME
        }
    }
}
