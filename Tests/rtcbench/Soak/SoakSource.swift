internal import Foundation
internal import RTCShareCapture
internal import RTCShareMedia
internal import RTCShareWireFormat

/// A source of video that runs until it is stopped.
final class SoakSource {
    let video: any VideoSource
    private let end: () -> Void

    /// The frames of screens, created once: the memory must not depend on the selected one.
    struct Library {
        private let screens: [ScreenContent: SteadyContent]

        init() {
            let size = PixelSize(width: 480, height: 272)
            let contents = [ScreenContent.typing, .scrolling, .motion]
            screens = Dictionary(uniqueKeysWithValues: contents.map { ($0, SteadyContent($0, size: size)) })
        }

        fileprivate subscript(_ content: ScreenContent) -> SteadyContent? { screens[content] }
    }

    /// The time between frames of a screen.
    private static let interval = Duration.milliseconds(90)

    /// Starts to show a content.
    init(_ content: SoakContent, from library: Library) throws {
        switch content {
        case .pattern(let width, let height, let rate):
            let pattern = try TestPatternSource(size: PixelSize(width: width, height: height), framesPerSecond: rate)
            try pattern.start()
            video = pattern
            end = { pattern.stop() }
        case .screen(let screen):
            guard let pictures = library[screen] else { throw BenchmarkFailure("no pictures of \(screen)") }
            let source = PushVideoSource()
            let task = Self.play(pictures, to: source)
            video = source
            end = { task.cancel() }
        }
    }

    private static func play(_ pictures: SteadyContent, to source: PushVideoSource) -> Task<Void, Never> {
        Task {
            var index = 0
            while !Task.isCancelled {
                source.capture(pictures.frame(index, timestamp: .nanoseconds(MonotonicTime.now.nanoseconds)))
                index += 1
                try? await Task.sleep(for: interval)
            }
        }
    }

    func stop() { end() }
}
