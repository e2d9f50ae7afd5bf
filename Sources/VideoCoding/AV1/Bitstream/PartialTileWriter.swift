internal import RTCShareMedia

/// Writes a tile of which each block stays, moves by the same vector or is painted, without residuals (AV1 §5.11).
struct PartialTileWriter {
    typealias Place = WrittenBlocks.Place

    /// The partitions that are used, with their values.
    private enum Partition: Int {
        case whole, horizontal, vertical, split
    }

    let frame: AV1PartialFrame
    /// The planes of the frame's image.
    let image: PlanePointers
    /// The numbers of columns and rows of macroblocks.
    private let extent: (columns: Int, rows: Int)
    var written: WrittenBlocks
    var encoder: SymbolEncoder
    var colors = BlockColors()

    /// Writes the tile of a whole frame after `bytes`.
    static func write(_ frame: AV1PartialFrame, _ image: PlanePointers, after bytes: consuming [UInt8]) -> [UInt8] {
        let initial = SyntaxElement.initialProbabilities
        let bytes = bytes
        return withUnsafeTemporaryAllocation(of: UInt16.self, capacity: initial.count) { probabilities in
            _ = probabilities.initialize(fromContentsOf: initial)
            guard let first = probabilities.baseAddress else { return bytes }
            var writer = PartialTileWriter(frame, image, SymbolEncoder(after: bytes, probabilities: first))
            writer.writeBlocks()
            return writer.encoder.finish()
        }
    }

    private init(_ frame: AV1PartialFrame, _ image: PlanePointers, _ encoder: SymbolEncoder) {
        self.frame = frame
        self.image = image
        extent = (frame.painted.columns, frame.painted.rows)
        written = WrittenBlocks(columns: (frame.image.size.width + 7) / 8, rows: (frame.image.size.height + 7) / 8)
        self.encoder = encoder
    }

    private mutating func writeBlocks() {
        for row in stride(from: 0, to: written.rows, by: 8) {
            for column in stride(from: 0, to: written.columns, by: 8) { write(column: column, row: row, side: 8) }
        }
    }

    /// Writes the blocks within a square, whose side is in cells of 8 pixels.
    private mutating func write(column: Int, row: Int, side: Int) {
        guard column < written.columns, row < written.rows else { return }
        let half = side / 2
        let partition = partition(column: column, row: row, side: side)
        writePartition(partition, column: column, row: row, side: side)
        func place(_ x: Int, _ y: Int, _ width: Int, _ height: Int) -> Place {
            Place(column: column + x, row: row + y, width: width, height: height)
        }
        switch partition {
        case .whole:
            writeBlock(place(0, 0, side, side))
        case .horizontal:
            writeBlock(place(0, 0, side, half))
            if row + half < written.rows { writeBlock(place(0, half, side, half)) }
        case .vertical:
            writeBlock(place(0, 0, half, side))
            if column + half < written.columns { writeBlock(place(half, 0, half, side)) }
        case .split:
            write(column: column, row: row, side: half)
            write(column: column + half, row: row, side: half)
            write(column: column, row: row + half, side: half)
            write(column: column + half, row: row + half, side: half)
        }
    }

    // MARK: Partitions

    /// Whether all macroblocks of a part stay, or all move. Painted ones are blocks of their own.
    private func isUniform(_ place: Place) -> Bool {
        let columns = place.column / 2..<min((place.column + place.width + 1) / 2, extent.columns)
        let rows = place.row / 2..<min((place.row + place.height + 1) / 2, extent.rows)
        let isSingle = place.width <= 2 && place.height <= 2
        let first = isMoved(rows.lowerBound * extent.columns + columns.lowerBound)
        for row in rows {
            for column in columns {
                let index = row * extent.columns + column
                guard isSingle || !isPainted(index), isMoved(index) == first else { return false }
            }
        }
        return true
    }

    private func isPainted(_ index: Int) -> Bool { frame.painted.cells[index] != 0 }
    private func isMoved(_ index: Int) -> Bool { frame.scroll.map { $0.moved[index] != 0 } ?? false }

