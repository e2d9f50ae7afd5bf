internal import RTCShareMedia
internal import RTCShareNetworkSimulation

/// A rectangle of the screen for a scene.
struct Area {
    var x: Int
    var y: Int
    var width: Int
    var height: Int

    var end: Int { y + height }

    func filled(_ colour: UInt32) -> ScreenOperation {
        .fill(x: x, y: y, width: width, height: height, colour: colour)
    }
}

/// The common properties of scenes: the screen's measures, and texts that are the same for the same seed.
struct Stage: Sendable {
    let size: PixelSize
    let font: FixedFont
    let seed: UInt64
    /// The magnification of the font's letters.
    let scale: Int

    /// Creates a stage. Small letters have the font's size; others have that of a screen that is read at arm's length.
    init(size: PixelSize, font: FixedFont, seed: UInt64, hasSmallLetters: Bool) {
        self.size = size
        self.font = font
        self.seed = seed
        scale = hasSmallLetters ? 1 : max(1, (size.height + 360) / 540)
    }

    static let filmSize = PixelSize(width: 480, height: 270)
    static let paper: UInt32 = 0xFFFFFF
    static let ink: UInt32 = 0x202020
    static let bar: UInt32 = 0x3A5A98
    static let desk: UInt32 = 0x4A6A7A

    /// The height of the row of the tick's code, and of the static title next to it.
    static let barHeight = 24

    var cell: (width: Int, height: Int) { (font.width * scale, font.height * scale) }

    func text(_ letters: some Sequence<UInt8>, x: Int, y: Int, ink: UInt32, paper: UInt32) -> ScreenOperation {
        .text(x: x, y: y, Array(letters), colour: ink, background: paper, scale: scale)
    }

    /// The area below that row.
    var area: Area { Area(x: 0, y: Self.barHeight, width: size.width, height: size.height - Self.barHeight) }

    /// Returns the row next to the code.
    func titleBar(_ title: String) -> [ScreenOperation] {
        let (code, end) = (TickCode.size, size.width - TickCode.size.width)
        return [
            .fill(x: code.width, y: 0, width: end, height: Self.barHeight, colour: Self.bar),
            .fill(x: 0, y: code.height, width: code.width, height: Self.barHeight - code.height, colour: Self.bar),
            .text(
                x: TickCode.size.width + 20, y: (Self.barHeight - font.height) / 2, Array(title.utf8), colour: 0xFFFFFF,
                background: Self.bar),
        ]
    }

    /// Returns a line of a text by its number, with words up to so many letters; some lines are empty.
    func line(_ number: Int, of text: UInt64, columns: Int) -> [UInt8] {
        var random = SeededGenerator(seed: seed ^ text << 32 ^ UInt64(bitPattern: Int64(number)))
        guard columns > 8, !random.chance(0.12) else { return [] }
        var letters = String(repeating: " ", count: 4 * Int(random.next() % 4))
        let end = columns - Int(random.next() % UInt64(max(1, columns / 2)))
        while true {
            let word = ContentScript.words[Int(random.next() % UInt64(ContentScript.words.count))]
            guard letters.utf8.count + word.utf8.count + 1 <= end else { return Array(letters.utf8.prefix(columns)) }
            letters += word + " "
        }
    }

    /// Returns a window with a title and the lines of a text.
    func window(
        _ area: Area, title: String, text: UInt64, ink: UInt32 = Stage.ink, paper: UInt32 = Stage.paper
    ) -> [ScreenOperation] {
        var operations: [ScreenOperation] = [
            area.filled(0x404040),
            .fill(x: area.x + 1, y: area.y + 1, width: area.width - 2, height: 20, colour: Self.bar),
            .text(x: area.x + 8, y: area.y + 4, Array(title.utf8), colour: 0xFFFFFF, background: Self.bar),
            .fill(x: area.x + 1, y: area.y + 21, width: area.width - 2, height: area.height - 22, colour: paper),
        ]
        for row in 0..<max(0, (area.height - 28) / cell.height) {
            let letters = line(row, of: text, columns: (area.width - 16) / cell.width)
            guard !letters.isEmpty else { continue }
            operations.append(
                self.text(letters, x: area.x + 8, y: area.y + 24 + row * cell.height, ink: ink, paper: paper))
        }
        return operations
    }

    /// Returns a menu or a list of words, one of which is selected.
    func menu(at x: Int, _ y: Int, items: Int, columns: Int, text: UInt64, chosen: Int) -> [ScreenOperation] {
        let (width, row) = (columns * cell.width + 16, cell.height + 5)
        return [
            .fill(x: x, y: y, width: width, height: items * row + 8, colour: 0x808080),
            .fill(x: x + 1, y: y + 1, width: width - 2, height: items * row + 6, colour: 0xF4F4F4),
        ]
            + (0..<items).flatMap { item -> [ScreenOperation] in
                let isChosen = item == chosen
                let background: UInt32 = isChosen ? Self.bar : 0xF4F4F4
                var letters = line(item, of: text, columns: columns).drop { $0 == UInt8(ascii: " ") }
                if letters.isEmpty { letters = Array("Undo".utf8)[...] }
                return [
                    .fill(x: x + 2, y: y + 4 + item * row, width: width - 4, height: row, colour: background),
                    self.text(
                        letters, x: x + 8, y: y + 6 + item * row, ink: isChosen ? 0xFFFFFF : Self.ink, paper: background
                    ),
                ]
            }
    }

    /// Returns the height of such a menu.
    func menuHeight(items: Int) -> Int { items * (cell.height + 5) + 8 }
}
