internal import RTCShareMedia

/// Writes VP8 frames in which some macroblocks differ from the last frame, and all others are unchanged.
///
/// libvpx processes the whole frame to code one letter: several milliseconds at 1920×1080. This costs some microseconds
/// for each changed macroblock. Each is coded as its difference from the previous content, or from one color, which
/// suits letters, cursors, buttons and new lines of text. For motion or video, libvpx is better.
final class PartialUpdateWriter {
    /// The parameters of a partial update.
    struct Order {
        /// The scroll, which is already applied to the reference frame.
        let scroll: Scroll?
        /// The macroblocks that must be in the update.
        let changed: MacroblockMap
        /// The macroblocks that are added while the update is shorter than `room` bytes.
        let coarse: MacroblockMap
        let quantizer: Quantizer
        /// The number of coded coefficients per block, the lowest first: 16 are all, one is the mean.
        let detail: Int
        let room: Int
        /// The maximum size in bytes.
        let limit: Int
    }

    /// The amount of new content in the changes, which determines the size of a partial update.
    struct Novelty {
        /// The sum of all differences from the prediction.
        var sum = 0
    }

    private typealias BlockFlags = SIMD16<UInt8>

    private let macroblock = MacroblockCoder()
    private let writer = TokenWriter()
    /// The former macroblocks of the reference frame, in the order of changes.
    private var undo: UnsafeMutablePointer<UInt8>
    private var undoCapacity = 256
    private var changedPlaces: [(column: Int, row: Int)] = []
    /// For each column of macroblocks, the row of the last one with coefficients, and its blocks that had any: luma's
    /// four columns, two of each chroma plane, and Y2 (RFC 6386 §13.3).
    private var above: [(row: Int, blocks: BlockFlags)] = []

    init() {
        undo = .allocate(capacity: undoCapacity * MacroblockCoder.sampleCount)
    }

    deinit {
        undo.deallocate()
    }

    /// Returns the amount of new content in these macroblocks of a frame.
    func novelty(
        of changed: MacroblockMap, in picture: any PixelPlanes, over reference: ReferencePicture
    ) throws(VideoCodingError) -> Novelty {
        macroblock.use(reference.samples)
        return try picture.withPlanePointers { (planes) throws(VideoCodingError) in
            let lent = MacroblockCoder.Planes(planes, size: picture.size)
            var novelty = Novelty()
            for index in changed.cells.indices where changed.cells[index] != 0 {
                macroblock.take(lent, column: index % changed.columns, row: index / changed.columns)
                let sums = macroblock.differenceSums()
                novelty.sum += min(sums.fromBefore, sums.fromMean)
            }
            return novelty
        }
    }

    /// Returns the frame that changes `reference` into `picture`, and the macroblocks that are equal then. The
    /// reference frame is then that of a decoder. Returns nil, with the reference frame unchanged, if the frame would
    /// be too large.
    func write(
        _ order: Order, of picture: any PixelPlanes, over reference: ReferencePicture,
        probabilities: CoefficientProbabilities, updates: ReferenceUpdates
    ) throws(VideoCodingError) -> (data: [UInt8], coded: MacroblockMap)? {
        macroblock.use(reference.samples)
        writer.begin(probabilities)
        var modes = PredictionModes(size: picture.size, scroll: order.scroll)
        let coded = try picture.withPlanePointers { (planes) throws(VideoCodingError) in
            writeCoefficients(order, of: MacroblockCoder.Planes(planes, size: picture.size), &modes)
        }
        let adapted = writer.adapt()
        guard let coded, writer.byteCount <= order.limit else {
            takeBack()
            return nil
        }
        let header = InterFrameWriter.Header(
            quantizer: order.quantizer.index, updates: updates, coefficientUpdates: adapted,
            skipProbability: UInt8(min(max(Int(modes.coded.share * 256), 1), 255)),
            interProbability: UInt8(min(max(modes.intraCount * 256 / max(modes.coded.cells.count, 1), 1), 255)))
        var encoder = InterFrameWriter.begin()
        InterFrameWriter.write(header, to: &encoder)
        modes.write(after: header, to: &encoder)
        return (InterFrameWriter.finish(encoder, coefficients: writer.finish()), coded)
    }

    private func takeBack() {
        // The last change is undone first: for a macroblock that was changed twice, the first copy counts.
        for (index, place) in changedPlaces.enumerated().reversed() {
            macroblock.restoreReference(
                column: place.column, row: place.row, from: undo + index * MacroblockCoder.sampleCount)
        }
    }

