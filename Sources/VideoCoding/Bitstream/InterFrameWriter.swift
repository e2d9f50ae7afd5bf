internal import Media

/// Writes what the frames have in common that are not libvpx's: they build on the last picture alone, and leave everything
/// as it was that later frames build on but for that picture (RFC 6386 §9, §19.2).
enum InterFrameWriter {
    /// Of 256ths, the one that a decision is written with that comes out the same each time.
    static let surelyFalse: UInt8 = 255
    static let surelyTrue: UInt8 = 1

    /// The first partition, of which nothing is written yet.
    static func begin() -> BooleanEncoder {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(4096)
        // The frame's tag, which is known last.
        bytes.append(contentsOf: [0, 0, 0])
        return BooleanEncoder(after: bytes)
    }

    /// What a frame says before its macroblocks.
    struct Header {
        let quantizer: Int
        /// What the frame becomes beside the last picture.
        let updates: ReferenceUpdates
        /// Whether the probabilities that it changes hold for later frames too.
        var keepsProbabilities = false
        /// Probabilities of coefficients that hold for this frame: place and value.
        var coefficientUpdates: [(index: Int, value: UInt8)] = []
        /// How likely, of 256, a macroblock has coefficients.
        let skipProbability: UInt8
        /// How likely, of 256, a macroblock is coded by itself.
        var interProbability = surelyTrue
    }

    /// How each macroblock is coded.
    struct Modes {
        /// What moves, which has one vector; all else stays.
        let scroll: Scroll?
        /// What has coefficients.
        var coded: MacroblockMap
        /// 1 for each that is coded by itself, as the mean of what is beside it; where there is none, no such bytes.
        private(set) var intra: [UInt8] = []
        private(set) var intraCount = 0

        init(size: PixelSize, scroll: Scroll?) {
            self.scroll = scroll
            coded = MacroblockMap(size: size)
        }

        mutating func insertIntra(_ index: Int) {
            if intra.isEmpty { intra = Array(repeating: 0, count: coded.cells.count) }
            intra[index] = 1
            intraCount += 1
        }
    }

    /// The header up to the probabilities of modes. No segment and no filter changes; macroblocks that have no coefficients
    /// say so.
    static func write(_ header: Header, to encoder: inout BooleanEncoder) {
        // No segments; the loop filter's type, level and sharpness, with nothing to filter; no changes to it by mode.
        encoder.writeLiteral(0, bits: 1 + 1 + 6 + 3 + 1)
        // One partition of coefficients.
        encoder.writeLiteral(0, bits: 2)
        encoder.writeLiteral(header.quantizer, bits: 7)
        // No differences from it.
        encoder.writeLiteral(0, bits: 5)
        // Golden and alternate reference: replaced or not, else copied from nowhere, and neither of the other sign.
        let updates = header.updates
        encoder.writeLiteral(updates.golden ? 1 : 0, bits: 1)
        encoder.writeLiteral(updates.alternate ? 1 : 0, bits: 1)
        if !updates.golden { encoder.writeLiteral(0, bits: 2) }
        if !updates.alternate { encoder.writeLiteral(0, bits: 2) }
        encoder.writeLiteral(0, bits: 2)
        encoder.writeLiteral(header.keepsProbabilities ? 1 : 0, bits: 1)
        // The frame is the last picture to the next.
        encoder.writeLiteral(1, bits: 1)
        var pending = header.coefficientUpdates[...]
        for (index, probability) in CoefficientUpdateProbabilities.values.enumerated() {
            let update = pending.first.flatMap { $0.index == index ? $0 : nil }
            encoder.write(update != nil, probability)
            guard let update else { continue }
            encoder.writeLiteral(Int(update.value), bits: 8)
            pending = pending.dropFirst()
        }
        encoder.writeLiteral(1, bits: 1)
        encoder.writeLiteral(Int(header.skipProbability), bits: 8)
        // Which are coded by themselves; the others build on the last picture, none on golden.
        encoder.writeLiteral(Int(header.interProbability), bits: 8)
        encoder.writeLiteral(Int(surelyFalse), bits: 8)
        encoder.writeLiteral(128, bits: 8)
    }

    /// The probabilities of the modes of what is coded by itself, which has but one: the mean.
    private static func writeIntraProbabilities(_ isUsed: Bool, to encoder: inout BooleanEncoder) {
        for count in [4, 3] {
            encoder.writeLiteral(isUsed ? 1 : 0, bits: 1)
            guard isUsed else { continue }
            for _ in 0..<count { encoder.writeLiteral(Int(surelyFalse), bits: 8) }
        }
    }

