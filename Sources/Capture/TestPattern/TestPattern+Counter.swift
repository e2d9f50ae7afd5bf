package import RTCShareMedia

extension TestPattern {
    static let counterCellCount = 32

    /// Returns the black and white of the 32 cells for a frame: see ``readCounter(from:)``.
    static func counterCells(_ frame: Int) -> [Bool] {
        let value = UInt32(truncatingIfNeeded: frame) & 0xFF_FFFF
        var cells = [true, false]
        for bit in (0..<24).reversed() { cells.append(value >> UInt32(bit) & 1 == 1) }
        let check = checksum(value)
        for bit in (0..<6).reversed() { cells.append(check >> UInt32(bit) & 1 == 1) }
        return cells
    }

    /// Reads the frame's number, modulo 2^24, from a frame of the pattern, at any scale and after lossy coding; nil if
    /// the cells are unclear or their checksum is wrong.
    ///
    /// The cells are 32 equal columns in the upper sixteenth of the frame. From the left: one white, one black, 24 bits
    /// of the number from the highest (white is 1), 6 bits of CRC-6 (x^6 + x + 1, initially all ones) over those. Each
    /// is decided by the mean luma of its middle, compared with the mean of the first two.
    package static func readCounter(from buffer: any VideoFrameBuffer) -> Int? {
        let (width, height) = (buffer.size.width, buffer.size.height)
        // A cell needs two columns and two rows to have a middle.
        guard width >= 2 * counterCellCount, height >= 32 else { return nil }
        // A quarter from each edge of a cell: coding blurs the edges, and scaling may have moved them.
        let rows = height / 64..<max(height * 3 / 64, height / 64 + 1)
        let levels = buffer.withPlanes { planes in
            (0..<counterCellCount).map { cell in
                let left = (4 * cell + 1) * width / (4 * counterCellCount)
                let right = (4 * cell + 3) * width / (4 * counterCellCount)
                return mean(planes, buffer.format, columns: left..<max(right, left + 1), rows: rows)
            }
        }
        let contrast = levels[0] - levels[1]
        guard contrast > 64 else { return nil }
        var bits: UInt32 = 0
        for level in levels[2...] {
            let relative = (level - levels[1]) / contrast
            guard abs(relative - 0.5) > 0.1 else { return nil }
            bits = bits << 1 | (relative > 0.5 ? 1 : 0)
        }
        let value = bits >> 6
        return checksum(value) == bits & 0x3F ? Int(value) : nil
    }

    private static func mean(
        _ planes: borrowing PlaneSet, _ format: PixelFormat, columns: Range<Int>, rows: Range<Int>
    ) -> Double {
        let plane = planes.planes[0]
        var sum = 0
        for row in rows {
            let start = row * planes.strides[0]
            for column in columns {
                switch format {
                case .i420, .nv12:
                    sum += Int(plane[start + column])
                case .bgra, .argb:
                    let pixel = start + 4 * column + (format == .argb ? 1 : 0)
                    sum += (Int(plane[pixel]) + 2 * Int(plane[pixel + 1]) + Int(plane[pixel + 2])) / 4
                }
            }
        }
        return Double(sum) / Double(columns.count * rows.count)
    }

    private static func checksum(_ value: UInt32) -> UInt32 {
        var remainder: UInt32 = 0x3F
        for bit in (0..<24).reversed() {
            let carry = (remainder >> 5 ^ value >> UInt32(bit)) & 1
            remainder = (remainder << 1) & 0x3F
            if carry == 1 { remainder ^= 0x03 }
        }
        return remainder
    }
}