    private func partition(column: Int, row: Int, side: Int) -> Partition {
        let half = side / 2
        let (hasColumns, hasRows) = (column + half < written.columns, row + half < written.rows)
        func isUniform(_ x: Int, _ y: Int, _ width: Int, _ height: Int) -> Bool {
            self.isUniform(Place(column: column + x, row: row + y, width: width, height: height))
        }
        // Past the middle of a square, the frame's edge requires a partition.
        switch (hasColumns, hasRows) {
        case (true, true):
            if isUniform(0, 0, side, side) { return .whole }
            if isUniform(0, 0, side, half), isUniform(0, half, side, half) { return .horizontal }
            if isUniform(0, 0, half, side), isUniform(half, 0, half, side) { return .vertical }
            return .split
        case (true, false): return isUniform(0, 0, side, half) ? .horizontal : .split
        case (false, true): return isUniform(0, 0, half, side) ? .vertical : .split
        case (false, false): return .split
        }
    }

    private mutating func writePartition(_ partition: Partition, column: Int, row: Int, side: Int) {
        let (hasColumns, hasRows) = (column + side / 2 < written.columns, row + side / 2 < written.rows)
        let element =
            switch side {
            case 8: SyntaxElement.partition64
            case 4: SyntaxElement.partition32
            case 2: SyntaxElement.partition16
            default: SyntaxElement.partition8
            }
        let above = written[column, row - 1].map { $0.width < side } ?? false
        let left = written[column - 1, row].map { $0.height < side } ?? false
        let context = (left ? 2 : 0) + (above ? 1 : 0)
        if hasColumns, hasRows { return encoder.write(partition.rawValue, element, context: context) }
        guard hasColumns || hasRows else { return }
        // The values that split a square in the direction in which the edge does not (AV1 §8.3.2).
        let values = hasColumns ? [2, 3, 4, 6, 7, 9] : [1, 3, 4, 5, 6, 8]
        let probability = encoder.probability(of: values, element, context: context)
        encoder.write(partition == .split, probabilityOfFalse: 1 << 15 - probability)
    }

    // MARK: Blocks

    private mutating func writeBlock(_ place: Place) {
        let index = place.row / 2 * extent.columns + place.column / 2
        let neighbors = [written[place.column, place.row - 1], written[place.column - 1, place.row]].compactMap { $0 }
        // None has residuals.
        encoder.write(1, .skip, context: neighbors.count)
        let paintedCount = neighbors.count { $0.content.isPainted }
        let isPainted = isPainted(index)
        let context = paintedCount == 2 ? 3 : paintedCount * (3 - neighbors.count)
        encoder.write(isPainted ? 0 : 1, .isInter, context: context)
        if isPainted {
            writeColors(place)
        } else {
            writeReference(place, isMoved: isMoved(index), isFirst: neighbors.count == paintedCount)
        }
    }

    /// Writes that a block stays or moves.
    private mutating func writeReference(_ place: Place, isMoved: Bool, isFirst: Bool) {
        // All neighbors are predicted from the same frame.
        let context = isFirst ? 1 : 2
        encoder.write(0, .reference1, context: context)
        encoder.write(0, .reference3, context: context)
        encoder.write(0, .reference4, context: context)
        let candidates = written.candidates(at: place)
        let hasNewVector = isMoved && !candidates.hasMoved
        encoder.write(hasNewVector ? 0 : 1, .newVector, context: candidates.newVectorContext)
        if hasNewVector {
            writeVector()
        } else {
            encoder.write(1, .zeroVector)
            // The stack's first or second vector.
            encoder.write(candidates.beginsMoved == isMoved ? 0 : 1, .referenceVector, context: candidates.stackContext)
        }
        written.insert(place, hasNewVector ? .newlyMoved : isMoved ? .moved : .resting)
    }

    /// Writes the scroll's vector as the difference to zero, which is the only vector in the stack.
    private mutating func writeVector() {
        guard let scroll = frame.scroll else { return }
        encoder.write((scroll.rows == 0 ? 0 : 2) + (scroll.columns == 0 ? 0 : 1), .vectorJoint)
        for (component, value) in [scroll.rows, scroll.columns].enumerated() where value != 0 {
            encoder.write(value < 0 ? 1 : 0, .vectorSign, context: component)
            // Classes have twice as many distances each, except the first two with two each.
            let distance = abs(value) - 1
            let bitCount = distance < 2 ? 0 : Int.bitWidth - 1 - distance.leadingZeroBitCount
            encoder.write(bitCount, .vectorClass, context: component)
            guard bitCount > 0 else {
                encoder.write(distance, .vectorClass0Bit, context: component)
                continue
            }
            for bit in 0..<bitCount {
                encoder.write(distance >> bit & 1, .vectorBit, context: component * 10 + bit)
            }
        }
    }
}
