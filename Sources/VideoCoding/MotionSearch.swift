internal import Glibc
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

    /// Of the macroblocks of two I420 pictures, the share in which their luma differs: 0 to 1, and 0 where nothing
    /// of the size was before.
    static func change(
        from one: (any VideoFrameBuffer)?, to other: any VideoFrameBuffer
    ) throws(VideoCodingError) -> Double {
        guard let one, one.size == other.size else { return 0 }
        let size = one.size
        return try one.withPlanePointers { (first) throws(VideoCodingError) -> Double in
            try other.withPlanePointers { (second) throws(VideoCodingError) -> Double in
                changedMacroblocks(first.first, second.first, size: size)
            }
        }
    }

    private static func changedMacroblocks(_ one: PlanePointer, _ other: PlanePointer, size: PixelSize) -> Double {
        let columns = (size.width + 15) / 16
        var count = 0
        var isChanged = [Bool](repeating: false, count: columns)
        for row in 0..<size.height {
            if row.isMultiple(of: 16) { for column in 0..<columns { isChanged[column] = false } }
            let (left, right) = (one.first + row * Int(one.stride), other.first + row * Int(other.stride))
            guard memcmp(left, right, size.width) != 0 else { continue }
            for column in 0..<columns where !isChanged[column] {
                let x = column * 16
                if memcmp(left + x, right + x, min(16, size.width - x)) != 0 {
                    isChanged[column] = true
                    count += 1
                }
            }
        }
        return Double(count) / Double(columns * ((size.height + 15) / 16))
    }
}
