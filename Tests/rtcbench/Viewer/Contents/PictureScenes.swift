internal import Foundation
internal import RTCShareMedia
internal import RTCShareNetworkSimulation

/// Slides, each for two seconds.
struct SlidesScene: SharedScene {
    private enum Change { case cut, push, fade }

    private static let slideCount = 6
    /// The transition to each slide except the first; only one fades, because that needs many images.
    private static let changes: [Change] = [.push, .push, .fade, .push, .cut, .push]
    private static let faded = 2
    private static let stepsPerSlide = 120
    /// Half a second, at 30 frames per second.
    private static let transitionSteps = 30
    private static let fadePictures = transitionSteps / 2 - 1

    private let size: PixelSize
    private let hasTransitions: Bool

    init(_ stage: Stage, hasTransitions: Bool) {
        size = stage.size
        self.hasTransitions = hasTransitions
    }

    var coversCode: Bool { true }

    mutating func begin() -> [ScreenOperation] { [.picture(0, x: 0, y: 0)] }

    mutating func step(_ step: Int) -> [ScreenOperation] {
        let since = step % Self.stepsPerSlide
        guard step >= Self.stepsPerSlide else { return [] }
        let new = step / Self.stepsPerSlide % Self.slideCount
        let old = (new + Self.slideCount - 1) % Self.slideCount
        let change = hasTransitions ? Self.changes[new] : .cut
        let isEnd = since == (change == .cut ? 0 : Self.transitionSteps)
        if isEnd { return [.picture(new, x: 0, y: 0)] }
        guard change != .cut, since % 2 == 0, (1..<Self.transitionSteps).contains(since) else { return [] }
        if change == .fade { return [.picture(Self.slideCount + since / 2 - 1, x: 0, y: 0)] }
        let share = Double(since) / Double(Self.transitionSteps)
        let place = size.width - Int(Double(size.width) * (1 - (1 - share) * (1 - share)))
        return [.picture(old, x: place - size.width, y: 0), .picture(new, x: place, y: 0)]
    }

    /// Returns all slides, and the images between the two that fade.
    static func pictures(_ stage: Stage, hasTransitions: Bool) -> MovingPictures {
        var slides = (0..<slideCount).map { number -> [UInt32] in
            var canvas = ScreenCanvas(size: stage.size, font: stage.font, pictures: .none)
            canvas.draw(slide(number, stage))
            return canvas.pixels
        }
        if hasTransitions {
            let (from, to) = (slides[faded - 1], slides[faded])
            for step in 1...fadePictures {
                slides.append(blend(from, to, share: UInt32(256 * step / (fadePictures + 1))))
            }
        }
        return MovingPictures(size: stage.size, pictures: slides)
    }

    private static func blend(_ one: [UInt32], _ other: [UInt32], share: UInt32) -> [UInt32] {
        // Red and blue side by side in one product, green in another.
        zip(one, other).map { one, other in
            let mixed = ((one & 0xFF00FF) * (256 - share) + (other & 0xFF00FF) * share) >> 8 & 0xFF00FF
            let green = ((one & 0xFF00) * (256 - share) + (other & 0xFF00) * share) >> 8 & 0xFF00
            return mixed | green
        }
    }

    private static func slide(_ number: Int, _ stage: Stage) -> [ScreenOperation] {
        let (ink, paper): (UInt32, UInt32) =
            [(0x202020, 0xFFFFFF), (0xF0F0F0, 0x1A3A5A), (0x303030, 0xF4F0E0)][number % 3]
        let (width, height) = (stage.size.width, stage.size.height)
        var operations: [ScreenOperation] = [
            .fill(x: 0, y: 0, width: width, height: height, colour: paper),
            .fill(x: 0, y: height / 6, width: width, height: 6, colour: 0xD0A040),
        ]
        operations.append(
            .text(
                x: width / 16, y: height / 16, Array("Slide \(number + 1)".utf8), colour: ink, background: paper,
                scale: max(2, height / 180)))
        for point in 0..<5 {
            let letters = stage.line(point, of: 20 + UInt64(number), columns: 44).drop { $0 == UInt8(ascii: " ") }
            operations.append(
                .text(
                    x: width / 12, y: height / 4 + point * height / 9, Array("- ".utf8) + letters, colour: ink,
                    background: paper, scale: max(1, height / 360)))
        }
        for column in 0..<8 {
            let tall = height / 24 * (1 + (column * 7 + number * 5) % 9)
            operations.append(
                .fill(
                    x: width * 5 / 8 + column * width / 28, y: height * 15 / 16 - tall, width: width / 40, height: tall,
                    colour: [0x3A5A98, 0xD06060, 0x60C060, 0xD0A040][column % 4]))
        }
        return operations
    }
}

