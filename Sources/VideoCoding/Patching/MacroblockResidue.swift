internal import Media

/// What a macroblock shows beyond what was shown before, in coefficients: 25 blocks of 16, those of luma first, then those of
/// the two planes of chroma, then the first coefficients of luma.
struct MacroblockResidue {
    static let blockCount = 25
    static let coefficientCount = blockCount * 16
    private static let secondBlock = 24 * 16

    /// Memory of ``coefficientCount`` coefficients.
    let coefficients: UnsafeMutablePointer<Int16>

    /// Three planes and their strides.
    struct Planes {
        let first: [UnsafePointer<UInt8>]
        let strides: [Int]
        let size: PixelSize
    }

    /// Takes the differences between a picture and a reference at a macroblock; whether anything is left of them when they
    /// are quantized. What lies outside of the picture differs in nothing.
    func take(
        _ picture: Planes, minus reference: (planes: [UnsafeMutablePointer<UInt8>], stride: Int), column: Int, row: Int,
        quantizer: Quantizer
    ) -> Bool {
        withUnsafeTemporaryAllocation(of: Int16.self, capacity: 256) { differences in
            guard let memory = differences.baseAddress else { return false }
            for plane in 0..<3 {
                let side = plane == 0 ? 16 : 8
                let extent = picture.size
                let (columns, rows) =
                    plane == 0
                    ? (extent.width - column * 16, extent.height - row * 16)
                    : ((extent.width + 1) / 2 - column * 8, (extent.height + 1) / 2 - row * 8)
                let stride = plane == 0 ? reference.stride : reference.stride / 2
                let before = reference.planes[plane] + row * side * stride + column * side
                let now = picture.first[plane] + row * side * picture.strides[plane] + column * side
                for y in 0..<side {
                    for x in 0..<side {
                        memory[y * side + x] =
                            x < columns && y < rows
                            ? Int16(now[y * picture.strides[plane] + x]) - Int16(before[y * stride + x]) : 0
                    }
                }
                let firstBlock = [0, 16, 20][plane]
                let across = side / 4
                for block in 0..<across * across {
                    BlockTransform.forward(
                        memory + block / across * 4 * side + block % across * 4, stride: side,
                        to: coefficients + (firstBlock + block) * 16)
                }
            }
            BlockTransform.forwardWalsh(coefficients, to: coefficients + Self.secondBlock)
            return quantize(quantizer)
        }
    }

    private func quantize(_ quantizer: Quantizer) -> Bool {
        var any = false
        func divide(_ block: Int, from first: Int, _ step: (first: Int32, others: Int32)) {
            for index in first..<16 {
                let value = Int32(coefficients[block * 16 + index])
                let divisor = index == 0 ? step.first : step.others
                // Rounded to the nearer, with what is small a little nearer to none.
                let level = (abs(value) + divisor * 3 / 8) / divisor
                coefficients[block * 16 + index] = Int16(truncatingIfNeeded: value < 0 ? -level : level)
                if level != 0 { any = true }
            }
        }
        for block in 0..<16 {
            coefficients[block * 16] = 0
            divide(block, from: 1, (0, quantizer.luma))
        }
        for block in 16..<24 { divide(block, from: 0, quantizer.chroma) }
        divide(24, from: 0, quantizer.second)
        return any
    }

    /// Adds what a decoder adds. The coefficients are gone then.
    func add(
        to reference: (planes: [UnsafeMutablePointer<UInt8>], stride: Int), column: Int, row: Int, quantizer: Quantizer
    ) {
        func multiply(_ block: Int, _ step: (first: Int32, others: Int32)) {
            for index in 0..<16 {
                let value = Int32(coefficients[block * 16 + index]) * (index == 0 ? step.first : step.others)
                coefficients[block * 16 + index] = Int16(truncatingIfNeeded: value)
            }
        }
        for block in 0..<16 { multiply(block, (0, quantizer.luma)) }
        for block in 16..<24 { multiply(block, quantizer.chroma) }
        multiply(24, quantizer.second)
        BlockTransform.inverseWalsh(coefficients + Self.secondBlock, to: coefficients)
        for plane in 0..<3 {
            let side = plane == 0 ? 16 : 8
            let stride = plane == 0 ? reference.stride : reference.stride / 2
            let first = reference.planes[plane] + row * side * stride + column * side
            let across = side / 4
            let firstBlock = [0, 16, 20][plane]
            for block in 0..<across * across {
                BlockTransform.addInverse(
                    coefficients + (firstBlock + block) * 16,
                    to: first + block / across * 4 * stride + block % across * 4, stride: stride)
            }
        }
    }
}
