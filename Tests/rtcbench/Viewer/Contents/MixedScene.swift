internal import RTCShareMedia
internal import RTCShareNetworkSimulation

/// A small element in the upper right corner that changes 30 times per second: a mark that runs along a bar.
struct Spinner {
    private let stage: Stage
    private static let width = 120
    private static let mark = 12

    init(_ stage: Stage) { self.stage = stage }

    func draw(_ step: Int) -> [ScreenOperation] {
        let x = stage.size.width - Self.width - 12
        let place = step / 2 * 3 % (Self.width - Self.mark)
        return [
            .fill(x: x, y: 6, width: Self.width, height: 12, colour: 0x202020),
            .fill(x: x + place, y: 6, width: Self.mark, height: 12, colour: 0xF0C040),
        ]
    }
}

/// Unchanged text, and the small element.
struct RedrawScene: SharedScene {
    private let stage: Stage
    private let spinner: Spinner

    init(_ stage: Stage) {
        self.stage = stage
        spinner = Spinner(stage)
    }

    mutating func begin() -> [ScreenOperation] {
        stage.titleBar("monitor") + [stage.area.filled(Stage.desk)]
            + stage.window(
                Area(x: 16, y: 40, width: stage.size.width - 32, height: stage.size.height - 56), title: "log", text: 10
            )
            + spinner.draw(0)
    }

    mutating func step(_ step: Int) -> [ScreenOperation] { step % 2 == 0 ? spinner.draw(step) : [] }
}

/// A window whose content changes at once, and in which a menu opens and closes at once.
struct DialogScene: SharedScene {
    private let stage: Stage
    private let area: Area
    private var page: UInt64 = 0

    init(_ stage: Stage, area: Area) {
        self.stage = stage
        self.area = area
    }

    private var window: Area {
        Area(
            x: area.x + area.width / 4, y: area.y + area.height / 8, width: area.width / 2, height: area.height * 3 / 4)
    }

    private func draw() -> [ScreenOperation] {
        let (ink, paper): (UInt32, UInt32) =
            [(Stage.ink, Stage.paper), (0xD8D8D8, 0x101418), (0x303030, 0xF4F0E0)][Int(page % 3)]
        return stage.window(window, title: "settings", text: 30 + page, ink: ink, paper: paper)
    }

    mutating func begin() -> [ScreenOperation] { stage.titleBar("settings") + [area.filled(Stage.desk)] + draw() }

    /// Every 1.2 seconds: another page, and 0.4 s later the menu, which is closed after another 0.4.
    mutating func step(_ step: Int) -> [ScreenOperation] {
        switch step % 72 {
        case 0:
            page += 1
            return draw()
        case 24, 36:
            return stage.menu(
                at: window.x + 20, window.y + 22, items: 10, columns: 30, text: 11, chosen: step % 72 == 24 ? 2 : 5)
        case 48: return draw()
        default: return []
        }
    }
}

/// Unchanged text, with a video in a part.
struct FilmPartScene: SharedScene {
    private let stage: Stage
    private let area: Area

    init(_ stage: Stage, area: Area) {
        self.stage = stage
        self.area = area
    }

    private func film(_ number: Int) -> ScreenOperation {
        .picture(
            number % 30, x: area.x + area.width - Stage.filmSize.width - 48,
            y: area.y + area.height - Stage.filmSize.height - 48)
    }

    mutating func begin() -> [ScreenOperation] {
        stage.titleBar("news") + [area.filled(Stage.desk)]
            + stage.window(
                Area(x: area.x + 16, y: area.y + 16, width: area.width * 2 / 3, height: area.height - 32),
                title: "news",
                text: 12)
            + [film(0)]
    }

    mutating func step(_ step: Int) -> [ScreenOperation] { step % 2 == 0 ? [film(step / 2)] : [] }
}

/// Five seconds each of several scenes, always with the small element.
struct MixedScene: SharedScene {
    private static let stepsEach = 5 * SharedScript.stepsPerSecond

    private let spinner: Spinner
    private var scenes: [any SharedScene]

    init(_ stage: Stage) {
        spinner = Spinner(stage)
        scenes = [
            ReadingScene(stage, area: stage.area), EditorScene(stage, area: stage.area, opensLists: false),
            DialogScene(stage, area: stage.area), FilmPartScene(stage, area: stage.area),
        ]
    }

    mutating func begin() -> [ScreenOperation] { scenes[0].begin() + spinner.draw(0) }

    mutating func step(_ step: Int) -> [ScreenOperation] {
        let number = step / Self.stepsEach % scenes.count
        if step % Self.stepsEach == 0 { return scenes[number].begin() + spinner.draw(step) }
        return scenes[number].step(step) + (step % 2 == 0 ? spinner.draw(step) : [])
    }
}
