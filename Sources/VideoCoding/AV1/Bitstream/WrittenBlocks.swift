/// The blocks of a tile that are written so far, and the vectors that decoders derive from them for the next one.
///
/// Each block is predicted from the same frame, and stays or moves by the frame's only vector, or it is painted. Blocks
/// consist of cells of 8 by 8 pixels.
struct WrittenBlocks {
    struct Block {
        /// The size in cells; zero before it is written.
        fileprivate(set) var width: UInt8 = 0
        fileprivate(set) var height: UInt8 = 0
        var content = Content.resting
    }

    enum Content {
        case resting
        case moved
        /// It moved by a vector that is written, not one of its neighbors'.
        case newlyMoved
        /// It is not predicted from another frame. Its palettes have this index.
        case painted(palettes: Int32)

        var isPainted: Bool {
            guard case .painted = self else { return false }
            return true
        }
    }

    /// The palettes of a painted block, which are empty if its neighbors predict it.
    typealias Palettes = (luma: Palette, chroma: Palette)

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
    private var palettes: [Palettes] = []

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
    mutating func insert(_ place: Place, _ content: Content) {
        let block = Block(width: UInt8(place.width), height: UInt8(place.height), content: content)
        let width = min(place.width, columns - place.column)
        for row in place.row..<min(place.row + place.height, rows) {
            for cell in row * columns + place.column..<row * columns + place.column + width { cells[cell] = block }
        }
    }

    // MARK: Palettes

    /// Records a painted block that is written.
    mutating func insert(_ place: Place, painted palettes: Palettes) {
        insert(place, .painted(palettes: Int32(self.palettes.count)))
        self.palettes.append(palettes)
    }

    /// Returns the palettes of a block; nil if it is not painted.
    func palettes(of block: Block?) -> Palettes? {
        guard case .painted(let index)? = block?.content else { return nil }
        return palettes[Int(index)]
    }

    /// Returns the colors in a plane to which a palette at a place can refer (AV1 §5.11.46): those of its neighbors,
    /// without that above in another superblock.
    func cachedColors(at place: Place, _ colors: (Palettes) -> [UInt16]) -> [UInt16] {
        let above = place.row % 8 == 0 ? nil : palettes(of: self[place.column, place.row - 1])
        let left = palettes(of: self[place.column - 1, place.row])
        return [above, left].flatMap { $0.map(colors) ?? [] }.sorted().reduce(into: []) {
            if $0.last != $1 { $0.append($1) }
        }
    }

    // MARK: Vectors

    /// The vectors of the neighbors (AV1 §7.10.2): at most two, that of the scroll and zero.
    struct Candidates {
        /// The weights of blocks at rest and of moved ones; zero if there are none.
        private var weights = (resting: 0, moved: 0)
        private var beganMoved = false
        /// Whether a neighbor has a new vector.
        private var hasNewVector = false
        /// Whether there are vectors above and to the left, and how many of both are next to the block.
        private var isFound = (above: false, left: false)
        private var closeCount = 0

        enum Side {
            case above, left
        }

        @inline(__always)
        fileprivate mutating func add(_ block: Block, weight: Int, from side: Side, isNext: Bool) {
            let isMoved: Bool
            switch block.content {
            case .resting: isMoved = false
            case .moved: isMoved = true
            case .newlyMoved:
                isMoved = true
                if isNext { hasNewVector = true }
            case .painted: return
            }
            if weights == (0, 0) { beganMoved = isMoved }
            if isMoved { weights.moved += weight } else { weights.resting += weight }
            switch side {
            case .above: isFound.above = true
            case .left: isFound.left = true
            }
        }

        /// Puts the nearest vectors before all others.
        fileprivate mutating func promote() {
            if weights.resting > 0 { weights.resting += 640 }
            if weights.moved > 0 { weights.moved += 640 }
            closeCount = count
        }

        private var count: Int { (isFound.above ? 1 : 0) + (isFound.left ? 1 : 0) }

        /// Whether the scroll's vector is in the stack.
        var hasMoved: Bool { weights.moved > 0 }
        /// Whether the scroll's vector is the first in the stack. Otherwise zero is, which also fills the stack.
        var beginsMoved: Bool {
            weights.moved > weights.resting || weights.moved == weights.resting && hasMoved && beganMoved
        }
        /// The context of whether a vector is new.
        var newVectorContext: Int {
            closeCount == 0 ? min(count, 1) : closeCount * 2 + (hasNewVector ? 0 : 1)
        }
        /// The context of whether the vector is the first in the stack.
        var stackContext: Int { closeCount == 0 ? count : closeCount == 1 ? 2 + count : 5 }
    }

    /// Returns the vectors in the order that decoders use for the block at a place.
    func candidates(at place: Place) -> Candidates {
        var result = Candidates()
        scanAbove(place, distance: 1, &result)
        scanLeft(place, distance: 1, &result)
        if let block = self[place.column + place.width, place.row - 1] {
            result.add(block, weight: 4, from: .above, isNext: true)
        }
        result.promote()
        if let block = self[place.column - 1, place.row - 1] {
            result.add(block, weight: 4, from: .above, isNext: false)
        }
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
            candidates.add(block, weight: length * 4, from: .above, isNext: distance == 1)
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
            candidates.add(block, weight: length * 4, from: .left, isNext: distance == 1)
            row += length
        }
    }
}
