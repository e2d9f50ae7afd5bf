package import RTCShareMedia

/// A set of a frame's macroblocks: squares of 16 by 16 pixels, which the right and lower edges can cut (RFC 6386 §2).
package struct MacroblockMap: Sendable, Hashable {
    /// The number of macroblocks in a row.
    package let columns: Int
    /// The number of rows of macroblocks.
    package let rows: Int
    /// The value 1 for each macroblock in the set, row by row from the upper left corner, and 0 for the others.
    package private(set) var cells: [UInt8]
    /// The number of macroblocks in the set.
    package private(set) var count = 0

    /// Creates an empty set for a frame of `size`.
    package init(size: PixelSize) {
        columns = (size.width + 15) / 16
        rows = (size.height + 15) / 16
        cells = Array(repeating: 0, count: columns * rows)
    }

    /// Creates a set from its cells.
    init(size: PixelSize, cells: [UInt8]) {
        columns = (size.width + 15) / 16
        rows = (size.height + 15) / 16
        self.cells = cells
        count = cells.reduce(0) { $0 + Int($1) }
    }

    /// Whether the set is empty.
    package var isEmpty: Bool { count == 0 }

    /// The fraction of the frame that is in the set, 0 to 1.
    package var share: Double { cells.isEmpty ? 0 : Double(count) / Double(cells.count) }

    /// Adds the macroblock with this index.
    package mutating func insert(_ index: Int) {
        guard cells[index] == 0 else { return }
        cells[index] = 1
        count += 1
    }

    /// Adds every macroblock with a pixel in `rectangle`, which can extend past the frame.
    package mutating func insert(_ rectangle: PixelRectangle) {
        let covered = cells(in: rectangle)
        for row in covered.rows {
            for column in covered.columns { insert(row * columns + column) }
        }
    }

    /// Adds all macroblocks.
    package mutating func insertAll() {
        for index in cells.indices { cells[index] = 1 }
        count = cells.count
    }

    /// Replaces the set with one of these cells.
    mutating func replace(with cells: [UInt8]) {
        count = 0
        for index in self.cells.indices {
            self.cells[index] = cells[index]
            count += Int(cells[index])
        }
    }

    /// Removes all macroblocks.
    package mutating func removeAll() {
        guard count > 0 else { return }
        for index in cells.indices { cells[index] = 0 }
        count = 0
    }

    /// Removes the macroblocks of another set, of a frame of the same size.
    mutating func remove(_ other: MacroblockMap) {
        for index in cells.indices where cells[index] != 0 && other.cells[index] != 0 {
            cells[index] = 0
            count -= 1
        }
    }

    /// Returns the macroblocks that are in either set. Both are of frames of the same size.
    func union(_ other: MacroblockMap) -> MacroblockMap {
        var result = self
        for index in cells.indices where other.cells[index] != 0 { result.insert(index) }
        return result
    }

    /// Returns the set with all macroblocks of their blocks of 64 by 64 pixels, and those next to such blocks.
    func withSurroundings() -> MacroblockMap {
        var result = self
        var blocks: Set<Int> = []
        for index in cells.indices where cells[index] != 0 {
            let (column, row) = (index % columns / 4, index / columns / 4)
            guard blocks.insert(row * columns + column).inserted else { continue }
            result.insert(
                PixelRectangle(x: column * 64 - 16, y: row * 64 - 16, size: PixelSize(width: 96, height: 96)))
        }
        return result
    }

    /// Rectangles that cover exactly the macroblocks that are not in the set.
    var rest: [PixelRectangle] { rectangles(of: 0) }

    /// Returns rectangles that cover exactly the macroblocks in the set, for 1, or the others, for 0. They can extend
    /// past the frame.
    func rectangles(of value: UInt8) -> [PixelRectangle] {
        var rectangles: [PixelRectangle] = []
        for row in 0..<rows {
            var column = 0
            while column < columns {
                let first = column
                while column < columns, cells[row * columns + column] == value { column += 1 }
                if column > first {
                    rectangles.append(
                        PixelRectangle(
                            x: first * 16, y: row * 16, size: PixelSize(width: (column - first) * 16, height: 16)))
                }
                column += 1
            }
        }
        return rectangles
    }

    /// Returns the columns and rows of macroblocks that have pixels of a rectangle.
    func cells(in rectangle: PixelRectangle) -> (columns: Range<Int>, rows: Range<Int>) {
        func covered(_ first: Int, _ length: Int, limit: Int) -> Range<Int> {
            let (end, isFar) = first.addingReportingOverflow(length)
            guard length > 0, isFar || end > 0, first / 16 < limit else { return 0..<0 }
            return max(first, 0) / 16..<(isFar ? limit : min((end - 1) / 16 + 1, limit))
        }
        return (
            covered(rectangle.x, rectangle.size.width, limit: columns),
            covered(rectangle.y, rectangle.size.height, limit: rows)
        )
    }
}
