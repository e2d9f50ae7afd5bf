internal import RTCShareMedia
internal import RTCShareNetworkSimulation

/// The drawing operations of a content at each tick. The same for the same seed, so that the expected frame at a tick
/// can be drawn again.
struct ContentScript {
    private let content: ScreenContent
    private let size: PixelSize
    private let cell: (width: Int, height: Int)
    private let pictureCount: Int
    private var random: SeededGenerator
    private var tick = 0
    /// The position of the next typed letter, in cells of the page.
    private var cursor = (column: 0, row: 0)

    static let words = [
        "let", "frame", "the", "window", "return", "of", "encoder", "value", "and", "picture", "if", "guard", "packet",
        "screen", "to", "count", "for", "in", "while", "is", "bitrate", "func", "text", "public", "struct", "colour",
        "0x7f", "42", "==", "->", "{", "}", "(size:", "self.", "nil)", "//", "where", "a", "it", "row", "damage", "+=",
    ]
    /// The terminal's colors.
    private static let ink: [UInt32] = [0xD8D8D8, 0xD8D8D8, 0xD8D8D8, 0x60C060, 0xD0A040, 0x6090E0, 0xD06060]
    private static let night: UInt32 = 0x101418
    private static let paper: UInt32 = 0xFFFFFF
    private static let black: UInt32 = 0x101010

    init(_ content: ScreenContent, size: PixelSize, font: FixedFont, pictures: MovingPictures, seed: UInt64) {
        self.content = content
        self.size = size
        cell = (font.width, font.height)
        pictureCount = pictures.pictures.count
        random = SeededGenerator(seed: seed)
    }

    /// Returns the operations of the next tick, the first time those of the whole screen. The code of the tick is last,
    /// so that a frame that shows it shows the rest, too.
    mutating func next() -> [ScreenOperation] {
        defer { tick += 1 }
        guard tick > 0 else { return begin() + ScreenOperation.code(of: 0, after: nil) }
        // Content that fills the whole screen covers the code of the tick before.
        return change() + ScreenOperation.code(of: tick, after: content == .motion ? nil : tick - 1)
    }

    private mutating func begin() -> [ScreenOperation] {
        switch content {
        case .still: return desktop()
        case .typing: return desktop()
        case .scrolling: return terminal()
        case .switching: return page(0)
        case .video: return desktop() + [.picture(0, x: videoPlace.x, y: videoPlace.y)]
        case .motion: return [.picture(0, x: 0, y: 0)]
        }
    }

    private mutating func change() -> [ScreenOperation] {
        switch content {
        case .still: return []
        case .typing: return type()
        case .scrolling: return scroll(by: 1 + Int(random.next() % 3))
        case .switching: return page(tick)
        case .video: return [.picture(tick % pictureCount, x: videoPlace.x, y: videoPlace.y)]
        case .motion: return [.picture(tick % pictureCount, x: 0, y: 0)]
        }
    }

    // MARK: Pages

    /// The upper edge of the content, below the row of the code.
    private var top: Int { TickCode.size.height + 4 }
    private var videoPlace: (x: Int, y: Int) { (size.width - 640 - 40, size.height - 360 - 40) }

    /// Returns words up to this many letters, indented like a program's lines.
    private mutating func line(_ length: Int) -> [UInt8] {
        guard !random.chance(0.12) else { return [] }
        var text = String(repeating: " ", count: 4 * Int(random.next() % 4))
        let end = length - Int(random.next() % UInt64(max(1, length / 2)))
        while true {
            let word = Self.words[Int(random.next() % UInt64(Self.words.count))]
            guard text.utf8.count + word.utf8.count + 1 <= end else { return Array(text.utf8) }
            text += word + " "
        }
    }

    /// Returns a window with a title and lines of text.
    private mutating func window(
        x: Int, y: Int, width: Int, height: Int, title: String, ink: UInt32, paper: UInt32
    ) -> [ScreenOperation] {
        var operations: [ScreenOperation] = [
            .fill(x: x - 1, y: y - 1, width: width + 2, height: height + 2, colour: 0x404040),
            .fill(x: x, y: y, width: width, height: 20, colour: 0x3A5A98),
            .text(x: x + 8, y: y + 4, Array(title.utf8), colour: 0xFFFFFF, background: 0x3A5A98),
            .fill(x: x, y: y + 20, width: width, height: height - 20, colour: paper),
        ]
        for button in 0..<3 {
            operations.append(
                .fill(
                    x: x + width - 18 - button * 18, y: y + 4, width: 12, height: 12,
                    colour: [0xD06060, 0xD0A040, 0x60C060][button]))
        }
        for row in 0..<(height - 28) / cell.height {
            let text = line((width - 16) / cell.width)
            guard !text.isEmpty else { continue }
            operations.append(
                .text(x: x + 8, y: y + 24 + row * cell.height, text, colour: ink, background: paper))
        }
        return operations
    }