/// A page with videos in it, scrolled smoothly, with pauses.
struct BrowsingScene: SharedScene {
    private let stage: Stage
    private var document: Document
    private let area: Area
    /// The distance between the videos in the page.
    private static let distance = 900
    private static let cycle = 200
    private static let scrolling = 130

    init(_ stage: Stage) {
        self.stage = stage
        area = stage.area
        document = Document(stage, area: stage.area, text: 6)
    }

    mutating func begin() -> [ScreenOperation] {
        document.begin() + films(0) + document.edges() + stage.titleBar("browser")
    }

    mutating func step(_ step: Int) -> [ScreenOperation] {
        let phase = step % Self.cycle
        // It starts and stops gradually.
        let speed = phase < Self.scrolling ? 9 * sin(Double.pi * Double(phase) / Double(Self.scrolling)) : 0
        let operations = document.scroll(by: Int(speed.rounded()))
        guard !operations.isEmpty || step % 2 == 0 else { return [] }
        return operations + films(step / 2) + document.edges() + stage.titleBar("browser")
    }

    /// Returns the visible videos, at the page's right.
    private func films(_ number: Int) -> [ScreenOperation] {
        let x = area.x + area.width - area.width / 8 - Stage.filmSize.width
        let first = (document.position - Stage.filmSize.height) / Self.distance
        return (max(0, first)...max(0, first) + 2).compactMap { film in
            let y = area.y + 24 + 200 + film * Self.distance - document.position
            guard y < area.end, y + Stage.filmSize.height > area.y else { return nil }
            return .picture(number % 30, x: x, y: y)
        }
    }
}

/// A window that is dragged over another.
struct WindowsScene: SharedScene {
    private let size: PixelSize
    private var place: (x: Int, y: Int)

    private static func window(_ size: PixelSize) -> (width: Int, height: Int) { (size.width * 2 / 5, size.height / 2) }

    init(_ stage: Stage) {
        size = stage.size
        place = Self.place(at: 0, stage.size)
    }

    /// Returns a position around the screen's middle, at a hand's varying speed, with pauses.
    private static func place(at step: Int, _ size: PixelSize) -> (x: Int, y: Int) {
        let window = Self.window(size)
        let cycle = Double(step / 150) + min(1, Double(step % 150) / 110)
        let angle = 2 * Double.pi * (cycle * 0.37 + 0.05 * sin(cycle * 9))
        let (across, down) = (size.width - window.width, size.height - Stage.barHeight - window.height)
        return (
            Int(Double(across) * (0.5 + 0.45 * cos(angle))),
            Stage.barHeight + Int(Double(down) * (0.5 + 0.45 * sin(angle * 1.5)))
        )
    }

    mutating func begin() -> [ScreenOperation] { [.picture(0, x: 0, y: 0), window()] }

    private func window() -> ScreenOperation {
        let window = Self.window(size)
        return .part(of: 1, x: 0, y: 0, width: window.width, height: window.height, toX: place.x, toY: place.y)
    }

    mutating func step(_ step: Int) -> [ScreenOperation] {
        let new = Self.place(at: step, size)
        guard new != place else { return [] }
        let (old, window) = (place, Self.window(size))
        place = new
        let (right, down) = (new.x - old.x, new.y - old.y)
        var operations: [ScreenOperation] = []
        // The uncovered area: a strip next to the window, and one above or below.
        func uncover(_ x: Int, _ y: Int, _ width: Int, _ height: Int) {
            guard width > 0, height > 0 else { return }
            operations.append(.part(of: 0, x: x, y: y, width: width, height: height, toX: x, toY: y))
        }
        let beside = min(abs(right), window.width)
        uncover(right > 0 ? old.x : old.x + window.width - beside, old.y, beside, window.height)
        let above = min(abs(down), window.height)
        uncover(old.x, down > 0 ? old.y : old.y + window.height - above, window.width, above)
        return operations + [self.window()]
    }

    /// Returns the screen without the window, and the window.
    static func pictures(_ stage: Stage) -> MovingPictures {
        var desk = ScreenCanvas(size: stage.size, font: stage.font, pictures: .none)
        let (width, height) = (stage.size.width, stage.size.height)
        desk.draw([.fill(x: 0, y: 0, width: width, height: height, colour: Stage.desk)])
        desk.draw(stage.titleBar("windows"))
        desk.draw(
            stage.window(
                Area(x: 16, y: 40, width: width * 3 / 5, height: height - 56), title: "notes", text: 7)
                + stage.window(
                    Area(x: width * 5 / 8, y: 80, width: width * 3 / 8 - 16, height: height / 2), title: "terminal",
                    text: 8, ink: 0xD8D8D8, paper: 0x101418))
        var moved = ScreenCanvas(size: stage.size, font: stage.font, pictures: .none)
        let size = window(stage.size)
        moved.draw(
            stage.window(
                Area(x: 0, y: 0, width: size.width, height: size.height), title: "mail", text: 9, paper: 0xF4F0E0))
        return MovingPictures(size: stage.size, pictures: [desk.pixels, moved.pixels])
    }
}

