internal import Media

/// How far libvpx looks for where things moved to: its cpu-used, chosen picture by picture.
///
/// Text that scrolls moves by whole lines, the further the fewer pictures there are. At -8 libvpx finds no more than about
/// 16 rows and codes the page anew beyond: at 1280×720 and 30 frames a second a terminal that scrolls by 40 lines a second
/// takes 20 kB a picture at the coarsest quantizer, at -3 less than 10 kB at one of the finest.
struct MotionSearch {
    /// Of the picture, what has to have changed: a cursor, or a line that is being typed, goes nowhere.
    static let leastChange = 0.1
    /// Of the time until the next picture, what this one may take.
    static let share = 0.65
    /// However long the next picture is away, this one is waited for.
    static let longestInterval = Duration.milliseconds(100)

    private struct Choice {
        let speed: Int
        /// What it takes on a machine of 2020, about.
        let usualTime: Duration
        /// What it took here. All times are of a megapixel that changed.
        var time: Duration
    }

    /// From the farthest on.
    private var choices = [(-3, 32), (-4, 11)].map { speed, time in
        Choice(speed: speed, usualTime: .milliseconds(time), time: .milliseconds(time))
    }

    /// The speed for a picture of which `change` is the share that differs from the one before, with the next one
    /// `interval` away. `fastest` is what is used where nothing is to be looked for, or no time is there to do so.
    mutating func speed(change: Double, of size: PixelSize, interval: Duration, fastest: Int) -> Int {
        guard change >= Self.leastChange else { return fastest }
        let time = min(interval, Self.longestInterval) * Self.share / Self.megapixels(change, of: size)
        for index in choices.indices {
            if choices[index].time <= time { return max(choices[index].speed, fastest) }
            // The machine may have been busy with something else.
            choices[index].time += (choices[index].usualTime - choices[index].time) * 0.02
        }
        return fastest
    }

    /// Such a picture took so long.
    mutating func took(_ effort: Duration, speed: Int, change: Double, of size: PixelSize) {
        guard change >= Self.leastChange, let index = choices.firstIndex(where: { $0.speed == speed }) else { return }
        choices[index].time += (effort / Self.megapixels(change, of: size) - choices[index].time) * 0.2
    }

    private static func megapixels(_ change: Double, of size: PixelSize) -> Double {
        max(change * Double(size.area) / 1_000_000, 0.001)
    }
}
