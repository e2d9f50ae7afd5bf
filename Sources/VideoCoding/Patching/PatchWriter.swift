internal import Media

/// Writes VP8 frames in which some macroblocks differ from the picture before, and all others stay.
///
/// libvpx goes through all of a picture to code a letter of it: several milliseconds at 1920×1080. This costs some
/// microseconds for each macroblock that differs. Each is coded as its difference to what stood there, which is what
/// letters, cursors and buttons are; for what moves or is new, libvpx finds more.
final class PatchWriter {
    /// More macroblocks than this are not for it.
    static let mostMacroblocks = 400

    private struct Entry {
        let column: Int
        let row: Int
        let hasCoefficients: Bool
    }

    private let memory: UnsafeMutablePointer<Int16>
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

    /// The frame that makes of `reference` what `picture` shows in the macroblocks of `map`; the reference then is what a
    /// decoder has. Nil, with the reference as it was, where that takes more than `limit` bytes.
    func write(
        _ picture: any VideoFrameBuffer, over reference: ReferencePicture, in map: MacroblockMap, quantizer: Quantizer,
        probabilities: CoefficientProbabilities, updates: ReferenceUpdates, limit: Int
    ) throws(VideoCodingError) -> [UInt8]? {
        guard map.count <= Self.mostMacroblocks else { return nil }
        let samples = reference.samples
        try picture.withPlanePointers { (planes) throws(VideoCodingError) in
            let lent = MacroblockResidue.Planes(
                first: [planes.first.first, planes.second.first, planes.third.first],
                strides: [Int(planes.first.stride), Int(planes.second.stride), Int(planes.third.stride)],
                size: picture.size)
            entries.removeAll(keepingCapacity: true)
            for index in map.cells.indices where map.cells[index] == 1 {
                let (column, row) = (index % map.columns, index / map.columns)
                let hasCoefficients = residue(entries.count).take(
                    lent, minus: samples, column: column, row: row, quantizer: quantizer)
                entries.append(Entry(column: column, row: row, hasCoefficients: hasCoefficients))
            }
        }
        guard let coefficients = writeCoefficients(columns: map.columns, probabilities, limit: limit) else {
            return nil
        }
        for (index, entry) in entries.enumerated() where entry.hasCoefficients {
            residue(index).add(to: samples, column: entry.column, row: entry.row, quantizer: quantizer)
        }
        var encoder = InterFrameWriter.begin()
        writeModes(map, quantizer: quantizer, updates: updates, to: &encoder)
        return InterFrameWriter.finish(encoder, coefficients: coefficients)
    }

    private func residue(_ index: Int) -> MacroblockResidue {
        MacroblockResidue(coefficients: memory + index * MacroblockResidue.coefficientCount)
    }

    private func writeModes(
        _ map: MacroblockMap, quantizer: Quantizer, updates: ReferenceUpdates, to encoder: inout BooleanEncoder
    ) {
        let coded = entries.count { $0.hasCoefficients }
        let share = coded * 256 / max(map.cells.count, 1)
        let skipProbability = UInt8(min(max(share, 1), 255))
        InterFrameWriter.writeHeader(
            quantizer: quantizer.index, updates: updates, skipProbability: skipProbability, to: &encoder)
        MotionVectorCode.writeNoProbabilities(to: &encoder)
        var next = entries.lazy.filter(\.hasCoefficients).makeIterator()
        var entry = next.next()
        for row in 0..<map.rows {
            for column in 0..<map.columns {
                let isCoded = entry.map { $0.column == column && $0.row == row } ?? false
                if isCoded { entry = next.next() }
                encoder.write(!isCoded, skipProbability)
                encoder.write(true, InterFrameWriter.surelyTrue)
                encoder.write(false, InterFrameWriter.surelyFalse)
                encoder.write(
                    false,
                    ScrollFrame.isZero[(row > 0 ? 2 : 0) + (column > 0 ? 2 : 0) + (row > 0 && column > 0 ? 1 : 0)])
            }
        }
    }

    /// The partition of coefficients; nil where it becomes longer than `limit`.
    private func writeCoefficients(
        columns: Int, _ probabilities: CoefficientProbabilities, limit: Int
    ) -> [UInt8]? {
        if above.count != columns { above = Array(repeating: (-2, BlockFlags()), count: columns) }
        for index in above.indices { above[index].row = -2 }
        var writer = CoefficientWriter(probabilities: probabilities)
        var left = (column: -2, row: -2, blocks: BlockFlags())
        for (index, entry) in entries.enumerated() where entry.hasCoefficients {
            var top = above[entry.column].row == entry.row - 1 ? above[entry.column].blocks : BlockFlags()
            var side = left.row == entry.row && left.column == entry.column - 1 ? left.blocks : BlockFlags()
            writeMacroblock(residue(index).coefficients, above: &top, left: &side, to: &writer)
            above[entry.column] = (entry.row, top)
            left = (entry.column, entry.row, side)
            guard writer.byteCount <= limit else { return nil }
        }
        return writer.finish()
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
