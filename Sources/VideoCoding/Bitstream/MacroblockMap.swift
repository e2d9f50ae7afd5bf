package import RTCShareMedia

/// Some of a picture's macroblocks: squares of 16 by 16 pixels, those at the right and lower edge maybe cut (RFC 6386 §2).
package struct MacroblockMap: Sendable, Hashable {
    /// Macroblocks in a row.
    package let columns: Int
    /// Rows of macroblocks.
    package let rows: Int
    /// 1 for each macroblock that is in it, row by row from the left upper corner; 0 for the others.
    package private(set) var cells: [UInt8]
    /// How many are in it.
    package private(set) var count = 0

    /// None of the macroblocks of a picture of `size`.
    package init(size: PixelSize) {
        columns = (size.width + 15) / 16
        rows = (size.height + 15) / 16
        cells = Array(repeating: 0, count: columns * rows)
    }

    /// Those that are 1 in `cells`, of which there is one for each, 0 or 1.
    init(size: PixelSize, cells: [UInt8]) {
        columns = (size.width + 15) / 16
        rows = (size.height + 15) / 16
        self.cells = cells
        count = cells.reduce(0) { $0 + Int($1) }
    }

    /// Whether none is in it.
    package var isEmpty: Bool { count == 0 }

    /// The part of the picture that is in it, 0 to 1.
    package var share: Double { cells.isEmpty ? 0 : Double(count) / Double(cells.count) }

    /// Puts the macroblock of this number into it.
    package mutating func insert(_ index: Int) {
        guard cells[index] == 0 else { return }
        cells[index] = 1
        count += 1
    }

    /// Puts every macroblock that has a pixel of `rectangle` into it; a rectangle may stick out of the picture.
    package mutating func insert(_ rectangle: PixelRectangle) {
        let covered = cells(in: rectangle)
        for row in covered.rows {
            for column in covered.columns { insert(row * columns + column) }
        }
    }

    /// Puts all into it.
    package mutating func insertAll() {
        for index in cells.indices { cells[index] = 1 }
        count = cells.count
    }

    /// Puts those into it that are 1 in `cells`, and takes all others out.
    mutating func replace(with cells: [UInt8]) {
        count = 0
        for index in self.cells.indices {
            self.cells[index] = cells[index]
            count += Int(cells[index])
        }
    }

    /// Takes all out.
    package mutating func removeAll() {
        guard count > 0 else { return }
        for index in cells.indices { cells[index] = 0 }
        count = 0
    }

    /// Rectangles that cover the macroblocks that are not in it, and none that are.
    var rest: [PixelRectangle] {
        var rectangles: [PixelRectangle] = []
        for row in 0..<rows {
            var column = 0
            while column < columns {
                let first = column
                while column < columns, cells[row * columns + column] == 0 { column += 1 }
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

    /// Which columns and rows of macroblocks a rectangle has pixels of.
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
