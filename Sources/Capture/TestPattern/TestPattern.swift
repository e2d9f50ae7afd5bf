import RTCShareCYUV
package import RTCShareMedia

/// Moving video that a program can check: frame N is a pure function of N, the size and the rate.
///
/// - Along the upper edge a counter (see ``readCounter(from:)``), in black and white blocks.
/// - Below it the still part: color bars, text in several sizes and colors, hatches of single pixels.
/// - Over it the moving parts: the frame's number in words, a square that bounces, a line of text that runs.
/// - In the lower right corner a square that is white for the first 100 ms of each second, and black otherwise: frame N
///   is N frames after a whole second. ``BeepSource`` beeps then.
///
/// The still part is drawn once; a frame is a copy of it with the moving parts drawn over.
package struct TestPattern: Sendable {
    /// The size in pixels, with even sides.
    package let size: PixelSize
    /// The number of frames per second.
    package let framesPerSecond: Double
    private let layout: Layout
    private let background: PixelBuffer
    private let ticker: PixelBuffer

    /// Creates the pattern of a size for which ``problem(with:)`` returns nil. Any other is changed to the nearest such
    /// size. The rate determines the frames with a flash; an invalid one becomes 30.
    package init(size: PixelSize, framesPerSecond: Double = 30) {
        let width = min(max(size.width & ~1, Self.widths.lowerBound), Self.widths.upperBound)
        let height = min(max(size.height & ~1, Self.heights.lowerBound), Self.heights.upperBound)
        self.size = PixelSize(width: width, height: height)
        self.framesPerSecond = framesPerSecond.isFinite && framesPerSecond > 0 ? framesPerSecond : 30
        layout = Layout(size: self.size)
        background = Self.background(layout)
        ticker = Self.ticker(layout)
    }

    static let widths = 128...7680
    static let heights = 96...4320

    /// Returns the reason why no pattern of this size can be drawn; nil if it can.
    package static func problem(with size: PixelSize) -> String? {
        guard widths.contains(size.width), heights.contains(size.height) else {
            return "its size is not between \(widths.lowerBound)x\(heights.lowerBound) "
                + "and \(widths.upperBound)x\(heights.upperBound)"
        }
        guard size.width.isMultiple(of: 2), size.height.isMultiple(of: 2) else {
            return "its size has an odd side, and must be even"
        }
        return nil
    }

    /// Returns frame `frame` of the pattern of `size`, as I420.
    package static func render(frame: Int, size: PixelSize, framesPerSecond: Double = 30) -> PixelBuffer {
        TestPattern(size: size, framesPerSecond: framesPerSecond).render(frame: frame)
    }

    /// Returns whether the square in the corner is white in frame `frame`: if that is due less than 100 ms after a
    /// whole second.
    package func isFlash(frame: Int) -> Bool {
        let second = 1e9
        // In the nanoseconds of the source's schedule, so that both agree on a frame at the edge.
        let time = TickSchedule.nanoseconds(to: frame, framesPerSecond: framesPerSecond)
        let part = time.truncatingRemainder(dividingBy: second)
        return (part < 0 ? part + second : part) < second / 10
    }

    /// Returns frame `frame`, as I420. The counter shows its lower 24 bits.
    package func render(frame: Int) -> PixelBuffer {
        PixelBuffer(size: size, format: .i420) { planes, strides in
            draw(frame: frame, planes: planes, strides: strides)
        }
    }

    /// Writes frame `frame` into the planes of an I420 frame of ``size``.
    func draw(frame: Int, planes: [UnsafeMutableRawBufferPointer], strides: [Int]) {
        let target = Planes(planes: planes, strides: strides)
        background.withPlanes { source in
            target.copy(source, from: (0, 0), to: PixelRectangle(x: 0, y: 0, size: size))
        }
        ticker.withPlanes { source in
            target.copy(source, from: (tickerOffset(frame), 0), to: layout.ticker)
        }
        target.draw(layout.counter) { canvas in
            for (index, isWhite) in Self.counterCells(frame).enumerated() {
                let cell = layout.cell(index)
                canvas.fill(cell.x, 0, cell.size.width, cell.size.height, isWhite ? .white : .black)
            }
        }
        target.draw(layout.label) { canvas in
            canvas.fill(0, 0, layout.label.size.width, layout.label.size.height, .black)
            let digits = String(max(frame, 0))
            let padded = String(repeating: "0", count: max(0, 8 - digits.count)) + digits
            canvas.text("FRAME \(padded)", x: 2, y: 2, scale: layout.labelScale, .yellow)
        }
        target.draw(square(frame)) { canvas in
            let side = layout.squareSide
            canvas.fill(0, 0, side, side, .orange)
            canvas.fill(side / 4, side / 4, side / 2, side / 2, .navy)
        }
        target.draw(layout.flash) { canvas in
            canvas.fill(
                0, 0, layout.flash.size.width, layout.flash.size.height, isFlash(frame: frame) ? .white : .black)
        }
    }

    /// Returns the parts that differ between two frames; everything if there was none before.
    func damage(from previous: Int?, to frame: Int) -> [PixelRectangle] {
        guard let previous else { return [PixelRectangle(x: 0, y: 0, size: size)] }
        guard previous != frame else { return [] }
        var damage = [layout.label, layout.ticker]
        let cells = zip(Self.counterCells(previous), Self.counterCells(frame))
        let changed = cells.enumerated().filter { $0.element.0 != $0.element.1 }.map(\.offset)
        if let first = changed.first, let last = changed.last {
            let (left, right) = (layout.cell(first), layout.cell(last))
            let width = right.x + right.size.width - left.x
            damage.append(
                PixelRectangle(x: left.x, y: 0, size: PixelSize(width: width, height: left.size.height)))
        }
        damage += Set([square(previous), square(frame)])
        if isFlash(frame: previous) != isFlash(frame: frame) { damage.append(layout.flash) }
        return damage
    }

    private func square(_ frame: Int) -> PixelRectangle {
        let area = layout.squareArea
        let side = layout.squareSide
        // Even positions, so that the chroma around it is unchanged.
        let x = area.x + Self.bounce(frame &* layout.step, area.size.width - side) & ~1
        let y = area.y + Self.bounce(frame &* layout.step / 2, area.size.height - side) & ~1
        return PixelRectangle(x: x, y: y, size: PixelSize(width: side, height: side))
    }

    private func tickerOffset(_ frame: Int) -> Int {
        let period = ticker.size.width - size.width
        let offset = (frame % period) &* layout.step % period
        return (offset < 0 ? offset + period : offset) & ~1
    }

    /// Returns a triangle wave between 0 and `range`.
    private static func bounce(_ distance: Int, _ range: Int) -> Int {
        guard range > 0 else { return 0 }
        let phase = Int(distance.magnitude % UInt(2 * range))
        return phase <= range ? phase : 2 * range - phase
    }
}

