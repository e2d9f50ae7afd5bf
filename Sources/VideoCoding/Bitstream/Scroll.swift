internal import RTCShareMedia

/// A part of a picture that moved by whole pixels: a page up or down, a window anywhere.
struct Scroll: Equatable {
    /// The farthest that a motion vector reaches, up or down and sideways, where none is beside it to build on: ten bits of
    /// quarters of a pixel (RFC 6386 §17.2).
    static let largestDistance = 255

    /// The picture's size.
    let size: PixelSize
    /// How many rows below its place the content of a moved macroblock was: above zero where it moved up.
    var rows: Int
    /// How many columns right of its place it was: above zero where it moved left.
    var columns = 0
    /// 1 for each macroblock that moved, row by row.
    var moved: [UInt8]

    init(size: PixelSize, rows: Int, columns: Int = 0, moved: [UInt8]) {
        self.size = size
        self.rows = rows
        self.columns = columns
        self.moved = moved
    }

    /// Columns and rows of macroblocks.
    var extent: (columns: Int, rows: Int) { ((size.width + 15) / 16, (size.height + 15) / 16) }

    /// The rows of macroblocks whose content comes from inside of the picture.
    var reachableRows: Range<Int> { Self.reachable(extent.rows, from: rows) }
    /// The columns of such.
    var reachableColumns: Range<Int> { Self.reachable(extent.columns, from: columns) }

    /// Of so many macroblocks beside each other, those whose content comes from inside of them.
    private static func reachable(_ count: Int, from distance: Int) -> Range<Int> {
        // Of whole macroblocks, as they are decoded: the picture may end within the last.
        let first = min(max((-distance + 15) >> 4, 0), count)
        return first..<max(min(count - (distance + 15) >> 4, count), first)
    }

    /// Whether it can be said by vectors: not too far, something moves, and nothing of it comes from outside.
    var isExpressible: Bool {
        let (width, height) = extent
        guard (rows, columns) != (0, 0), max(abs(rows), abs(columns)) <= Self.largestDistance,
            moved.count == width * height
        else { return false }
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
