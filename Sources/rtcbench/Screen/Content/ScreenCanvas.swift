internal import RTCShareMedia

/// The letters of the X server's font, as it draws them.
struct FixedFont {
    /// A letter's cell in pixels.
    let width: Int
    let height: Int
    /// From the top of a cell to the line that letters stand on.
    let ascent: Int
    /// The cells of the letters 32 to 126, row by row: whether a pixel is drawn.
    let cells: [[Bool]]

    static let letters: ClosedRange<UInt8> = 32...126

    func cell(of letter: UInt8) -> [Bool] {
        cells[Self.letters.contains(letter) ? Int(letter - Self.letters.lowerBound) : 0]
    }
}

/// What the screen should look like, drawn here a second time.
struct ScreenCanvas {
    let size: PixelSize
    private(set) var pixels: [UInt32]
    private let font: FixedFont
    private let pictures: MovingPictures

    init(size: PixelSize, font: FixedFont, pictures: MovingPictures) {
        self.size = size
        self.font = font
        self.pictures = pictures
        pixels = [UInt32](repeating: 0, count: size.area)
    }

    mutating func draw(_ operations: [ScreenOperation]) {
        for operation in operations { draw(operation) }
    }

    private mutating func draw(_ operation: ScreenOperation) {
        switch operation {
        case .fill(let x, let y, let width, let height, let colour):
            for row in clip(y, height, size.height) {
                for column in clip(x, width, size.width) { pixels[row * size.width + column] = colour }
            }
        case .text(let x, let y, let letters, let colour, let background):
            for (index, letter) in letters.enumerated() {
                draw(font.cell(of: letter), x: x + index * font.width, y: y, colour, background)
            }
        case .copy(let x, let y, let width, let height, let toX, let toY):
            let before = pixels
            for row in 0..<height {
                let source = (y + row) * size.width + x
                let target = (toY + row) * size.width + toX
                pixels.replaceSubrange(target..<target + width, with: before[source..<source + width])
            }
        case .picture(let index, let x, let y):
            let picture = pictures.pictures[index]
            for row in clip(y, pictures.size.height, size.height) {
                for column in clip(x, pictures.size.width, size.width) {
                    pixels[row * size.width + column] = picture[(row - y) * pictures.size.width + column - x]
                }
            }
        }
    }

    private mutating func draw(_ cell: [Bool], x: Int, y: Int, _ colour: UInt32, _ background: UInt32) {
        for row in clip(y, font.height, size.height) {
            for column in clip(x, font.width, size.width) {
                pixels[row * size.width + column] =
                    cell[(row - y) * font.width + column - x] ? colour : background
            }
        }
    }

    private func clip(_ start: Int, _ length: Int, _ limit: Int) -> Range<Int> {
        let lower = max(0, start)
        return lower..<max(lower, min(limit, start + length))
    }

    /// The picture as a screen capture would give it.
    var picture: PixelBuffer { Self.picture(pixels, size: size) }

    static func picture(_ pixels: [UInt32], size: PixelSize) -> PixelBuffer {
        PixelBuffer(size: size, format: .bgra) { planes, strides in
            pixels.withUnsafeBytes { source in
                for row in 0..<size.height {
                    let target = UnsafeMutableRawBufferPointer(
                        rebasing: planes[0][row * strides[0]..<row * strides[0] + size.width * 4])
                    target.copyMemory(
                        from: UnsafeRawBufferPointer(
                            rebasing: source[row * size.width * 4..<(row + 1) * size.width * 4]))
                }
            }
        }
    }
}