extension TestPattern {
    /// The positions of the parts. All rectangles have even positions and sizes.
    struct Layout: Sendable {
        let size: PixelSize
        let counter: PixelRectangle
        let bars: PixelRectangle
        let label: PixelRectangle
        let labelScale: Int
        let text: PixelRectangle
        let squareArea: PixelRectangle
        let squareSide: Int
        let ticker: PixelRectangle
        /// The flash, above everything else.
        let flash: PixelRectangle
        /// The number of pixels that the parts move in one frame, even.
        let step: Int

        init(size: PixelSize) {
            self.size = size
            let (width, height) = (size.width, size.height)
            let counterHeight = max(6, height / 16) & ~1
            let labelScale = max(1, height / 240)
            let labelHeight = (BitmapFont.lineHeight * labelScale + 4) & ~1
            let labelWidth = min(width, (BitmapFont.advance * 14 * labelScale + 4) & ~1)
            let barsHeight = max(8, height / 12) & ~1
            let tickerHeight = labelHeight
            let bodyTop = counterHeight + barsHeight + labelHeight
            let bodyHeight = height - bodyTop - tickerHeight
            let textWidth = (width * 5 / 8) & ~1
            self.labelScale = labelScale
            step = max(2, width / 320) & ~1
            counter = PixelRectangle(x: 0, y: 0, size: PixelSize(width: width, height: counterHeight))
            bars = PixelRectangle(x: 0, y: counterHeight, size: PixelSize(width: width, height: barsHeight))
            label = PixelRectangle(
                x: 0, y: counterHeight + barsHeight, size: PixelSize(width: labelWidth, height: labelHeight))
            text = PixelRectangle(x: 0, y: bodyTop, size: PixelSize(width: textWidth, height: bodyHeight))
            squareArea = PixelRectangle(
                x: textWidth, y: bodyTop, size: PixelSize(width: width - textWidth, height: bodyHeight))
            squareSide = max(8, min(height / 6, (width - textWidth) / 2, bodyHeight / 2)) & ~1
            ticker = PixelRectangle(
                x: 0, y: height - tickerHeight, size: PixelSize(width: width, height: tickerHeight))
            let flashSide = min(height / 8, width) & ~1
            flash = PixelRectangle(
                x: width - flashSide, y: height - flashSide, size: PixelSize(width: flashSide, height: flashSide))
        }

