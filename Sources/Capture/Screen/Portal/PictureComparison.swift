internal import Glibc
import RTCShareMedia

/// Finds the changed parts between two frames if the source does not report them.
enum PictureComparison {
    /// The number of rows that are compared together: a macroblock's.
    private static let bandHeight = 16
    /// The resolution of columns in bytes.
    private static let chunk = 64

    /// Returns the parts of `picture` that differ from pixels whose rows are `stride` bytes apart.
    static func changes(
        from picture: ScreenPicture, to start: UnsafeRawPointer, stride: Int
    ) -> [PixelRectangle] {
        guard let old = picture.memory.baseAddress else { return [] }
        let size = picture.size
        var parts: [PixelRectangle] = []
        for top in Swift.stride(from: 0, to: size.height, by: bandHeight) {
            let rows = top..<min(top + bandHeight, size.height)
            guard
                let columns = changedColumns(
                    rows, width: size.width, old: old, oldStride: picture.stride, new: start, newStride: stride)
            else { continue }
            let part = PixelRectangle(
                x: columns.lowerBound, y: top, size: PixelSize(width: columns.count, height: rows.count))
            // Adjacent bands are merged if the union contains few unchanged pixels.
            if let last = parts.last, last.y + last.size.height == top {
                let both = last.union(part)
                if both.size.area * 4 <= (last.size.area + part.size.area) * 5 {
                    parts[parts.count - 1] = both
                    continue
                }
            }
            parts.append(part)
        }
        return parts
    }

    private static func changedColumns(
        _ rows: Range<Int>, width: Int, old: UnsafeRawPointer, oldStride: Int, new: UnsafeRawPointer, newStride: Int
    ) -> Range<Int>? {
        let length = width * 4
        var (left, right) = (length, 0)
        for y in rows {
            let (one, other) = (old + y * oldStride, new + y * newStride)
            guard memcmp(one, other, length) != 0 else { continue }
            var first = 0
            while first < left {
                let count = min(chunk, length - first)
                if memcmp(one + first, other + first, count) != 0 { break }
                first += chunk
            }
            left = min(left, first)
            var end = length
            while end > right {
                let begin = (end - 1) / chunk * chunk
                if memcmp(one + begin, other + begin, end - begin) != 0 { break }
                end = begin
            }
            right = max(right, end)
        }
        return left < right ? left / 4..<right / 4 : nil
    }
}