    private func keep(column: Int, row: Int) {
        if changedPlaces.count == undoCapacity {
            let larger = UnsafeMutablePointer<UInt8>.allocate(
                capacity: undoCapacity * 2 * MacroblockCoder.sampleCount)
            larger.update(from: undo, count: undoCapacity * MacroblockCoder.sampleCount)
            undo.deallocate()
            undo = larger
            undoCapacity *= 2
        }
        macroblock.copyReference(
            column: column, row: row, to: undo + changedPlaces.count * MacroblockCoder.sampleCount)
        changedPlaces.append((column, row))
    }

    /// Writes the coefficients of macroblocks, and applies them to the reference frame. Returns the macroblocks that
    /// now equal the frame; nil if it becomes too long.
    private func writeCoefficients(
        _ order: Order, of picture: MacroblockCoder.Planes, _ modes: inout PredictionModes
    ) -> MacroblockMap? {
        var map = order.changed
        changedPlaces.removeAll(keepingCapacity: true)
        if above.count != map.columns { above = Array(repeating: (-2, BlockFlags()), count: map.columns) }
        for index in above.indices { above[index].row = -2 }
        var left = (column: -2, row: -2, blocks: BlockFlags())
        let hasCoarse = !order.coarse.isEmpty
        for index in map.cells.indices {
            if order.changed.cells[index] == 0 {
                guard hasCoarse, order.coarse.cells[index] == 1, writer.byteCount < order.room else { continue }
                map.insert(index)
            }
            // Adapted probabilities will still save some bytes.
            guard writer.byteCount <= order.limit * 5 / 4 else { return nil }
            let (column, row) = (index % map.columns, index / map.columns)
            macroblock.take(picture, column: column, row: row)
            let sums = macroblock.differenceSums()
            guard sums.fromBefore > 0 else { continue }
            // The cost includes the mean itself, and the intra mode.
            let isIntra = sums.fromMean * 9 / 8 + 256 < sums.fromBefore
            if isIntra { macroblock.predictMean(column: column, row: row) }
            let hasLevels = macroblock.quantize(order.quantizer, detail: order.detail)
            if isIntra { modes.insertIntra(index) }
            guard hasLevels || isIntra else { continue }
            keep(column: column, row: row)
            if hasLevels {
                modes.coded.insert(index)
                var top = above[column].row == row - 1 ? above[column].blocks : BlockFlags()
                var side = left.row == row && left.column == column - 1 ? left.blocks : BlockFlags()
                writeMacroblock(above: &top, left: &side)
                above[column] = (row, top)
                left = (column, row, side)
            }
            macroblock.reconstruct(column: column, row: row, hasLevels: hasLevels, order.quantizer)
        }
        return map
    }

    private func writeMacroblock(above: inout BlockFlags, left: inout BlockFlags) {
        @inline(__always)
        func write(
            _ levels: UnsafePointer<Int16>, _ stride: Int, endOfBlock: Int, _ kind: TokenWriter.BlockKind, column: Int,
            row: Int
        ) {
            let context = Int(above[column] &+ left[row])
            let has = writer.write(levels, stride: stride, endOfBlock: endOfBlock, kind, context: context)
            above[column] = has ? 1 : 0
            left[row] = has ? 1 : 0
        }
        let y2 = macroblock.y2Levels
        write(y2, 1, endOfBlock: writer.endOfBlock(in: y2), .y2, column: 8, row: 8)
        let (levels, stride, ends) = (macroblock.levels, MacroblockCoder.laneCount, macroblock.endsOfBlocks)
        for block in 0..<16 {
            write(
                levels + block, stride, endOfBlock: Int(ends[block]), .lumaWithoutDC, column: block & 3,
                row: block >> 2)
        }
        for (first, place) in [(16, 4), (20, 6)] as [(Int, Int)] {
            for block in 0..<4 {
                write(
                    levels + first + block, stride, endOfBlock: Int(ends[first + block]), .chroma,
                    column: place + block & 1, row: place + block >> 1)
            }
        }
    }
}

extension MacroblockCoder.Planes {
    init(_ planes: PlanePointers, size: PixelSize) {
        first = (planes.first.first, planes.second.first, planes.third.first)
        strides = (Int(planes.first.stride), Int(planes.second.stride), Int(planes.third.stride))
        self.size = size
    }
}
