internal import Glibc
internal import RTCShareMedia

/// Moves a part of an image exactly as a decoder of AV1 does for a scroll with the bilinear filter (AV1 §7.11.3.4).
///
/// Luma moves by whole samples. Chroma, with half the rows and columns, can move by half samples, which are the rounded
/// averages of two samples, or four.
struct PictureMover {
    /// A copy of a plane from before the move, in whole macroblocks and with one more sample to the right and below.
    /// Samples outside the frame are those at its edge.
    private var copy: [UInt8] = []

    /// Moves the scroll's macroblocks. All sources must be within the frame, which must be of the scroll's size.
    mutating func move(_ image: I420Samples, by scroll: Scroll) {
        let (columns, rows) = scroll.extent
        let stride = columns * 16 + 1
        if copy.count != stride * (rows * 16 + 1) { copy = Array(repeating: 0, count: stride * (rows * 16 + 1)) }
        let (width, height) = (scroll.size.width, scroll.size.height)
        copy.withUnsafeMutableBufferPointer { copy in
            guard let copy = copy.baseAddress else { return }
            scroll.moved.withUnsafeBufferPointer { moved in
                func move(_ first: UnsafeMutablePointer<UInt8>, _ planeStride: Int, _ shift: Int) {
                    Plane(
                        first: first, stride: planeStride, width: (width + shift) >> shift,
                        height: (height + shift) >> shift, copy: copy, copyStride: stride
                    ).move(moved, by: scroll, blockSize: 16 >> shift)
                }
                move(image.luma, image.lumaStride, 0)
                move(image.blue, image.chromaStride, 1)
                move(image.red, image.chromaStride, 1)
            }
        }
    }
}

/// A plane of an image, and the copy of it.
private struct Plane {
    let first: UnsafeMutablePointer<UInt8>
    let stride: Int
    let width: Int
    let height: Int
    let copy: UnsafeMutablePointer<UInt8>
    let copyStride: Int

    /// Moves the blocks of a scroll, which are of 16 samples per side in luma, and of 8 in chroma.
    func move(_ moved: UnsafeBufferPointer<UInt8>, by scroll: Scroll, blockSize: Int) {
        let columns = scroll.extent.columns
        let shift = blockSize == 16 ? 0 : 1
        let distance = (scroll.rows >> shift) * copyStride + scroll.columns >> shift
        // The distances of the next samples, if those between are wanted.
        let right = shift & scroll.columns
        let below = (shift & scroll.rows) * copyStride
        guard let top = moved.firstIndex(where: { $0 != 0 }), let bottom = moved.lastIndex(where: { $0 != 0 }) else {
            return
        }
        let blocks = top / columns...bottom / columns
        let lines = blocks.lowerBound * blockSize..<(blocks.upperBound + 1) * blockSize
        save(
            from: lines.lowerBound + scroll.rows >> shift, lineCount: lines.count + 1,
            columns: columns * blockSize + 1)
        for row in blocks {
            var column = 0
            while column < columns {
                let start = column
                while column < columns, moved[row * columns + column] != 0 { column += 1 }
                defer { column += 1 }
                guard column > start else { continue }
                let x = start * blockSize
                let count = min(column * blockSize, width) - x
                for y in row * blockSize..<min((row + 1) * blockSize, height) {
                    let target = first + y * stride + x
                    let source = copy + y * copyStride + x + distance
                    switch (right, below) {
                    case (0, 0): memcpy(target, source, count)
                    case (0, _): Self.average(source, source + below, target, count)
                    case (_, 0): Self.average(source, source + right, target, count)
                    default: Self.average4(source, source + below, target, count)
                    }
                }
            }
        }
    }

    /// Copies lines, and repeats the plane's last column and line where they extend past it.
    private func save(from top: Int, lineCount: Int, columns: Int) {
        for row in top..<top + lineCount {
            let line = copy + row * copyStride
            memcpy(line, first + min(row, height - 1) * stride, width)
            memset(line + width, Int32(line[width - 1]), columns - width)
        }
    }

    private static func average(
        _ one: UnsafePointer<UInt8>, _ other: UnsafePointer<UInt8>, _ target: UnsafeMutablePointer<UInt8>, _ count: Int
    ) {
        for index in 0..<count {
            target[index] = UInt8(truncatingIfNeeded: (UInt16(one[index]) &+ UInt16(other[index]) &+ 1) >> 1)
        }
    }

    /// Writes averages of two samples in a row and the two in another.
    private static func average4(
        _ row: UnsafePointer<UInt8>, _ other: UnsafePointer<UInt8>, _ target: UnsafeMutablePointer<UInt8>, _ count: Int
    ) {
        for index in 0..<count {
            let sum = UInt16(row[index]) &+ UInt16(row[index + 1]) &+ UInt16(other[index]) &+ UInt16(other[index + 1])
            target[index] = UInt8(truncatingIfNeeded: (sum &+ 2) >> 2)
        }
    }
}
