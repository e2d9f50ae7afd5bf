/// VP8's transforms of four by four values (RFC 6386 §14). The inverse ones are exact, as every decoder has them.
enum BlockTransform {
    /// Twice the orthonormal cosine transform of differences, whose rows lie `stride` apart.
    @inline(__always)
    static func forward(
        _ differences: UnsafePointer<Int16>, stride: Int, to coefficients: UnsafeMutablePointer<Int16>
    ) {
        withUnsafeTemporaryAllocation(of: Int32.self, capacity: 16) { rows in
            for y in 0..<4 {
                let line = differences + y * stride
                let (first, second) = (Int32(line[0]), Int32(line[1]))
                let (third, fourth) = (Int32(line[2]), Int32(line[3]))
                let (outer, inner) = (first + fourth, second + third)
                let (outerDifference, innerDifference) = (first - fourth, second - third)
                rows[y * 4] = (outer + inner) << 3
                rows[y * 4 + 2] = (outer - inner) << 3
                rows[y * 4 + 1] = (outerDifference * 5352 + innerDifference * 2217 + 256) >> 9
                rows[y * 4 + 3] = (outerDifference * 2217 - innerDifference * 5352 + 256) >> 9
            }
            for x in 0..<4 {
                let (outer, inner) = (rows[x] + rows[12 + x], rows[4 + x] + rows[8 + x])
                let (outerDifference, innerDifference) = (rows[x] - rows[12 + x], rows[4 + x] - rows[8 + x])
                coefficients[x] = Int16(truncatingIfNeeded: (outer + inner + 8) >> 4)
                coefficients[8 + x] = Int16(truncatingIfNeeded: (outer - inner + 8) >> 4)
                coefficients[4 + x] = Int16(
                    truncatingIfNeeded: (outerDifference * 5352 + innerDifference * 2217 + 32768) >> 16)
                coefficients[12 + x] = Int16(
                    truncatingIfNeeded: (outerDifference * 2217 - innerDifference * 5352 + 32768) >> 16)
            }
        }
    }

    /// What coefficients stand for is added to samples, whose rows lie `stride` apart (RFC 6386 §14.3).
    @inline(__always)
    static func addInverse(
        _ coefficients: UnsafePointer<Int16>, to samples: UnsafeMutablePointer<UInt8>, stride: Int
    ) {
        withUnsafeTemporaryAllocation(of: Int32.self, capacity: 16) { columns in
            for x in 0..<4 {
                let (first, second) = (Int32(coefficients[x]), Int32(coefficients[4 + x]))
                let (third, fourth) = (Int32(coefficients[8 + x]), Int32(coefficients[12 + x]))
                let (sum, difference) = (first + third, first - third)
                let inner = (second * 35468) >> 16 - (fourth + (fourth * 20091) >> 16)
                let outer = second + (second * 20091) >> 16 + (fourth * 35468) >> 16
                columns[x] = sum + outer
                columns[12 + x] = sum - outer
                columns[4 + x] = difference + inner
                columns[8 + x] = difference - inner
            }
            for y in 0..<4 {
                let (first, second) = (columns[y * 4], columns[y * 4 + 1])
                let (third, fourth) = (columns[y * 4 + 2], columns[y * 4 + 3])
                let (sum, difference) = (first + third, first - third)
                let inner = (second * 35468) >> 16 - (fourth + (fourth * 20091) >> 16)
                let outer = second + (second * 20091) >> 16 + (fourth * 35468) >> 16
                let line = samples + y * stride
                line[0] = UInt8(clamping: Int32(line[0]) + (sum + outer + 4) >> 3)
                line[3] = UInt8(clamping: Int32(line[3]) + (sum - outer + 4) >> 3)
                line[1] = UInt8(clamping: Int32(line[1]) + (difference + inner + 4) >> 3)
                line[2] = UInt8(clamping: Int32(line[2]) + (difference - inner + 4) >> 3)
            }
        }
    }

    /// The Walsh-Hadamard transform of the first coefficients of sixteen blocks, which lie 16 apart.
    @inline(__always)
    static func forwardWalsh(_ blocks: UnsafePointer<Int16>, to coefficients: UnsafeMutablePointer<Int16>) {
        withUnsafeTemporaryAllocation(of: Int32.self, capacity: 16) { rows in
            for y in 0..<4 {
                let line = blocks + y * 64
                let (first, second) = (Int32(line[0]), Int32(line[16]))
                let (third, fourth) = (Int32(line[32]), Int32(line[48]))
                rows[y * 4] = first + second + third + fourth
                rows[y * 4 + 1] = first + second - third - fourth
                rows[y * 4 + 2] = first - second - third + fourth
                rows[y * 4 + 3] = first - second + third - fourth
            }
            for x in 0..<4 {
                let (first, second, third, fourth) = (rows[x], rows[4 + x], rows[8 + x], rows[12 + x])
                coefficients[x] = Int16(truncatingIfNeeded: (first + second + third + fourth + 1) >> 1)
                coefficients[4 + x] = Int16(truncatingIfNeeded: (first + second - third - fourth + 1) >> 1)
                coefficients[8 + x] = Int16(truncatingIfNeeded: (first - second - third + fourth + 1) >> 1)
                coefficients[12 + x] = Int16(truncatingIfNeeded: (first - second + third - fourth + 1) >> 1)
            }
        }
    }

    /// The first coefficients of sixteen blocks, which lie 16 apart (RFC 6386 §14.3).
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
                let line = blocks + y * 64
                line[0] = Int16(truncatingIfNeeded: (first + fourth + second + third + 3) >> 3)
                line[16] = Int16(truncatingIfNeeded: (second - third + first - fourth + 3) >> 3)
                line[32] = Int16(truncatingIfNeeded: (first + fourth - second - third + 3) >> 3)
                line[48] = Int16(truncatingIfNeeded: (first - fourth - second + third + 3) >> 3)
            }
        }
    }
}