    private mutating func desktop() -> [ScreenOperation] {
        let half = size.width / 2
        return [.fill(x: 0, y: 0, width: size.width, height: size.height, colour: 0x4A6A7A)]
            + window(
                x: 16, y: top + 8, width: half - 32, height: size.height - top - 24, title: "editor", ink: Self.black,
                paper: Self.paper)
            + window(
                x: half, y: top + 8, width: half - 16, height: (size.height - top) / 2, title: "terminal",
                ink: 0xD8D8D8, paper: Self.night)
            + window(
                x: half + 40, y: size.height / 2 + 60, width: half - 120, height: size.height / 2 - 100,
                title: "notes", ink: 0x303030, paper: 0xF4F0E0)
    }

    /// Returns one of four pages that fill the screen.
    private mutating func page(_ number: Int) -> [ScreenOperation] {
        let (ink, paper): (UInt32, UInt32) =
            [(Self.black, Self.paper), (0xD8D8D8, Self.night), (0x303030, 0xF4F0E0), (0xF0F0F0, 0x1A3A5A)][number % 4]
        var operations: [ScreenOperation] = [
            .fill(x: TickCode.size.width, y: 0, width: size.width - TickCode.size.width, height: 20, colour: paper),
            .fill(x: 0, y: 16, width: size.width, height: size.height - 16, colour: paper),
        ]
        let columns = [2, 1, 3, 2][number % 4]
        let width = size.width / columns
        for column in 0..<columns {
            for row in 0..<(size.height - top - 8) / cell.height {
                let text = line((width - 32) / cell.width)
                guard !text.isEmpty else { continue }
                operations.append(
                    .text(
                        x: column * width + 16, y: top + row * cell.height, text, colour: ink, background: paper))
            }
        }
        return operations
    }

    // MARK: Changes

    /// Returns a letter at the cursor, and the cursor next to it, in the editor's window.
    private mutating func type() -> [ScreenOperation] {
        let origin = (x: 24, y: top + 8 + 24 + 20 * cell.height)
        func place(_ cursor: (column: Int, row: Int)) -> (x: Int, y: Int) {
            (origin.x + cursor.column * cell.width, origin.y + cursor.row * cell.height)
        }
        let letter =
            random.chance(0.16) ? UInt8(ascii: " ") : UInt8(ascii: "a") + UInt8(truncatingIfNeeded: random.next() % 26)
        let typed = place(cursor)
        cursor.column += 1
        if cursor.column >= min(90, (size.width / 2 - 56) / cell.width) { cursor = (0, (cursor.row + 1) % 10) }
        let next = place(cursor)
        return [
            .text(x: typed.x, y: typed.y, [letter], colour: Self.black, background: Self.paper),
            .fill(x: next.x, y: next.y, width: cell.width, height: cell.height, colour: Self.black),
        ]
    }

    private var terminalRows: Int { (size.height - top) / cell.height }

    private mutating func terminal() -> [ScreenOperation] {
        var operations: [ScreenOperation] = [
            .fill(x: 0, y: 0, width: size.width, height: size.height, colour: Self.night)
        ]
        for row in 0..<terminalRows { operations += terminalLine(row) }
        return operations
    }

    private mutating func terminalLine(_ row: Int) -> [ScreenOperation] {
        let colour = Self.ink[Int(random.next() % UInt64(Self.ink.count))]
        let text = line(size.width / cell.width)
        guard !text.isEmpty else { return [] }
        return [.text(x: 0, y: top + row * cell.height, text, colour: colour, background: Self.night)]
    }

    private mutating func scroll(by lines: Int) -> [ScreenOperation] {
        let kept = terminalRows - lines
        var operations: [ScreenOperation] = [
            .copy(
                x: 0, y: top + lines * cell.height, width: size.width, height: kept * cell.height, toX: 0, toY: top),
            .fill(
                x: 0, y: top + kept * cell.height, width: size.width, height: lines * cell.height, colour: Self.night),
        ]
        for row in kept..<terminalRows { operations += terminalLine(row) }
        return operations
    }
}
