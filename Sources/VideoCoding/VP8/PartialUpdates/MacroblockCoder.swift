internal import Glibc
internal import RTCShareMedia

/// The coding of one macroblock for a partial update: its content, its prediction, and the coded part of the
/// difference.
///
///     frame ─▶ minus prediction ─▶ transform ─▶ levels, which are written ─▶ reconstruction ─▶ reference frame
///
/// The prediction is the previous content, or one color, the mean of the neighbors (RFC 6386 §12.2): text that replaces
/// other text costs twice as much as text on blank paper.
final class MacroblockCoder {
    /// Three planes with their strides.
    struct Planes {
        let first: (UnsafePointer<UInt8>, UnsafePointer<UInt8>, UnsafePointer<UInt8>)
        let strides: (Int, Int, Int)
        let size: PixelSize
    }

    /// The number of samples in a macroblock: 16 rows of luma, then 8 of each chroma plane.
    static let sampleCount = 384
    /// The number of lanes, which are blocks: see ``BlockTransform``.
    static let laneCount = BlockTransform.laneCount

    /// The coded values: the 16 values of each block are ``laneCount`` apart.
    let levels: UnsafeMutablePointer<Int16>
    /// The position of the EOB for each lane.
    let endsOfBlocks: UnsafeMutablePointer<Int32>
    /// The values of the Y2 block.
    let y2Levels: UnsafeMutablePointer<Int16>
    private let differences: UnsafeMutablePointer<Int16>
    private let now: UnsafeMutablePointer<UInt8>
    private let prediction: UnsafeMutablePointer<UInt8>
    private let coefficients: UnsafeMutablePointer<BlockTransform.Floats>
    /// The DC coefficients of luma's blocks, then their Walsh-Hadamard transform.
    private let dcCoefficients: UnsafeMutablePointer<Float>
    /// The samples of the reference frame: luma and both chroma planes.
    private var reference: (UnsafeMutablePointer<UInt8>, UnsafeMutablePointer<UInt8>, UnsafeMutablePointer<UInt8>)
    private var stride = 0

    init() {
        levels = .allocate(capacity: 16 * Self.laneCount)
        differences = .allocate(capacity: 16 * Self.laneCount)
        endsOfBlocks = .allocate(capacity: Self.laneCount)
        y2Levels = .allocate(capacity: 16)
        now = .allocate(capacity: Self.sampleCount)
        prediction = .allocate(capacity: Self.sampleCount)
        coefficients = .allocate(capacity: 16)
        dcCoefficients = .allocate(capacity: 32)
        reference = (now, now, now)
    }

    deinit {
        levels.deallocate()
        differences.deallocate()
        endsOfBlocks.deallocate()
        y2Levels.deallocate()
        now.deallocate()
        prediction.deallocate()
        coefficients.deallocate()
        dcCoefficients.deallocate()
    }

    /// Sets the reference frame that macroblocks are read from and written to.
    func use(_ samples: (planes: [UnsafeMutablePointer<UInt8>], stride: Int)) {
        reference = (samples.planes[0], samples.planes[1], samples.planes[2])
        stride = samples.stride
    }

    // MARK: Content and prediction

    /// Loads a macroblock of the frame, with the previous content as the prediction. Samples outside of the frame have
    /// no difference.
    func take(_ picture: Planes, column: Int, row: Int) {
        copyReference(column: column, row: row, to: prediction)
        let (width, height) = (picture.size.width, picture.size.height)
        let isWhole = column * 16 + 16 <= width && row * 16 + 16 <= height
        if !isWhole { now.update(from: prediction, count: Self.sampleCount) }
        copy(
            picture.first.0 + row * 16 * picture.strides.0 + column * 16, picture.strides.0, to: now, side: 16,
            columns: min(width - column * 16, 16), rows: min(height - row * 16, 16))
        let (columns, rows) = (min((width + 1) / 2 - column * 8, 8), min((height + 1) / 2 - row * 8, 8))
        copy(
            picture.first.1 + row * 8 * picture.strides.1 + column * 8, picture.strides.1, to: now + 256, side: 8,
            columns: columns, rows: rows)
        copy(
            picture.first.2 + row * 8 * picture.strides.2 + column * 8, picture.strides.2, to: now + 320, side: 8,
            columns: columns, rows: rows)
    }

