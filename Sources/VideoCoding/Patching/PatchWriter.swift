internal import Media

/// Writes VP8 frames in which some macroblocks differ from the picture before, and all others stay.
///
/// libvpx goes through all of a picture to code a letter of it: several milliseconds at 1920×1080. This costs some
/// microseconds for each macroblock that differs. Each is coded as its difference to what stood there, which is what
/// letters, cursors and buttons are; for what moves or is new, libvpx finds more.
final class PatchWriter {
    /// More macroblocks with something to code are not for it.
    static let mostMacroblocks = 1000

    private struct Entry {
        let column: Int
        let row: Int
    }

    private let memory: UnsafeMutablePointer<Int16>
    /// The macroblocks that have coefficients, in the order of the frame, which is that of their memory.
    private var entries: [Entry] = []
    /// For each column of macroblocks, in which row was the last with coefficients, and which of its blocks had some: luma's
    /// four columns, two of each chroma plane, and the first coefficients of luma (RFC 6386 §13.3).
    private var above: [(row: Int, blocks: BlockFlags)] = []

    private typealias BlockFlags = SIMD16<UInt8>

    init() {
        memory = .allocate(capacity: Self.mostMacroblocks * MacroblockResidue.coefficientCount)
        entries.reserveCapacity(Self.mostMacroblocks)
    }

    deinit {
        memory.deallocate()
    }

    /// What a patch is made of.
    struct Order {
        /// What moved, in the reference already.
        let scroll: Scroll?
        /// What has to be in it.
        let changed: MacroblockMap
        /// What is put into it, too, while it is shorter than `room` bytes.
        let coarse: MacroblockMap
        let quantizer: Quantizer
        let room: Int
        /// The most that it may take, in bytes.
        let limit: Int
    }

    /// The frame that makes of `reference` what `picture` shows, and where it does; the reference then is what a decoder
    /// has. Nil, with the reference as it was, where that takes too much.
    func write(
        _ order: Order, of picture: any VideoFrameBuffer, over reference: ReferencePicture,
        probabilities: CoefficientProbabilities, updates: ReferenceUpdates
    ) throws(VideoCodingError) -> (data: [UInt8], coded: MacroblockMap)? {
        let samples = reference.samples
        let coded = try picture.withPlanePointers { (planes) throws(VideoCodingError) in
            let lent = MacroblockResidue.Planes(
                first: [planes.first.first, planes.second.first, planes.third.first],
                strides: [Int(planes.first.stride), Int(planes.second.stride), Int(planes.third.stride)],
                size: picture.size)
            return writeCoefficients(order, of: lent, minus: samples, probabilities)
        }
        guard let coded else { return nil }
        for (index, entry) in entries.enumerated() {
            residue(index).add(to: samples, column: entry.column, row: entry.row, quantizer: order.quantizer)
        }
        var withCoefficients = MacroblockMap(size: picture.size)
        for entry in entries { withCoefficients.insert(entry.row * withCoefficients.columns + entry.column) }
        let skipProbability = UInt8(min(max(Int(withCoefficients.share * 256), 1), 255))
        var encoder = InterFrameWriter.begin()
        InterFrameWriter.writeHeader(
            quantizer: order.quantizer.index, updates: updates, skipProbability: skipProbability, to: &encoder)
        InterFrameWriter.writeModes(
            withCoefficients, moved: order.scroll, skipProbability: skipProbability, to: &encoder)
        return (InterFrameWriter.finish(encoder, coefficients: coded.coefficients), coded.map)
    }

    private func residue(_ index: Int) -> MacroblockResidue {
        MacroblockResidue(coefficients: memory + index * MacroblockResidue.coefficientCount)
    }

    /// The partition of coefficients, and the macroblocks that are now as the picture has them; nil where it becomes too
    /// long. What has coefficients is left in `entries`.
    private func writeCoefficients(
        _ order: Order, of picture: MacroblockResidue.Planes,
        minus reference: (planes: [UnsafeMutablePointer<UInt8>], stride: Int), _ probabilities: CoefficientProbabilities
    ) -> (coefficients: [UInt8], map: MacroblockMap)? {
        var map = order.changed
        entries.removeAll(keepingCapacity: true)
        if above.count != map.columns { above = Array(repeating: (-2, BlockFlags()), count: map.columns) }
        for index in above.indices { above[index].row = -2 }
        var writer = CoefficientWriter(probabilities: probabilities)
        var left = (column: -2, row: -2, blocks: BlockFlags())
        for index in map.cells.indices {
            if order.changed.cells[index] == 0 {
                guard order.coarse.cells[index] == 1, writer.byteCount < order.room,
                    entries.count + order.changed.count < Self.mostMacroblocks
                else { continue }
                map.insert(index)
            }
            guard entries.count < Self.mostMacroblocks, writer.byteCount <= order.limit else { return nil }
            let (column, row) = (index % map.columns, index / map.columns)
            let residue = residue(entries.count)
            guard residue.take(picture, minus: reference, column: column, row: row, quantizer: order.quantizer) else {
                continue
            }
            entries.append(Entry(column: column, row: row))
            var top = above[column].row == row - 1 ? above[column].blocks : BlockFlags()
            var side = left.row == row && left.column == column - 1 ? left.blocks : BlockFlags()
            writeMacroblock(residue.coefficients, above: &top, left: &side, to: &writer)
            above[column] = (row, top)
            left = (column, row, side)
        }
        return (writer.finish(), map)
    }

    private func writeMacroblock(
        _ coefficients: UnsafePointer<Int16>, above: inout BlockFlags, left: inout BlockFlags,
        to writer: inout CoefficientWriter
    ) {
        func write(_ block: Int, _ kind: CoefficientWriter.Kind, column: Int, row: Int) {
            let has = writer.write(coefficients + block * 16, kind, context: Int(above[column] + left[row]))
            above[column] = has ? 1 : 0
            left[row] = has ? 1 : 0
        }
        write(24, .second, column: 8, row: 8)
        for block in 0..<16 { write(block, .luma, column: block % 4, row: block / 4) }
        for (first, place) in [(16, 4), (20, 6)] {
            for block in 0..<4 { write(first + block, .chroma, column: place + block % 2, row: place + block / 2) }
        }
    }
}
