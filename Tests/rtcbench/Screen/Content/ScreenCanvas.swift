internal import RTCShareMedia

/// The letters of the X server's font, as it draws them.
struct FixedFont {
    /// The width of a letter's cell in pixels and, below, its height.
    let width: Int
    let height: Int
    /// The distance from the top of a cell to the baseline.
    let ascent: Int
    /// The cells of the letters 32 to 126, row by row: whether a pixel is drawn.
    let cells: [[Bool]]

    static let letters: ClosedRange<UInt8> = 32...126

    func cell(of letter: UInt8) -> [Bool] {
        cells[Self.letters.contains(letter) ? Int(letter - Self.letters.lowerBound) : 0]
    }

    /// Returns the drawn parts of a letter, as runs in rows.
    func runs(of letter: UInt8) -> [(row: Int, column: Int, length: Int)] {
        let cell = cell(of: letter)
        return (0..<height).flatMap { row -> [(row: Int, column: Int, length: Int)] in
            var runs: [(row: Int, column: Int, length: Int)] = []
            for column in 0..<width where cell[row * width + column] {
                if let last = runs.last, last.column + last.length == column {
                    runs[runs.count - 1].length += 1
                } else {
                    runs.append((row, column, 1))
                }
            }
            return runs
        }
    }
}

/// The expected content of the screen, drawn a second time here.
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
        case .text(let x, let y, let letters, let colour, let background, let scale):
            for (index, letter) in letters.enumerated() {
                draw(font.cell(of: letter), x: x + index * font.width * scale, y: y, colour, background, scale)
            }
        case .copy(let x, let y, let width, let height, let toX, let toY):
            let before = pixels
            for row in 0..<height {
                let source = (y + row) * size.width + x
                let target = (toY + row) * size.width + toX
                pixels.replaceSubrange(target..<target + width, with: before[source..<source + width])
            }
        case .picture(let index, let x, let y):
            drawPart(
                of: index, x: 0, y: 0, width: pictures.size.width, height: pictures.size.height, toX: x, toY: y)
        case .part(let index, let x, let y, let width, let height, let toX, let toY):
            drawPart(of: index, x: x, y: y, width: width, height: height, toX: toX, toY: toY)
        }
    }

    private mutating func drawPart(of index: Int, x: Int, y: Int, width: Int, height: Int, toX: Int, toY: Int) {
        let picture = pictures.pictures[index]
        let columns = clip(toX, width, size.width)
        guard !columns.isEmpty else { return }
        for row in clip(toY, height, size.height) {
            let source = (row - toY + y) * pictures.size.width + columns.lowerBound - toX + x
            let target = row * size.width + columns.lowerBound
            pixels.replaceSubrange(target..<target + columns.count, with: picture[source..<source + columns.count])
        }
    }

    private mutating func draw(
        _ cell: [Bool], x: Int, y: Int, _ colour: UInt32, _ background: UInt32, _ scale: Int
    ) {
        for row in clip(y, font.height * scale, size.height) {
            for column in clip(x, font.width * scale, size.width) {
                pixels[row * size.width + column] =
                    cell[(row - y) / scale * font.width + (column - x) / scale] ? colour : background
            }
        }
    }

    private func clip(_ start: Int, _ length: Int, _ limit: Int) -> Range<Int> {
        let lower = max(0, start)
        return lower..<max(lower, min(limit, start + length))
    }

    /// The canvas as a screen capture would return it.
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