    private func copy(
        _ source: UnsafePointer<UInt8>, _ stride: Int, to target: UnsafeMutablePointer<UInt8>, side: Int, columns: Int,
        rows: Int
    ) {
        if columns == 16 {
            for y in 0..<rows { Self.copy(SIMD16<UInt8>.self, source + y * stride, to: target + y * 16) }
        } else if columns == 8, side == 8 {
            for y in 0..<rows { Self.copy(SIMD8<UInt8>.self, source + y * stride, to: target + y * 8) }
        } else {
            for y in 0..<rows { memcpy(target + y * side, source + y * stride, columns) }
        }
    }

    @inline(__always)
    private static func copy<Vector>(
        _ type: Vector.Type, _ source: UnsafePointer<UInt8>, to target: UnsafeMutablePointer<UInt8>
    ) {
        UnsafeMutableRawPointer(target).storeBytes(
            of: UnsafeRawPointer(source).loadUnaligned(as: type), as: type)
    }

    /// Copies the reference frame's content of a macroblock.
    func copyReference(column: Int, row: Int, to target: UnsafeMutablePointer<UInt8>) {
        let luma = reference.0 + row * 16 * stride + column * 16
        for y in 0..<16 { Self.copy(SIMD16<UInt8>.self, luma + y * stride, to: target + y * 16) }
        let half = stride / 2
        let offset = row * 8 * half + column * 8
        for y in 0..<8 {
            Self.copy(SIMD8<UInt8>.self, reference.1 + offset + y * half, to: target + 256 + y * 8)
            Self.copy(SIMD8<UInt8>.self, reference.2 + offset + y * half, to: target + 320 + y * 8)
        }
    }

    /// Restores such a copy.
    func restoreReference(column: Int, row: Int, from source: UnsafePointer<UInt8>) {
        let luma = reference.0 + row * 16 * stride + column * 16
        for y in 0..<16 { Self.copy(SIMD16<UInt8>.self, source + y * 16, to: luma + y * stride) }
        let half = stride / 2
        let offset = row * 8 * half + column * 8
        for y in 0..<8 {
            Self.copy(SIMD8<UInt8>.self, source + 256 + y * 8, to: reference.1 + offset + y * half)
            Self.copy(SIMD8<UInt8>.self, source + 320 + y * 8, to: reference.2 + offset + y * half)
        }
    }

    /// Returns the differences of the content from the previous content, and from its own mean, plane by plane.
    func differenceSums() -> (fromBefore: Int, fromMean: Int) {
        var (before, mean) = (0, 0)
        for (start, count) in [(0, 256), (256, 64), (320, 64)] as [(Int, Int)] {
            var sum = SIMD8<UInt16>()
            for index in Swift.stride(from: start, to: start + count, by: 16) {
                sum &+= Self.pairs(Self.load(now + index))
            }
            let average = (Self.total(sum) + count / 2) / count
            let flat = Samples(repeating: UInt8(truncatingIfNeeded: average))
            var (one, other) = (SIMD8<UInt16>(), SIMD8<UInt16>())
            for index in Swift.stride(from: start, to: start + count, by: 16) {
                let here = Self.load(now + index)
                one &+= Self.pairs(Self.distances(here, Self.load(prediction + index)))
                other &+= Self.pairs(Self.distances(here, flat))
            }
            before += Self.total(one)
            mean += Self.total(other)
        }
        return (before, mean)
    }

    private typealias Samples = SIMD16<UInt8>

    @inline(__always)
    private static func load(_ samples: UnsafePointer<UInt8>) -> Samples {
        UnsafeRawPointer(samples).loadUnaligned(as: Samples.self)
    }

    @inline(__always)
    private static func distances(_ one: Samples, _ other: Samples) -> Samples {
        pointwiseMax(one, other) &- pointwiseMin(one, other)
    }

    /// Returns the sums of two samples each. None of sixteen added sums is above 8160.
    @inline(__always)
    private static func pairs(_ samples: Samples) -> SIMD8<UInt16> {
        let pairs = unsafeBitCast(samples, to: SIMD8<UInt16>.self)
        return pairs & SIMD8(repeating: 0xFF) &+ pairs &>> SIMD8(repeating: 8)
    }

