internal import RTCShareMedia

/// A part of a picture that moved up or down by whole rows.
struct Scroll: Equatable {
    /// The farthest that a motion vector reaches where none is beside it to build on: ten bits of quarters of a pixel
    /// (RFC 6386 §17.2).
    static let largestDistance = 255

    /// The picture's size.
    let size: PixelSize
    /// How many rows below its place the content of a moved macroblock was: above zero where it moved up.
    var rows: Int
    /// 1 for each macroblock that moved, row by row.
    var moved: [UInt8]

    init(size: PixelSize, rows: Int, moved: [UInt8]) {
        self.size = size
        self.rows = rows
        self.moved = moved
    }

    /// Columns and rows of macroblocks.
    var extent: (columns: Int, rows: Int) { ((size.width + 15) / 16, (size.height + 15) / 16) }

    /// The rows of macroblocks whose content comes from inside of the picture.
    var reachableRows: Range<Int> {
        let count = extent.rows
        // Of whole macroblocks, as they are decoded: the picture may end within the last.
        let first = min(max((-rows + 15) >> 4, 0), count)
        return first..<max(min(count - (rows + 15) >> 4, count), first)
    }

    /// Whether it can be said by vectors: not too far, something moves, and nothing of it comes from outside.
    var isExpressible: Bool {
        let (columns, count) = extent
        guard rows != 0, abs(rows) <= Self.largestDistance, moved.count == columns * count else { return false }
        let reachable = reachableRows
        var moves = false
        for row in 0..<count {
            for index in row * columns..<(row + 1) * columns where moved[index] != 0 {
                guard reachable.contains(row) else { return false }
                moves = true
            }
        }
        return moves
    }
}