/// A grid of nine people, each of whom moves a little before a wall.
struct CallScene: SharedScene {
    private static let people = 3
    private static let picturesEach = 24

    private let stage: Stage
    private let tile: PixelSize

    init(_ stage: Stage) {
        self.stage = stage
        tile = Self.tile(stage.size)
    }

    private static func tile(_ size: PixelSize) -> PixelSize {
        PixelSize(width: (size.width - 32) / 3 & ~1, height: (size.height - Stage.barHeight - 32) / 3 & ~1)
    }

    mutating func begin() -> [ScreenOperation] {
        stage.titleBar("call") + [stage.area.filled(0x202428)] + tiles(0)
    }

    mutating func step(_ step: Int) -> [ScreenOperation] { step % 2 == 0 ? tiles(step / 2) : [] }

    private func tiles(_ number: Int) -> [ScreenOperation] {
        (0..<9).flatMap { seat -> [ScreenOperation] in
            let x = 8 + seat % 3 * (tile.width + 8)
            let y = Stage.barHeight + 8 + seat / 3 * (tile.height + 8)
            let index = seat % Self.people * Self.picturesEach + (number + seat * 7) % Self.picturesEach
            let name = Array("Attendee \(seat + 1)".utf8)
            return [
                .picture(index, x: x, y: y),
                .text(x: x + 8, y: y + tile.height - 20, name, colour: 0xFFFFFF, background: 0x303030),
            ]
        }
    }

    static func pictures(_ stage: Stage) -> MovingPictures {
        let size = tile(stage.size)
        return MovingPictures(
            size: size,
            pictures: (0..<people).flatMap { person in
                (0..<picturesEach).map { picture(of: person, phase: Double($0) / Double(picturesEach), size) }
            })
    }

    /// Returns a head that sways over shoulders, with a mouth that opens and shuts, and a camera's noise.
    private static func picture(of person: Int, phase: Double, _ size: PixelSize) -> [UInt32] {
        let turn = 2 * Double.pi * phase
        var noise = SeededGenerator(seed: UInt64(person * 100) + UInt64(phase * 1000))
        let (width, height) = (Double(size.width), Double(size.height))
        let head = (x: width / 2 + width / 24 * sin(turn), y: height * 0.42 + height / 40 * sin(2 * turn))
        let mouth = height / 60 * (1.5 + sin(3 * turn))
        let wall: (Int, Int, Int) = [(150, 160, 170), (120, 140, 110), (170, 150, 130)][person]
        var pixels = [UInt32](repeating: 0, count: size.area)
        for row in 0..<size.height {
            for column in 0..<size.width {
                let (x, y) = (Double(column), Double(row))
                let shade = column / 40 % 2 * 14 + row / 8
                var colour = (wall.0 - shade, wall.1 - shade, wall.2 - shade)
                let (dx, dy) = ((x - head.x) / (height * 0.17), (y - head.y) / (height * 0.23))
                let (sx, sy) = ((x - head.x) / (height * 0.42), (y - height * 1.02) / (height * 0.36))
                if dx * dx + dy * dy < 1 {
                    let light = Int(30 * (dx + 1))
                    colour = dy < -0.5 ? (60, 45, 35) : (200 - light, 160 - light, 130 - light)
                    if abs(dy - 0.55) * height * 0.23 < mouth, abs(dx) < 0.35 { colour = (120, 50, 50) }
                    if abs(dy + 0.05) < 0.06, abs(abs(dx) - 0.35) < 0.1 { colour = (30, 30, 30) }
                } else if sx * sx + sy * sy < 1 {
                    colour = [(50, 60, 110), (110, 50, 60), (60, 60, 60)][person]
                }
                let grain = Int(truncatingIfNeeded: noise.next() & 7) - 3
                pixels[row * size.width + column] =
                    UInt32(max(0, colour.0 + grain)) << 16 | UInt32(max(0, colour.1 + grain)) << 8
                    | UInt32(max(0, colour.2 + grain))
            }
        }
        return pixels
    }
}

/// A video that fills the screen.
struct FilmScene: SharedScene {
    /// The number of drawn images.
    static let drawnCount = 16
    /// The number of images of a real video, for five seconds. A screen of them takes a gigabyte at 1920×1080.
    static let videoCount = 150

    let pictureCount: Int

    var coversCode: Bool { true }

    mutating func begin() -> [ScreenOperation] { [.picture(0, x: 0, y: 0)] }

    mutating func step(_ step: Int) -> [ScreenOperation] {
        step % 2 == 0 ? [.picture(step / 2 % pictureCount, x: 0, y: 0)] : []
    }
}