    /// Of a mode, by how much of what is around has no vector, or the same one (RFC 6386 §16.3): above and left count two
    /// each, between them one.
    private static let isZero: [UInt8] = [7, 14, 135, 60, 159, 234]
    private static let isNearest: [UInt8] = [1, 18, 64, 56, 134, 188]
    /// Nothing around has another vector, nor is any macroblock split.
    private static let isNear: UInt8 = 1
    private static let isNew: UInt8 = 143

    /// The probabilities of vectors, and the modes of all macroblocks (RFC 6386 §16.3): vectors are zero or that of the
    /// scroll, so that the nearest is that one wherever it is around.
    static func write(_ modes: Modes, _ header: Header, to encoder: inout BooleanEncoder) {
        let hasIntra = modes.intraCount > 0
        writeIntraProbabilities(hasIntra, to: &encoder)
        let vector = MotionVectorCode(rows: modes.scroll?.rows ?? 0)
        if modes.scroll == nil {
            MotionVectorCode.writeNoProbabilities(to: &encoder)
        } else {
            vector.writeProbabilities(to: &encoder)
        }
        // 0 where it stays, 1 where it moves, 2 where it is coded by itself; a row and a column of such stand around all.
        let (columns, rows) = (modes.coded.columns, modes.coded.rows)
        let width = columns + 1
        withUnsafeTemporaryAllocation(of: UInt8.self, capacity: width * (rows + 1)) { kinds in
            kinds.initialize(repeating: 2)
            for row in 0..<rows {
                for column in 0..<columns {
                    let index = row * columns + column
                    let moves = modes.scroll.map { $0.moved[index] } ?? 0
                    kinds[(row + 1) * width + column + 1] = hasIntra && modes.intra[index] != 0 ? 2 : moves != 0 ? 1 : 0
                }
            }
            modes.coded.cells.withUnsafeBufferPointer { coded in
                for row in 0..<rows {
                    for column in 0..<columns {
                        let place = (row + 1) * width + column + 1
                        encoder.write(coded[row * columns + column] == 0, header.skipProbability)
                        let kind = kinds[place]
                        encoder.write(kind != 2, header.interProbability)
                        guard kind != 2 else {
                            // The mean, of luma and of chroma.
                            encoder.write(false, surelyFalse)
                            encoder.write(false, surelyFalse)
                            continue
                        }
                        encoder.write(false, surelyFalse)
                        // How much of what is around stays, and how much moved.
                        let (above, left) = (kinds[place - width], kinds[place - 1])
                        let between = kinds[place - width - 1]
                        let stays = (above == 0 ? 2 : 0) + (left == 0 ? 2 : 0) + (between == 0 ? 1 : 0)
                        encoder.write(kind == 1, isZero[stays])
                        guard kind == 1 else { continue }
                        let moved = (above == 1 ? 2 : 0) + (left == 1 ? 2 : 0) + (between == 1 ? 1 : 0)
                        // What comes from inside of the picture is never clamped.
                        encoder.write(moved == 0, isNearest[moved])
                        guard moved == 0 else { continue }
                        encoder.write(true, isNear)
                        encoder.write(false, isNew)
                        vector.write(to: &encoder)
                    }
                }
            }
        }
    }

    /// A frame that shows the picture before, and has later frames' coefficients go by these probabilities.
    static func frame(of size: PixelSize, keeping probabilities: CoefficientProbabilities) -> [UInt8] {
        var header = Header(
            quantizer: 0, updates: ReferenceUpdates(golden: false, alternate: false), skipProbability: surelyTrue)
        header.keepsProbabilities = true
        header.coefficientUpdates = probabilities.values.enumerated().map { (index: $0.offset, value: $0.element) }
        var encoder = begin()
        write(header, to: &encoder)
        write(Modes(size: size, scroll: nil), header, to: &encoder)
        return finish(encoder, coefficients: emptyPartition)
    }

    /// Coefficients of no macroblock. Some decoders refuse an empty partition.
    static let emptyPartition: [UInt8] = [0, 0, 0, 0]

    /// The frame.
    static func finish(_ encoder: consuming BooleanEncoder, coefficients: [UInt8]) -> [UInt8] {
        var bytes = encoder.finish()
        // RFC 6386 §9.1: a frame between key frames, version 0, shown; then the first partition's length.
        let tag = 1 | 1 << 4 | (bytes.count - 3) << 5
        for index in 0..<3 { bytes[index] = UInt8(truncatingIfNeeded: tag >> (index * 8)) }
        bytes.append(contentsOf: coefficients)
        return bytes
    }
}
