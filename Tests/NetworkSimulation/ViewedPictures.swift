/// The frames on a viewer's screen, compared with the changes of the sender's screen: their smoothness and their delay.
///
/// Times are in seconds, of one clock.
package struct ViewedPictures: Sendable {
    /// A frame on the viewer's screen.
    package struct Picture: Hashable, Sendable {
        /// The time at which it appeared.
        package let time: Double
        /// The last change that it shows; nil if that is not visible in it.
        package let tick: Int?

        /// Creates a frame that appeared at a time, and shows a change and those before it.
        package init(time: Double, tick: Int?) {
            self.time = time
            self.tick = tick
        }
    }

    /// The gap between two frames.
    package struct Gap: Hashable, Sendable {
        /// The time of the earlier frame.
        package let start: Double
        /// The time of the later frame.
        package let end: Double
        /// Whether the receiver would count it in `freezeCount` (W3C webrtc-stats).
        package let isFreeze: Bool
        /// The time at which the sender's screen showed something that the earlier frame does not; nil if that did not
        /// happen before the later one appeared.
        package let changed: Double?

        /// The duration in seconds.
        package var duration: Double { end - start }
        /// The time for which the viewer's screen was out of date: an idle screen needs no frames.
        package var stall: Double { changed.map { end - $0 } ?? 0 }
    }

    /// The number of intervals in the mean, and the minimum number for a freeze, as in libwebrtc
    /// (`VideoQualityObserver`), from which Chromium's `freezeCount` comes.
    static let intervalsInMean = 30
    static let leastIntervals = 5
    /// The minimum difference of a freeze from the mean.
    static let leastIncrease = 0.150

    /// The frames in order of appearance.
    package let pictures: [Picture]
    /// The time of each change on the sender's screen; the first is the initial content.
    package let drawn: [Double]

    /// Compares frames with changes.
    package init(pictures: [Picture], drawn: [Double]) {
        self.pictures = pictures
        self.drawn = drawn
    }

    /// All gaps, in order.
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

    /// The delay of each change to the first frame that shows it or a later one, without the first change; nil for
    /// those that no frame shows.
    package var delays: [Double?] {
        var position = 0
        return drawn.indices.dropFirst().map { tick in
            while position < pictures.count, pictures[position].tick.map({ $0 < tick }) ?? true { position += 1 }
            return position < pictures.count ? pictures[position].time - drawn[tick] : nil
        }
    }

    /// Returns the last change that the sender's screen showed at a time.
    package func tick(at time: Double) -> Int {
        // A binary search for the first change after that time.
        var (low, high) = (0, drawn.count)
        while low < high {
            let middle = (low + high) / 2
            if drawn[middle] <= time { low = middle + 1 } else { high = middle }
        }
        return max(0, low - 1)
    }
}
