/// Pictures that came to a viewer's screen, beside the changes of the screen that they are of: how smooth, how late.
///
/// Times are in seconds, of one clock.
package struct ViewedPictures: Sendable {
    /// A picture on the viewer's screen.
    package struct Picture: Hashable, Sendable {
        /// When it came there.
        package let time: Double
        /// The last change that it shows; nil where it does not tell.
        package let tick: Int?

        /// A picture that came at a time, and shows a change and those before it.
        package init(time: Double, tick: Int?) {
            self.time = time
            self.tick = tick
        }
    }

    /// From one picture to the next.
    package struct Gap: Hashable, Sendable {
        /// When the earlier picture came.
        package let start: Double
        /// When the later one did.
        package let end: Double
        /// Whether the receiver would count it in `freezeCount` (W3C webrtc-stats).
        package let isFreeze: Bool
        /// When the sender's screen showed something that the earlier picture does not; nil where it did not until the
        /// later one came.
        package let changed: Double?

        /// In seconds.
        package var duration: Double { end - start }
        /// How long the viewer looked at a picture that was no longer true: a screen at rest needs no pictures.
        package var stall: Double { changed.map { end - $0 } ?? 0 }
    }

    /// The last of so many intervals make the mean, and with fewer than the least there is no freeze: as libwebrtc does
    /// it (`VideoQualityObserver`), which is what Chromium's `freezeCount` is.
    static let intervalsInMean = 30
    static let leastIntervals = 5
    /// What an interval has to be above the mean by, at least.
    static let leastIncrease = 0.150

    /// In the order in which they came.
    package let pictures: [Picture]
    /// When each change was on the sender's screen; the first is what was there at the start.
    package let drawn: [Double]

    /// What came, and what was drawn.
    package init(pictures: [Picture], drawn: [Double]) {
        self.pictures = pictures
        self.drawn = drawn
    }

    /// All gaps, in their order.
    package var gaps: [Gap] {
        var intervals: [Double] = []
        var shown = 0
        return zip(pictures, pictures.dropFirst()).map { earlier, later in
            shown = max(shown, earlier.tick ?? 0)
            let interval = later.time - earlier.time
            intervals.append(interval)
            if intervals.count > Self.intervalsInMean { intervals.removeFirst() }
            let mean = intervals.reduce(0, +) / Double(intervals.count)
            let next = shown + 1 < drawn.count ? drawn[shown + 1] : .infinity
            return Gap(
                start: earlier.time, end: later.time,
                isFreeze: intervals.count >= Self.leastIntervals
                    && interval >= max(3 * mean, mean + Self.leastIncrease),
                changed: next < later.time ? max(next, earlier.time) : nil)
        }
    }

    /// How long each change took to the first picture that shows it or a later one, the first change left out; nil for
    /// those that none shows.
    package var delays: [Double?] {
        var position = 0
        return drawn.indices.dropFirst().map { tick in
            while position < pictures.count, pictures[position].tick.map({ $0 < tick }) ?? true { position += 1 }
            return position < pictures.count ? pictures[position].time - drawn[tick] : nil
        }
    }

    /// The last change that the sender's screen showed at a time.
    package func tick(at time: Double) -> Int {
        // The first change after that time, by halves.
        var (low, high) = (0, drawn.count)
        while low < high {
            let middle = (low + high) / 2
            if drawn[middle] <= time { low = middle + 1 } else { high = middle }
        }
        return max(0, low - 1)
    }
}
