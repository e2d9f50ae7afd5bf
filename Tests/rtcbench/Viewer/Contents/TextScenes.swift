internal import RTCShareMedia
internal import RTCShareNetworkSimulation

/// A document in an area, which can be scrolled to any pixel of it.
struct Document {
    private let stage: Stage
    private let area: Area
    private let text: UInt64
    private(set) var position = 0

    /// The height of a line and, below, of the parts above and below the scrolled one, which cover what is drawn beyond
    /// it.
    private let pitch: Int
    private let edge = 24

    init(_ stage: Stage, area: Area, text: UInt64) {
        self.stage = stage
        self.area = area
        self.text = text
        pitch = stage.cell.height * 5 / 4
    }

    private var view: Area {
        Area(x: area.x, y: area.y + edge, width: area.width, height: area.height - 2 * edge)
    }

    func begin() -> [ScreenOperation] {
        [view.filled(Stage.paper)] + lines(from: view.y, to: view.end) + edges()
    }

    /// Returns the parts above and below the text.
    func edges() -> [ScreenOperation] {
        [(area.y, "File  Edit  View  Help"), (view.end, "Page 3 of 41")].flatMap { y, label -> [ScreenOperation] in
            [
                .fill(x: area.x, y: y, width: area.width, height: edge, colour: 0xE4E4E4),
                .text(x: area.x + 12, y: y + 5, Array(label.utf8), colour: Stage.ink, background: 0xE4E4E4),
            ]
        }
    }

    /// Returns the lines that reach into these rows of the screen.
    private func lines(from top: Int, to bottom: Int) -> [ScreenOperation] {
        let margin = area.width / 5
        let first = Self.quotient(top - view.y + position, pitch)
        let last = Self.quotient(bottom - 1 - view.y + position, pitch)
        return (first...last).flatMap { number -> [ScreenOperation] in
            let y = view.y + number * pitch - position
            if number % 23 == 0 {
                let heading = Array("Chapter \(number / 23)".utf8)
                return [
                    stage.text(heading, x: area.x + margin, y: y, ink: Stage.bar, paper: Stage.paper),
                    .fill(
                        x: area.x + margin, y: y + pitch - 3, width: area.width - 2 * margin, height: 1,
                        colour: Stage.bar),
                ]
            }
            let letters = stage.line(number, of: text, columns: (area.width - 2 * margin) / stage.cell.width)
            guard !letters.isEmpty else { return [] }
            return [stage.text(letters, x: area.x + margin, y: y, ink: Stage.ink, paper: Stage.paper)]
        }
    }

    /// Returns the quotient, rounded down, also below zero.
    private static func quotient(_ value: Int, _ divisor: Int) -> Int {
        value >= 0 ? value / divisor : -((-value + divisor - 1) / divisor)
    }

    /// Scrolls by so many pixels, forward or back.
    mutating func scroll(by distance: Int) -> [ScreenOperation] {
        guard distance != 0 else { return [] }
        position += distance
        let kept = view.height - abs(distance)
        guard kept > 0 else { return begin() }
        let strip: Area
        let move: ScreenOperation
        if distance > 0 {
            move = .copy(x: view.x, y: view.y + distance, width: view.width, height: kept, toX: view.x, toY: view.y)
            strip = Area(x: view.x, y: view.y + kept, width: view.width, height: distance)
        } else {
            move = .copy(x: view.x, y: view.y, width: view.width, height: kept, toX: view.x, toY: view.y - distance)
            strip = Area(x: view.x, y: view.y, width: view.width, height: -distance)
        }
        return [move, strip.filled(Stage.paper)] + lines(from: strip.y, to: strip.end) + edges()
    }
}

/// A document, scrolled in bursts with pauses.
struct ReadingScene: SharedScene {
    private let stage: Stage
    private var document: Document
    private var random: SeededGenerator
    /// A burst: its first step, its number of steps, and its distance.
    private var burst: (start: Int, length: Int, distance: Int)
    private var done = 0

    init(_ stage: Stage, area: Area) {
        self.stage = stage
        document = Document(stage, area: area, text: 1)
        random = SeededGenerator(seed: stage.seed ^ 0x7265_6164)
        burst = (18, 60, 400)
    }

    mutating func begin() -> [ScreenOperation] { stage.titleBar("document") + document.begin() }