    @inline(__always)
    private static func total(_ sums: SIMD8<UInt16>) -> Int {
        // Each of four values is at most 16 320.
        Int((sums.lowHalf &+ sums.highHalf).wrappedSum())
    }

    /// Sets the prediction of each plane to the mean of the neighbors above and left (RFC 6386 §12.2).
    func predictMean(column: Int, row: Int) {
        fill(0, side: 16, with: mean(reference.0, stride, side: 16, column, row))
        fill(256, side: 8, with: mean(reference.1, stride / 2, side: 8, column, row))
        fill(320, side: 8, with: mean(reference.2, stride / 2, side: 8, column, row))
    }

    private func fill(_ start: Int, side: Int, with value: UInt8) {
        (prediction + start).update(repeating: value, count: side * side)
    }

    private func mean(_ plane: UnsafePointer<UInt8>, _ stride: Int, side: Int, _ column: Int, _ row: Int) -> UInt8 {
        let first = plane + row * side * stride + column * side
        var (sum, count) = (0, 0)
        if row > 0 {
            for x in 0..<side { sum += Int(first[x - stride]) }
            count += side
        }
        if column > 0 {
            for y in 0..<side { sum += Int(first[y * stride - 1]) }
            count += side
        }
        return count > 0 ? UInt8(truncatingIfNeeded: (sum + count / 2) / count) : 128
    }

    // MARK: Levels

    /// Computes the coded values of the difference, with `detail` of each block's coefficients. Returns whether there
    /// are any.
    func quantize(_ quantizer: Quantizer, detail: Int) -> Bool {
        takeDifferences()
        let inverseDC = 0.5 / Float(quantizer.chroma.dc)
        let inverseAC = 0.5 / Float(quantizer.lumaAC)
        var any = SIMD8<Int32>()
        for group in 0..<3 {
            var last = SIMD8<Int32>()
            BlockTransform.forward(differences + group * 8, to: coefficients)
            if group < 2 {
                UnsafeMutableRawPointer(dcCoefficients + group * 8).storeBytes(
                    of: coefficients[0] * 0.5, as: BlockTransform.Floats.self)
                BlockTransform.store(SIMD8<Int32>(), to: levels + group * 8)
            } else {
                let found = quantize(coefficients[0] * inverseDC, to: levels + group * 8)
                last = Self.mask(found) & SIMD8<Int32>(repeating: 1)
            }
            for position in max(detail, 1)..<16 {
                BlockTransform.store(
                    SIMD8<Int32>(), to: levels + TokenWriter.place(position) * Self.laneCount + group * 8)
            }
            for position in 1..<max(detail, 1) {
                let place = TokenWriter.place(position)
                let found = quantize(
                    coefficients[place] * inverseAC, to: levels + place * Self.laneCount + group * 8)
                let mask = Self.mask(found)
                last = (last & ~mask) | (mask & SIMD8<Int32>(repeating: Int32(truncatingIfNeeded: position &+ 1)))
            }
            UnsafeMutableRawPointer(endsOfBlocks + group * 8).storeBytes(of: last, as: SIMD8<Int32>.self)
            any |= last
        }
        BlockTransform.forwardWalsh(dcCoefficients, to: dcCoefficients + 16)
        for half in 0..<2 {
            var scale = BlockTransform.Floats(repeating: 0.5 / Float(quantizer.y2.ac))
            if half == 0 { scale[0] = 0.5 / Float(quantizer.y2.dc) }
            let values = UnsafeRawPointer(dcCoefficients + 16 + half * 8).loadUnaligned(as: BlockTransform.Floats.self)
            any |= quantize(values * scale, to: y2Levels + half * 8)
        }
        return any != SIMD8<Int32>()
    }

    private func takeDifferences() {
        for by in 0..<4 {
            for y in 0..<4 {
                let start = (by * 4 + y) * 16
                for bx in 0..<4 {
                    for x in 0..<4 {
                        let index = start + bx * 4 + x
                        differences[(y * 4 + x) * Self.laneCount + by * 4 + bx] =
                            Int16(now[index]) &- Int16(prediction[index])
                    }
                }
            }
        }
        for plane in 0..<2 {
            for by in 0..<2 {
                for y in 0..<4 {
                    let start = 256 + plane * 64 + (by * 4 + y) * 8
                    for bx in 0..<2 {
                        for x in 0..<4 {
                            let index = start + bx * 4 + x
                            differences[(y * 4 + x) * Self.laneCount + 16 + plane * 4 + by * 2 + bx] =
                                Int16(now[index]) &- Int16(prediction[index])
                        }
                    }
                }
            }
        }
    }

