/// VP8's transforms of blocks of four by four values (RFC 6386 §14), eight blocks at a time: each lane of a vector is a
/// block, and the values of a block are ``laneCount`` apart. The inverse transforms are exact, as in every decoder.
enum BlockTransform {
    /// The lanes of each of the 16 values: a macroblock's sixteen luma blocks, then four of each chroma plane.
    static let laneCount = 24
    /// A number whose addition to a float leaves the nearest whole number in the lower bits.
    private static let magic: Float = 12_582_912
    private static let magicBits = Int32(bitPattern: Float(12_582_912).bitPattern)

    typealias Floats = SIMD8<Float>
    typealias Numbers = SIMD8<Int32>

    /// Returns eight small numbers as floats.
    @inline(__always)
    static func floats(_ numbers: Numbers) -> Floats {
        unsafeBitCast(numbers &+ Numbers(repeating: magicBits), to: Floats.self) - Floats(repeating: magic)
    }

    /// Returns the nearest whole numbers.
    @inline(__always)
    static func numbers(_ floats: Floats) -> Numbers {
        unsafeBitCast(floats + Floats(repeating: magic), to: Numbers.self) &- Numbers(repeating: magicBits)
    }

    @inline(__always)
    static func load(_ values: UnsafePointer<Int16>) -> Numbers {
        Numbers(truncatingIfNeeded: UnsafeRawPointer(values).loadUnaligned(as: SIMD8<Int16>.self))
    }

    @inline(__always)
    static func store(_ numbers: Numbers, to values: UnsafeMutablePointer<Int16>) {
        UnsafeMutableRawPointer(values).storeBytes(
            of: SIMD8<Int16>(truncatingIfNeeded: numbers), as: SIMD8<Int16>.self)
    }

    /// Computes four times the orthonormal cosine transform of eight blocks of differences, one vector per value.
    @inline(__always)
    static func forward(_ differences: UnsafePointer<Int16>, to coefficients: UnsafeMutablePointer<Floats>) {
        for y in 0..<4 {
            let line = differences + y * 4 * laneCount
            let outcome = forward(
                floats(load(line)), floats(load(line + laneCount)), floats(load(line + 2 * laneCount)),
                floats(load(line + 3 * laneCount)))
            coefficients[y * 4] = outcome.0
            coefficients[y * 4 + 1] = outcome.1
            coefficients[y * 4 + 2] = outcome.2
            coefficients[y * 4 + 3] = outcome.3
        }
        for x in 0..<4 {
            let outcome = forward(coefficients[x], coefficients[4 + x], coefficients[8 + x], coefficients[12 + x])
            coefficients[x] = outcome.0
            coefficients[4 + x] = outcome.1
            coefficients[8 + x] = outcome.2
            coefficients[12 + x] = outcome.3
        }
    }

    @inline(__always)
    private static func forward(
        _ first: Floats, _ second: Floats, _ third: Floats, _ fourth: Floats
    ) -> (Floats, Floats, Floats, Floats) {
        let (outer, inner) = (first + fourth, second + third)
        let (outerDifference, innerDifference) = (first - fourth, second - third)
        return (
            outer + inner, outerDifference * 1.306_562_965 + innerDifference * 0.541_196_100, outer - inner,
            outerDifference * 0.541_196_100 - innerDifference * 1.306_562_965
        )
    }

    /// Replaces the coefficients of eight blocks with the values that they represent (RFC 6386 §14.3).
    @inline(__always)
    static func inverse(_ values: UnsafeMutablePointer<Int16>) {
        for x in 0..<4 {
            let column = values + x * laneCount
            inverse(column, 4 * laneCount, rounding: 0, shift: 0)
        }
        for y in 0..<4 {
            let row = values + y * 4 * laneCount
            inverse(row, laneCount, rounding: 4, shift: 3)
        }
    }

    @inline(__always)
    private static func inverse(
        _ values: UnsafeMutablePointer<Int16>, _ stride: Int, rounding: Int32, shift: Int32
    ) {
        let (first, second) = (load(values), load(values + stride))
        let (third, fourth) = (load(values + 2 * stride), load(values + 3 * stride))
        let (sum, difference) = (first &+ third, first &- third)
        let inner = (second &* 35468) &>> 16 &- (fourth &+ (fourth &* 20091) &>> 16)
        let outer = second &+ (second &* 20091) &>> 16 &+ (fourth &* 35468) &>> 16
        let (half, places) = (Numbers(repeating: rounding), Numbers(repeating: shift))
        store((sum &+ outer &+ half) &>> places, to: values)
        store((difference &+ inner &+ half) &>> places, to: values + stride)
        store((difference &- inner &+ half) &>> places, to: values + 2 * stride)
        store((sum &- outer &+ half) &>> places, to: values + 3 * stride)
    }

    /// Computes the Walsh-Hadamard transform of the DC coefficients of sixteen blocks, four times the orthonormal one.
    @inline(__always)
    static func forwardWalsh(_ values: UnsafePointer<Float>, to coefficients: UnsafeMutablePointer<Float>) {
        withUnsafeTemporaryAllocation(of: Float.self, capacity: 16) { rows in
            for y in 0..<4 {
                let (first, second) = (values[y * 4], values[y * 4 + 1])
                let (third, fourth) = (values[y * 4 + 2], values[y * 4 + 3])
                rows[y * 4] = first + second + third + fourth
                rows[y * 4 + 1] = first + second - third - fourth
                rows[y * 4 + 2] = first - second - third + fourth
                rows[y * 4 + 3] = first - second + third - fourth
            }
            for x in 0..<4 {
                let (first, second, third, fourth) = (rows[x], rows[4 + x], rows[8 + x], rows[12 + x])
                coefficients[x] = first + second + third + fourth
                coefficients[4 + x] = first + second - third - fourth
                coefficients[8 + x] = first - second - third + fourth
                coefficients[12 + x] = first - second + third - fourth
            }
        }
    }

    /// Computes the DC coefficients of sixteen blocks from a Y2 block (RFC 6386 §14.3).
    @inline(__always)
    static func inverseWalsh(_ coefficients: UnsafePointer<Int16>, to blocks: UnsafeMutablePointer<Int16>) {
        withUnsafeTemporaryAllocation(of: Int32.self, capacity: 16) { columns in
            for x in 0..<4 {
                let (first, second) = (Int32(coefficients[x]), Int32(coefficients[4 + x]))
                let (third, fourth) = (Int32(coefficients[8 + x]), Int32(coefficients[12 + x]))
                columns[x] = first + fourth + second + third
                columns[4 + x] = second - third + first - fourth
                columns[8 + x] = first + fourth - second - third
                columns[12 + x] = first - fourth - second + third
            }
            for y in 0..<4 {
                let (first, second) = (columns[y * 4], columns[y * 4 + 1])
                let (third, fourth) = (columns[y * 4 + 2], columns[y * 4 + 3])
                let line = blocks + y * 4
                line[0] = Int16(truncatingIfNeeded: (first + fourth + second + third + 3) >> 3)
                line[1] = Int16(truncatingIfNeeded: (second - third + first - fourth + 3) >> 3)
                line[2] = Int16(truncatingIfNeeded: (first + fourth - second - third + 3) >> 3)
                line[3] = Int16(truncatingIfNeeded: (first - fourth - second + third + 3) >> 3)
            }
        }
    }
}