    mutating func step(_ step: Int) -> [ScreenOperation] {
        guard step % 2 == 0, step >= burst.start else { return [] }
        // Fast at first, slower to the end, like the turn of a wheel.
        let rest = 1 - min(1, Double(step - burst.start + 2) / Double(burst.length))
        let goal = Int((1 - rest * rest) * Double(burst.distance))
        let operations = document.scroll(by: goal - done)
        done = rest == 0 ? 0 : goal
        guard rest == 0 else { return operations }
        let pause = 30 + Int(random.next() % 40)
        let isBack = random.chance(0.2) && document.position > 800
        burst = (step + pause, 40 + Int(random.next() % 30), (isBack ? -1 : 1) * (150 + Int(random.next() % 300)))
        return operations
    }
}

/// Typing in a program's text; lists open below the typed letter, menus above, and close, all at once.
struct EditorScene: SharedScene {
    private enum Opened {
        case list(row: Int, column: Int, until: Int)
        case menu(until: Int)
    }

    private let stage: Stage
    private let area: Area
    private let opensLists: Bool
    private var random: SeededGenerator
    private var rows: [[UInt8]] = []
    private var cursor: (row: Int, column: Int)
    private var opened: Opened?
    private var chosen = 0
    private var nextLetter = 20
    private var nextOpening = 70
    private let margin = 72
    private static let listItems = 9
    private static let menuItems = 14
    private static let firstRow = 8

    init(_ stage: Stage, area: Area, opensLists: Bool) {
        self.stage = stage
        self.area = area
        self.opensLists = opensLists
        random = SeededGenerator(seed: stage.seed ^ 0x6564_6974)
        cursor = (Self.firstRow, 0)
        let columns = (area.width - 2 * margin) / stage.cell.width
        rows = (0..<(area.height - 40) / stage.cell.height).map {
            $0 == Self.firstRow ? [] : stage.line($0, of: 2, columns: columns * 2 / 3)
        }
    }

    mutating func begin() -> [ScreenOperation] {
        stage.titleBar("editor") + [
            area.filled(Stage.paper),
            .fill(x: area.x, y: area.y, width: area.width, height: 24, colour: 0xE4E4E4),
            .text(
                x: area.x + 12, y: area.y + 5, Array("File  Edit  Selection  View  Go  Run".utf8), colour: Stage.ink,
                background: 0xE4E4E4),
        ] + rows.indices.flatMap(draw)
    }

    private func place(_ row: Int, _ column: Int) -> (x: Int, y: Int) {
        (area.x + margin + column * stage.cell.width, area.y + 32 + row * stage.cell.height)
    }

    private func draw(row: Int) -> [ScreenOperation] {
        let (x, y) = place(row, 0)
        var operations: [ScreenOperation] = [
            .fill(x: area.x, y: y, width: area.width, height: stage.cell.height, colour: Stage.paper),
            stage.text("\(row + 1)".utf8, x: area.x + 12, y: y, ink: 0x909090, paper: Stage.paper),
        ]
        if !rows[row].isEmpty {
            operations.append(stage.text(rows[row], x: x, y: y, ink: Stage.ink, paper: Stage.paper))
        }
        if row == cursor.row { operations.append(drawCursor()) }
        return operations
    }

    private func drawCursor() -> ScreenOperation {
        let (x, y) = place(cursor.row, cursor.column)
        return .fill(x: x, y: y, width: 2, height: stage.cell.height, colour: Stage.ink)
    }

    mutating func step(_ step: Int) -> [ScreenOperation] {
        if let opened { return show(opened, step) }
        guard step >= nextLetter else { return [] }
        if opensLists, step >= nextOpening {
            chosen = 0
            let isList = random.chance(0.65)
            let length = 36 + Int(random.next() % 40)
            let now: Opened =
                isList
                ? .list(row: cursor.row, column: cursor.column, until: step + length) : .menu(until: step + length)
            opened = now
            nextOpening = step + length + 40 + Int(random.next() % 60)
            return draw(now)
        }
        nextLetter = step + 4 + Int(random.next() % 7)
        return type()
    }