    /// Returns all ones for each number that is not zero.
    @inline(__always)
    private static func mask(_ numbers: SIMD8<Int32>) -> SIMD8<Int32> {
        (numbers | (SIMD8<Int32>() &- numbers)) &>> SIMD8<Int32>(repeating: 31)
    }

    /// Rounds to the nearest value, with small ones rounded slightly toward zero. All fit into the tokens' range (RFC
    /// 6386 §13.2): with the finest quantizer, the largest are some 2040.
    @inline(__always)
    private func quantize(_ values: BlockTransform.Floats, to target: UnsafeMutablePointer<Int16>) -> SIMD8<Int32> {
        // The value 0.125 with the values' own signs.
        let signs = unsafeBitCast(values, to: SIMD8<UInt32>.self) & SIMD8<UInt32>(repeating: 0x8000_0000)
        let towardsZero = unsafeBitCast(
            (signs ^ SIMD8<UInt32>(repeating: 0x8000_0000)) | SIMD8<UInt32>(repeating: Self.roundingBits),
            to: BlockTransform.Floats.self)
        let levels = BlockTransform.numbers(values + towardsZero)
        BlockTransform.store(levels, to: target)
        return levels
    }

    private static let roundingBits = Float(0.125).bitPattern
    // MARK: Reconstruction

    /// Writes the prediction, and with `hasLevels` the coded difference, into the reference frame. This destroys the
    /// levels.
    func reconstruct(column: Int, row: Int, hasLevels: Bool, _ quantizer: Quantizer) {
        guard hasLevels else { return restoreReference(column: column, row: row, from: prediction) }
        for index in 0..<16 {
            let step = index == 0 ? quantizer.y2.dc : quantizer.y2.ac
            y2Levels[index] = Int16(truncatingIfNeeded: Int32(y2Levels[index]) * step)
        }
        let ac = SIMD8<Int32>(repeating: quantizer.lumaAC)
        for group in 0..<3 {
            for place in 1..<16 {
                let target = levels + place * Self.laneCount + group * 8
                BlockTransform.store(BlockTransform.load(target) &* ac, to: target)
            }
        }
        let chromaDC = SIMD8<Int32>(repeating: quantizer.chroma.dc)
        BlockTransform.store(BlockTransform.load(levels + 16) &* chromaDC, to: levels + 16)
        BlockTransform.inverseWalsh(y2Levels, to: levels)
        for group in 0..<3 { BlockTransform.inverse(levels + group * 8) }
        putLuma(to: reference.0 + row * 16 * stride + column * 16)
        let offset = row * 8 * (stride / 2) + column * 8
        putChroma(0, to: reference.1 + offset)
        putChroma(1, to: reference.2 + offset)
    }

    private func putLuma(to target: UnsafeMutablePointer<UInt8>) {
        for by in 0..<4 {
            for y in 0..<4 {
                let start = (by * 4 + y) * 16
                let line = target + (by * 4 + y) * stride
                for bx in 0..<4 {
                    for x in 0..<4 {
                        let difference = levels[(y * 4 + x) * Self.laneCount + by * 4 + bx]
                        line[bx * 4 + x] = Self.clamped(prediction[start + bx * 4 + x], difference)
                    }
                }
            }
        }
    }

    private func putChroma(_ plane: Int, to target: UnsafeMutablePointer<UInt8>) {
        for by in 0..<2 {
            for y in 0..<4 {
                let start = 256 + plane * 64 + (by * 4 + y) * 8
                let line = target + (by * 4 + y) * (stride / 2)
                for bx in 0..<2 {
                    for x in 0..<4 {
                        let difference = levels[(y * 4 + x) * Self.laneCount + 16 + plane * 4 + by * 2 + bx]
                        line[bx * 4 + x] = Self.clamped(prediction[start + bx * 4 + x], difference)
                    }
                }
            }
        }
    }

    @inline(__always)
    private static func clamped(_ sample: UInt8, _ difference: Int16) -> UInt8 {
        UInt8(truncatingIfNeeded: min(max(Int32(sample) &+ Int32(difference), 0), 255))
    }
}
