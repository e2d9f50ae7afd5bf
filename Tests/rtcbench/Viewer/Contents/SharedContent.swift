internal import RTCShareMedia
internal import RTCShareNetworkSimulation

/// Typical shared content, as far as a script can draw it.
enum SharedContent: String, CaseIterable, Codable, Sendable {
    /// Five seconds each of a document, typing, a window that changes at once with a menu, and a video in a small part.
    /// A small element changes at every frame, and the program redraws the whole screen with it.
    case mixed
    /// Like `mixed`, by a program that draws only the changes.
    case mixedExact = "mixed-exact"
    /// Like `mixed`, in letters of six by thirteen pixels.
    case mixedSmall = "mixed-small"
    /// A document that nobody touches.
    case rest
    /// A document, scrolled in bursts with pauses.
    case reading
    /// Like `reading`, in letters of six by thirteen pixels.
    case readingSmall = "reading-small"
    /// Typing, with lists and menus that open and close at once.
    case editor
    /// Typing, without lists and menus.
    case typing
    /// Slides, some of which slide in or fade.
    case slides
    /// Slides that replace each other at once.
    case cuts
    /// A page that is scrolled smoothly, with videos in it.
    case browsing
    /// A window that is dragged over another.
    case windows
    /// A small element changes, and the whole screen is redrawn with it.
    case redraw
    /// Lines that are appended in bursts, and move the others up.
    case terminal
    /// A grid of nine people.
    case call
    /// Drawn images with much grain, which fill the screen thirty times per second.
    case film
    /// A real video from a file, which fills the screen.
    case video

    /// Whether the whole screen is redrawn with each change.
    var redrawsAll: Bool { self == .mixed || self == .mixedSmall || self == .redraw }

    /// Whether letters are not larger than the font's, however large the screen is.
    var hasSmallLetters: Bool { self == .mixedSmall || self == .readingSmall }

    func scene(_ stage: Stage) -> any SharedScene {
        switch self {
        case .mixed, .mixedExact, .mixedSmall: MixedScene(stage)
        case .rest, .reading, .readingSmall: ReadingScene(stage, area: stage.area)
        case .editor: EditorScene(stage, area: stage.area, opensLists: true)
        case .typing: EditorScene(stage, area: stage.area, opensLists: false)
        case .slides: SlidesScene(stage, hasTransitions: true)
        case .cuts: SlidesScene(stage, hasTransitions: false)
        case .browsing: BrowsingScene(stage)
        case .windows: WindowsScene(stage)
        case .redraw: RedrawScene(stage)
        case .terminal: TerminalScene(stage)
        case .call: CallScene(stage)
        case .film: FilmScene(pictureCount: FilmScene.drawnCount)
        case .video: FilmScene(pictureCount: FilmScene.videoCount)
        }
    }

    /// Returns its images. `video` is the file of ``video``.
    func pictures(_ stage: Stage, video: String?) throws -> MovingPictures {
        switch self {
        case .mixed, .mixedExact, .mixedSmall, .browsing:
            MovingPictures(size: Stage.filmSize, count: 30, seed: stage.seed)
        case .slides: SlidesScene.pictures(stage, hasTransitions: true)
        case .cuts: SlidesScene.pictures(stage, hasTransitions: false)
        case .windows: WindowsScene.pictures(stage)
        case .call: CallScene.pictures(stage)
        case .film: MovingPictures(size: stage.size, count: FilmScene.drawnCount, seed: stage.seed)
        case .video:
            if let video {
                try MovingPictures(of: video, size: stage.size, count: FilmScene.videoCount)
            } else {
                throw BenchmarkFailure("only rtcbench viewer has the content video, with --video")
            }
        case .rest, .reading, .readingSmall, .editor, .typing, .redraw, .terminal: .none
        }
    }
}

/// A part of a content, drawn step by step.
protocol SharedScene: Sendable {
    /// Returns the operations of the whole area.
    mutating func begin() -> [ScreenOperation]
    /// Returns the changes in a step; there are ``SharedScript/stepsPerSecond`` steps per second.
    mutating func step(_ step: Int) -> [ScreenOperation]
    /// Whether a step draws over the place of the tick's code.
    var coversCode: Bool { get }
}

extension SharedScene {
    var coversCode: Bool { false }
}

/// The changes of a content: the same for every sender, by the seed.
struct SharedScript: TickSequence {
    static let stepsPerSecond = 60
    /// The deviation of a change from its time, as a fraction of a step, so that no sender's frames are synchronous
    /// with it.
    private static let jitter = 0.3

    private var scene: any SharedScene
    private let isStill: Bool
    private var random: SeededGenerator
    private var step = 0
    private var tick = 0

    init(_ content: SharedContent, stage: Stage) {
        scene = content.scene(stage)
        isStill = content == .rest
        random = SeededGenerator(seed: stage.seed ^ 0x7368_6172)
    }

    /// Returns the initial content.
    mutating func begin() -> [ScreenOperation] { scene.begin() + ScreenOperation.code(of: 0, after: nil) }

    mutating func next() -> ScreenTick? {
        while !isStill {
            step += 1
            let operations = scene.step(step)
            guard !operations.isEmpty else { continue }
            tick += 1
            let time = (Double(step) + Self.jitter * (random.fraction() - 0.5)) / Double(Self.stepsPerSecond)
            return ScreenTick(
                time: time,
                operations: operations + ScreenOperation.code(of: tick, after: scene.coversCode ? nil : tick - 1))
        }
        return nil
    }
}