    private mutating func type() -> [ScreenOperation] {
        let letter =
            random.chance(0.16) ? UInt8(ascii: " ") : UInt8(ascii: "a") + UInt8(truncatingIfNeeded: random.next() % 26)
        rows[cursor.row].append(letter)
        cursor.column += 1
        let row = cursor.row
        if cursor.column > 70 {
            // The lists below need space.
            cursor = ((row + 1) % max(1, rows.count - Self.listItems - 6), 0)
            rows[cursor.row] = []
        }
        return draw(row: row) + (cursor.row == row ? [] : draw(row: cursor.row))
    }

    /// Moves the marked line of an open list or menu, and then closes that.
    private mutating func show(_ opened: Opened, _ step: Int) -> [ScreenOperation] {
        let until =
            switch opened {
            case .list(_, _, let until), .menu(let until): until
            }
        if step >= until {
            self.opened = nil
            return cover(opened)
        }
        guard step % 12 == 0 else { return [] }
        chosen += 1
        return draw(opened)
    }

    private func draw(_ opened: Opened) -> [ScreenOperation] {
        switch opened {
        case .list(let row, let column, _):
            let (x, y) = place(row + 1, column)
            return stage.menu(
                at: x, y, items: Self.listItems, columns: 30, text: 3, chosen: chosen % Self.listItems)
        case .menu:
            return stage.menu(
                at: area.x + 52, area.y + 24, items: Self.menuItems, columns: 36, text: 4,
                chosen: chosen % Self.menuItems)
        }
    }

    /// Returns the text that was below it.
    private func cover(_ opened: Opened) -> [ScreenOperation] {
        let (top, items) =
            switch opened {
            case .list(let row, _, _): (place(row + 1, 0).y, Self.listItems)
            case .menu: (area.y + 24, Self.menuItems)
            }
        let bottom = top + stage.menuHeight(items: items)
        var operations: [ScreenOperation] = []
        if case .menu = opened {
            operations.append(.fill(x: area.x, y: top, width: area.width, height: 8, colour: Stage.paper))
        }
        for row in rows.indices where place(row, 0).y < bottom && place(row, 0).y + stage.cell.height > top {
            operations += draw(row: row)
        }
        return operations
    }
}

/// Lines that are appended in bursts, and move the others up.
struct TerminalScene: SharedScene {
    private static let night: UInt32 = 0x101418
    private static let inks: [UInt32] = [0xD8D8D8, 0xD8D8D8, 0xD8D8D8, 0x60C060, 0xD0A040, 0x6090E0, 0xD06060]

    private let stage: Stage
    private var random: SeededGenerator
    private var number = 0
    /// The steps of the current or next burst.
    private var burst = 20..<110

    init(_ stage: Stage) {
        self.stage = stage
        random = SeededGenerator(seed: stage.seed ^ 0x7465_726D)
    }

    private var rowCount: Int { stage.area.height / stage.cell.height }

    mutating func begin() -> [ScreenOperation] {
        let rows = rowCount
        number = rows
        return stage.titleBar("terminal") + [stage.area.filled(Self.night)] + (0..<rows).flatMap { draw($0, at: $0) }
    }

    private func draw(_ number: Int, at row: Int) -> [ScreenOperation] {
        let letters = stage.line(number, of: 5, columns: stage.size.width / stage.cell.width)
        guard !letters.isEmpty else { return [] }
        return [
            stage.text(
                letters, x: 0, y: stage.area.y + row * stage.cell.height, ink: Self.inks[number % Self.inks.count],
                paper: Self.night)
        ]
    }

    mutating func step(_ step: Int) -> [ScreenOperation] {
        guard step % 2 == 0, step >= burst.lowerBound else { return [] }
        if step >= burst.upperBound {
            let start = step + 30 + Int(random.next() % 60)
            burst = start..<start + 20 + Int(random.next() % 120)
            return []
        }
        let lines = 1 + Int(random.next() % 3)
        defer { number += lines }
        let (kept, height, top) = (rowCount - lines, stage.cell.height, stage.area.y)
        return [
            .copy(
                x: 0, y: top + lines * height, width: stage.size.width, height: kept * height, toX: 0, toY: top),
            .fill(x: 0, y: top + kept * height, width: stage.size.width, height: lines * height, colour: Self.night),
        ] + (0..<lines).flatMap { draw(number + $0, at: kept + $0) }
    }
}
