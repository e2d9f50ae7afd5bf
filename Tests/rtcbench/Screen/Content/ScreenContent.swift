internal import ArgumentParser
internal import RTCShareNetworkSimulation

/// What is on the screen while a sender is measured.
enum ScreenContent: String, CaseIterable, Codable, ExpressibleByArgument {
    /// A page of text and windows; nothing changes.
    case still = "static"
    /// A letter and a cursor, some ten times a second.
    case typing
    /// A terminal as wide as the screen moves up by one to three lines, thirty times a second.
    case scrolling
    /// Another page fills the screen each second and a half.
    case switching = "switch"
    /// A picture of 640 by 360 changes thirty times a second, beside text that stays.
    case video
    /// The whole screen changes thirty times a second.
    case motion

    /// Seconds from one change to the next, in the mean; nil where nothing changes.
    var interval: Double? {
        switch self {
        case .still: nil
        case .typing: 0.1
        case .scrolling, .video, .motion: 1.0 / 30
        case .switching: 1.5
        }
    }

    /// How far a change strays from its time even where regular ones are asked for, as a share of the interval: people
    /// type when they do.
    var leastJitter: Double { self == .typing ? 0.6 : 0 }
}

/// When the changes of a content come: the same for every sender, by the seed.
struct TickSchedule {
    private let interval: Double
    private let jitter: Double
    private var random: SeededGenerator
    private var count = 0

    /// `jitter` is the share of the interval over which changes are spread, 0 for a regular beat.
    init?(_ content: ScreenContent, jitter: Double, seed: UInt64) {
        guard let interval = content.interval else { return nil }
        self.interval = interval
        self.jitter = max(jitter, content.leastJitter)
        random = SeededGenerator(seed: seed ^ 0x7469_636B)
    }

    /// The next change's time in seconds from the start. Times never go back.
    mutating func next() -> Double {
        count += 1
        return interval * (Double(count) + jitter * (random.fraction() - 0.5))
    }
}
