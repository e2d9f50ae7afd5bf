internal import RTCShareMedia

/// A part of a frame that moved by whole pixels, such as a scrolled page or a dragged window.
struct Scroll: Equatable {
    /// The maximum vertical or horizontal distance of a motion vector without a neighbor to predict it: ten bits of
    /// quarter pixels (RFC 6386 §17.2).
    static let largestDistance = 255

    /// The size of the frame.
    let size: PixelSize
    /// The number of rows by which the source of a moved macroblock is below it: positive for an upward move.
    var rows: Int
    /// The number of columns by which the source is to its right: positive for a move to the left.
    var columns = 0
    /// The value 1 for each moved macroblock, row by row.
    var moved: [UInt8]

    init(size: PixelSize, rows: Int, columns: Int = 0, moved: [UInt8]) {
        self.size = size
        self.rows = rows
        self.columns = columns
        self.moved = moved
    }

    /// The numbers of columns and rows of macroblocks.
    var extent: (columns: Int, rows: Int) { ((size.width + 15) / 16, (size.height + 15) / 16) }

    /// The rows of macroblocks whose sources are within the frame.
    var reachableRows: Range<Int> { Self.reachable(extent.rows, from: rows) }
    /// The columns of macroblocks whose sources are within the frame.
    var reachableColumns: Range<Int> { Self.reachable(extent.columns, from: columns) }

    /// Returns the macroblocks, of `count` in a line, whose sources are within that line.
    private static func reachable(_ count: Int, from distance: Int) -> Range<Int> {
        // This uses whole macroblocks, as in decoding: the frame can end within the last one.
        let first = min(max((-distance + 15) >> 4, 0), count)
        return first..<max(min(count - (distance + 15) >> 4, count), first)
    }

    /// Replaces the value of each moved macroblock with the largest one of those at its source.
    func moveLargest<Value: Comparable>(_ values: inout [Value], from before: [Value]) {
        let (width, height) = extent
        for index in moved.indices where moved[index] != 0 {
            let (y, x) = (index / width * 16 + rows, index % width * 16 + columns)
            let (top, left) = (min(max(y >> 4, 0), height - 1), min(max(x >> 4, 0), width - 1))
            let (bottom, right) = (max(min((y + 15) >> 4, height - 1), top), max(min((x + 15) >> 4, width - 1), left))
            values[index] = max(
                before[top * width + left], before[bottom * width + left], before[top * width + right],
                before[bottom * width + right])
        }
    }

    /// Whether vectors of VP8 can express the scroll: the distance is in range, and ``isWithinFrame``.
    var isExpressible: Bool { max(abs(rows), abs(columns)) <= Self.largestDistance && isWithinFrame }

    /// Whether something moves, and all sources are within the frame.
    var isWithinFrame: Bool {
        let (width, height) = extent
        guard (rows, columns) != (0, 0), moved.count == width * height else { return false }
        let (down, across) = (reachableRows, reachableColumns)
        var moves = false
        for row in 0..<height {
            for column in 0..<width where moved[row * width + column] != 0 {
                guard down.contains(row), across.contains(column) else { return false }
                moves = true
            }
        }
        return moves
    }
}