        /// Returns the block of the counter's cell `index` of 32.
        func cell(_ index: Int) -> PixelRectangle {
            let left = index * size.width / TestPattern.counterCellCount
            let right = (index + 1) * size.width / TestPattern.counterCellCount
            return PixelRectangle(x: left, y: 0, size: PixelSize(width: right - left, height: counter.size.height))
        }
    }

    private static let lines: [(text: String, scale: Int, colour: Canvas.Colour)] = [
        ("The quick brown fox jumps over the lazy dog", 1, .white),
        ("0123456789 ABCDEFGHIJKLMNOPQRSTUVWXYZ", 1, .yellow),
        ("let frame = source.next() // 60 % done?", 1, .green),
        ("Pack my box with five dozen liquor jugs!", 2, .white),
        ("if (a[i] <= b[j]) { i += 1; } else { j -= 1; }", 1, .cyan),
        ("Sharp text stays sharp: 8 B 0 O 1 l I", 2, .orange),
        ("small print, read it anyway: x^2 + y^2 = z^2", 1, .grey),
    ]
    private static let tickerText = "This line runs from right to left, a step each frame, and begins again. * * * "

    private static func background(_ layout: Layout) -> PixelBuffer {
        let whole = PixelRectangle(x: 0, y: 0, size: layout.size)
        return PixelBuffer(size: layout.size, format: .i420) { planes, strides in
            Planes(planes: planes, strides: strides).draw(whole) { canvas in
                canvas.fill(0, 0, layout.size.width, layout.size.height, .slate)
                let bars: [Canvas.Colour] = [.white, .yellow, .cyan, .green, .magenta, .red, .blue, .black]
                for (index, colour) in bars.enumerated() {
                    let left = index * layout.bars.size.width / bars.count
                    let right = (index + 1) * layout.bars.size.width / bars.count
                    canvas.fill(left, layout.bars.y, right - left, layout.bars.size.height, colour)
                }
                drawText(layout, canvas)
                drawHatches(layout, canvas)
            }
        }
    }

    private static func drawText(_ layout: Layout, _ canvas: borrowing Canvas) {
        let enlargement = max(1, layout.size.height / 720)
        var y = layout.text.y + 4
        var index = 0
        while true {
            let line = lines[index % lines.count]
            let scale = line.scale * enlargement
            let height = BitmapFont.lineHeight * scale + 2
            guard y + height <= layout.text.y + layout.text.size.height else { return }
            let room = (layout.text.size.width - 8) / (BitmapFont.advance * scale)
            canvas.text(String(line.text.prefix(max(room, 0))), x: 4, y: y, scale: scale, line.colour)
            y += height
            index += 1
        }
    }

    /// Draws two squares of lines one and two pixels wide, below the moving square's area, left of the flash: one of
    /// vertical lines, the other of horizontal ones.
    private static func drawHatches(_ layout: Layout, _ canvas: borrowing Canvas) {
        let area = layout.squareArea
        let room = layout.flash.x - area.x
        let side = min(64, room / 2 - 2, area.size.height / 2)
        guard side >= 4 else { return }
        for (index, period) in [2, 4].enumerated() {
            let left = layout.flash.x - (index + 1) * (side + 2)
            let top = area.y + area.size.height - side - 2
            canvas.fill(left, top, side, side, .white)
            for offset in stride(from: 0, to: side - period / 2, by: period) {
                if index == 0 {
                    canvas.fill(left + offset, top, period / 2, side, .black)
                } else {
                    canvas.fill(left, top + offset, side, period / 2, .black)
                }
            }
        }
    }

    /// Returns the running text, wide enough for a piece as wide as the frame from each position of a period.
    private static func ticker(_ layout: Layout) -> PixelBuffer {
        let glyph = BitmapFont.advance * layout.labelScale
        let period = (tickerText.count * glyph + 1) & ~1
        let size = PixelSize(width: layout.size.width + period, height: layout.ticker.size.height)
        return PixelBuffer(size: size, format: .i420) { planes, strides in
            Planes(planes: planes, strides: strides).draw(PixelRectangle(x: 0, y: 0, size: size)) { canvas in
                canvas.fill(0, 0, size.width, size.height, .navy)
                for left in Swift.stride(from: 0, to: size.width, by: period) {
                    canvas.text(tickerText, x: left, y: 2, scale: layout.labelScale, .white)
                }
            }
        }
    }
}
