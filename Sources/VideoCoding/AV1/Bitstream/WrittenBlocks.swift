/// The blocks of a tile that are written so far, and the vectors that decoders derive from them for the next one.
///
/// Each block is predicted from the same frame, and stays or moves by the frame's only vector. Blocks consist of cells
/// of 8 by 8 pixels.
struct WrittenBlocks {
    struct Block {
        /// The size in cells; zero before it is written.
        var width: UInt8 = 0
        var height: UInt8 = 0
        var isMoved = false
        /// Whether its vector is written, not one of its neighbors'.
        var hasNewVector = false
    }

    /// The part of the tile that a block covers, in cells. It can extend past the tile.
    struct Place {
        let column: Int
        let row: Int
        let width: Int
        let height: Int
    }

    /// The numbers of columns and rows of cells.
    let columns: Int
    let rows: Int
    private var cells: [Block]

    init(columns: Int, rows: Int) {
        self.columns = columns
        self.rows = rows
        cells = Array(repeating: Block(), count: columns * rows)
    }

    /// Returns the block at a cell; nil if it is outside the tile or not written.
    @inline(__always)
    subscript(column: Int, row: Int) -> Block? {
        guard column >= 0, column < columns, row >= 0, row < rows else { return nil }
        let block = cells[row * columns + column]
        return block.width == 0 ? nil : block
    }

    /// Records a block that is written.
    mutating func insert(_ place: Place, isMoved: Bool, hasNewVector: Bool) {
        let block = Block(
            width: UInt8(place.width), height: UInt8(place.height), isMoved: isMoved, hasNewVector: hasNewVector)
        let width = min(place.width, columns - place.column)
        for row in place.row..<min(place.row + place.height, rows) {
            for cell in row * columns + place.column..<row * columns + place.column + width { cells[cell] = block }
        }
    }

    // MARK: Vectors

    /// The vectors of the neighbors (AV1 §7.10.2): at most two, that of the scroll and zero.
    struct Candidates {
        /// The weights of blocks at rest and of moved ones; zero if there are none.
        private var weights = (resting: 0, moved: 0)
        private var beganMoved = false
        /// Whether a neighbor has a new vector.
        fileprivate(set) var hasNewVector = false

        @inline(__always)
        fileprivate mutating func add(_ block: Block, weight: Int) {
            if weights == (0, 0) { beganMoved = block.isMoved }
            if block.isMoved { weights.moved += weight } else { weights.resting += weight }
        }

        /// Puts the nearest vectors before all others.
        fileprivate mutating func promote() {
            if weights.resting > 0 { weights.resting += 640 }
            if weights.moved > 0 { weights.moved += 640 }
        }

        /// Whether the scroll's vector is in the stack.
        var hasMoved: Bool { weights.moved > 0 }
        /// Whether the scroll's vector is the first in the stack. Otherwise zero is, which also fills the stack.
        var beginsMoved: Bool {
            weights.moved > weights.resting || weights.moved == weights.resting && hasMoved && beganMoved
        }
    }

    /// Returns the vectors in the order that decoders use for the block at a place.
    func candidates(at place: Place) -> Candidates {
        var result = Candidates()
        scanAbove(place, distance: 1, &result)
        scanLeft(place, distance: 1, &result)
        if let block = self[place.column + place.width, place.row - 1] {
            result.add(block, weight: 4)
            if block.hasNewVector { result.hasNewVector = true }
        }
        result.promote()
        if let block = self[place.column - 1, place.row - 1] { result.add(block, weight: 4) }
        for distance in 2...3 {
            scanAbove(place, distance: distance, &result)
            scanLeft(place, distance: distance, &result)
        }
        return result
    }

    /// Adds the blocks in a row of cells above a block. Their weights are their common width, in units of 2 pixels.
    @inline(__always)
    private func scanAbove(_ place: Place, distance: Int, _ candidates: inout Candidates) {
        let row = place.row - distance
        guard row >= 0 else { return }
        var column = place.column
        let end = min(column + place.width, columns)
        while column < end {
            let block = cells[row * columns + column]
            // Blocks of 64 pixels look only at every second cell.
            let length = max(min(place.width, Int(block.width)), place.width == 8 ? 2 : 1)
            candidates.add(block, weight: length * 4)
            if distance == 1, block.hasNewVector { candidates.hasNewVector = true }
            column += length
        }
    }

    @inline(__always)
    private func scanLeft(_ place: Place, distance: Int, _ candidates: inout Candidates) {
        let column = place.column - distance
        guard column >= 0 else { return }
        var row = place.row
        let end = min(row + place.height, rows)
        while row < end {
            let block = cells[row * columns + column]
            let length = max(min(place.height, Int(block.height)), place.height == 8 ? 2 : 1)
            candidates.add(block, weight: length * 4)
            if distance == 1, block.hasNewVector { candidates.hasNewVector = true }
            row += length
        }
    }
}
