internal import ArgumentParser
internal import RTCShareNetworkSimulation

/// The content of the screen while a sender is measured.
enum ScreenContent: String, CaseIterable, Codable, ExpressibleByArgument {
    /// A page of text and windows; nothing changes.
    case still = "static"
    /// A letter and a cursor, some ten times per second.
    case typing
    /// A terminal as wide as the screen moves up by one to three lines, thirty times per second.
    case scrolling
    /// Another page fills the screen every second and a half.
    case switching = "switch"
    /// A video of 640 by 360 at thirty frames per second, next to unchanged text.
    case video
    /// The whole screen changes thirty times per second.
    case motion

    /// The mean time between changes in seconds; nil if nothing changes.
    var interval: Double? {
        switch self {
        case .still: nil
        case .typing: 0.1
        case .scrolling, .video, .motion: 1.0 / 30
        case .switching: 1.5
        }
    }

    /// The minimum deviation of a change from its time, as a fraction of the interval, even for a regular schedule:
    /// people type irregularly.
    var leastJitter: Double { self == .typing ? 0.6 : 0 }
}

/// The times of a content's changes: the same for every sender, by the seed.
struct TickSchedule {
    private let interval: Double
    private let jitter: Double
    private var random: SeededGenerator
    private var count = 0

    /// Creates a schedule. `jitter` is the fraction of the interval over which changes are spread, 0 for a regular one.
    init?(_ content: ScreenContent, jitter: Double, seed: UInt64) {
        guard let interval = content.interval else { return nil }
        self.interval = interval
        self.jitter = max(jitter, content.leastJitter)
        random = SeededGenerator(seed: seed ^ 0x7469_636B)
    }

    /// Returns the next change's time in seconds from the start. Times never decrease.
    mutating func next() -> Double {
        count += 1
        return interval * (Double(count) + jitter * (random.fraction() - 0.5))
    }
}
