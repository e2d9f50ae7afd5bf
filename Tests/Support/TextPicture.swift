package import RTCShareMedia

/// A frame of dark, fixed-width glyphs on light lines, with a few colored bars, like a screen full of text.
///
/// A generator creates the glyphs, so that the same seed results in the same frame on each machine.
package struct TextPicture: Sendable {
    package let size: PixelSize
    package private(set) var luma: [UInt8]

    package init(size: PixelSize, luma: [UInt8]) {
        self.size = size
        self.luma = luma
    }

    package init(size: PixelSize, seed: UInt64 = 1) {
        self.size = size
        luma = [UInt8](repeating: 235, count: size.area)
        var state = seed &* 0x9E37_79B9_7F4A_7C15 | 1
        func random() -> UInt64 {
            state ^= state << 13
            state ^= state >> 7
            state ^= state << 17
            return state
        }
        let glyphs = (0..<64).map { _ in random() & random() | random() & 0x1818_1818_1818_1818 }
        for line in 0..<(size.height / 16) {
            // Words of some letters, lines that end early, blank lines.
            let columns = line % 7 == 6 ? 0 : size.width / 8 * (60 + Int(random() % 40)) / 100
            for column in 0..<columns {
                let letter = random()
                guard letter % 6 != 0 else { continue }
                draw(glyphs[Int(letter >> 8) & 63], x: column * 8, y: line * 16 + 3)
            }
        }
    }

    /// Draws 8 by 8 dots, each bit a pixel, every row twice except one: letters of about 7 by 12.
    package mutating func draw(_ glyph: UInt64, x: Int, y: Int) {
        for row in 0..<11 {
            let bits = glyph >> UInt64(row * 8 / 11 * 8) & 0xFF
            for column in 0..<7 where bits >> UInt64(column) & 1 == 1 {
                let (x, y) = (x + column, y + row)
                if x < size.width, y < size.height { luma[y * size.width + x] = 30 }
            }
        }
    }

    /// Returns the frame shifted to the left by so many columns, wrapping around.
    package func shifted(by columns: Int) -> TextPicture {
        let width = size.width
        let offset = columns % width
        var shifted = luma
        for row in 0..<size.height {
            let line = luma[row * width..<(row + 1) * width]
            shifted.replaceSubrange(
                row * width..<(row + 1) * width, with: line.dropFirst(offset) + line.prefix(offset))
        }
        return TextPicture(size: size, luma: shifted)
    }

    /// Returns the frame, a little brighter except for white pixels.
    package func brighter(by amount: UInt8) -> TextPicture {
        TextPicture(size: size, luma: luma.map { min($0, 255 - amount) + amount })
    }

    /// Returns the frame moved up by some rows, wrapping around.
    package func scrolled(by rows: Int) -> TextPicture {
        var copy = self
        let cut = (rows % size.height) * size.width
        copy.luma = Array(luma[cut...] + luma[..<cut])
        return copy
    }

    package var i420: PixelBuffer {
        PixelBuffer(size: size, format: .i420) { planes, strides in
            luma.withUnsafeBytes { luma in
                for row in 0..<size.height {
                    let target = UnsafeMutableRawBufferPointer(rebasing: planes[0][(row * strides[0])...])
                    target.copyMemory(
                        from: UnsafeRawBufferPointer(rebasing: luma[row * size.width..<(row + 1) * size.width]))
                }
            }
            planes[1].initializeMemory(as: UInt8.self, repeating: 128)
            planes[2].initializeMemory(as: UInt8.self, repeating: 128)
        }
    }
}

extension TextPicture {
    /// Returns the frame with colors that move with the text, and differ for each number.
    package func coloured(_ number: Int) -> PixelBuffer {
        let text = i420
        return PixelBuffer(size: size, format: .i420) { planes, strides in
            text.withPlanes { set in
                for row in 0..<size.height {
                    for column in 0..<size.width {
                        let value = set.planes[0][row * set.strides[0] + column]
                        planes[0][row * strides[0] + column] = value
                        guard row.isMultiple(of: 2), column.isMultiple(of: 2) else { continue }
                        planes[1][row / 2 * strides[1] + column / 2] = value < 100 ? UInt8(90 + number * 30) : 128
                        planes[2][row / 2 * strides[2] + column / 2] = value < 100 ? UInt8(170 - number * 30) : 128
                    }
                }
            }
        }
    }
}
