internal import Glibc
internal import RTCShareMedia

/// The range of libvpx's motion search (cpu-used), chosen for each frame.
///
/// ``ScrollSearch`` finds content that moves as a whole by whole pixels. At -8, libvpx finds the motion of a camera
/// within some 16 pixels, and codes everything beyond as new. At -3 it searches much farther, for several times the
/// effort. Only trials show which is better: from time to time some frames use the other speed, and the one with
/// clearly fewer bits is kept.
struct MotionSearch {
    /// The minimum fraction of the frame that must have changed: a cursor, or a line of typing, does not move content.
    static let leastChange = 0.1
    /// The fraction of the time until the next frame that this frame can take.
    static let share = 0.65
    /// The maximum time until the next frame that counts.
    static let longestInterval = Duration.milliseconds(100)
    /// The time after the previous frame from which a change is a new page, without motion.
    static let pageInterval = Duration.milliseconds(500)
    /// The ratio of bits at the far search to those at the fastest speed below which the far search is worth its
    /// effort.
    static let worthwhile = 0.75
    /// The number of frames in a trial.
    static let trialPictures = 3
    /// The times for which the fastest speed and the far search are used before the next trial.
    static let trialIntervals = (fastest: Duration.seconds(2), far: Duration.seconds(10))

    private struct Choice {
        let speed: Int
        /// The approximate time on a machine of 2020.
        let usualTime: Duration
        /// The measured time. All times are for a changed megapixel.
        var time: Duration
    }

    /// The recent results of one speed.
    private struct Way {
        /// The bits of a changed megapixel, at one quantizer.
        var bits: Double?
        var pictures = 0

        mutating func record(_ new: Double) {
            bits = bits.map { $0 + (new - $0) * 0.4 } ?? new
            pictures += 1
        }
    }

    /// The speeds, from the farthest search on.
    private var choices = [(-3, 32), (-4, 11)].map { speed, time in
        Choice(speed: speed, usualTime: .milliseconds(time), time: .milliseconds(time))
    }
    private var (fastest, far) = (Way(), Way())
    private var looksFar = true
    /// The start of the current phase, by the frames' timestamps.
    private var since: Duration?
    private var isTrial = true

    /// Returns the speed for a frame of which the fraction `change` differs from the previous one, with the next frame
    /// in `interval`. `fastest` is used if there is nothing to search for, no time, or no gain.
    mutating func speed(
        change: Double, of size: PixelSize, interval: Duration, fastest: Int, timestamp: Duration
    ) -> Int {
        guard change >= Self.leastChange, interval < Self.pageInterval else { return fastest }
        decide(timestamp)
        guard looksFar else { return fastest }
        let time = min(interval, Self.longestInterval) * Self.share / Self.megapixels(change, of: size)
        for index in choices.indices {
            if choices[index].time <= time { return max(choices[index].speed, fastest) }
            // The machine may have been busy with other work.
            choices[index].time += (choices[index].usualTime - choices[index].time) * 0.02
        }
        return fastest
    }

    /// Records the effort of a frame, nil if unknown, and its size at this quantizer index.
    mutating func record(
        _ effort: Duration?, speed: Int, change: Double, of size: PixelSize, byteCount: Int, quantizer: Int
    ) {
        guard change >= Self.leastChange else { return }
        // Half of the 127 quantizer indices reduce a frame to about a quarter of its size.
        let bits = Double(byteCount) * exp2(Double(quantizer) / 32) / Self.megapixels(change, of: size)
        guard let index = choices.firstIndex(where: { $0.speed == speed }) else { return fastest.record(bits) }
        far.record(bits)
        guard let effort else { return }
        choices[index].time += (effort / Self.megapixels(change, of: size) - choices[index].time) * 0.2
    }

    /// Decides whether to switch to the other speed.
    private mutating func decide(_ now: Duration) {
        let begun = since ?? now
        since = begun
        if isTrial {
            // A speed that there is no time for has completed its trial too.
            guard (looksFar ? far : fastest).pictures >= Self.trialPictures || now > begun + .seconds(2) else { return }
            if fastest.bits == nil { return go(far: false, isTrial: true, now) }
            let isWorthwhile = far.bits.map { $0 < (fastest.bits ?? 0) * Self.worthwhile } ?? false
            return go(far: isWorthwhile, isTrial: false, now)
        }
        let interval = looksFar ? Self.trialIntervals.far : Self.trialIntervals.fastest
        // A source whose timestamps jump back starts again.
        if now > begun + interval || now < begun { go(far: !looksFar, isTrial: true, now) }
    }

    private mutating func go(far looksFar: Bool, isTrial: Bool, _ now: Duration) {
        (self.looksFar, self.isTrial, since) = (looksFar, isTrial, now)
        if looksFar { far.pictures = 0 } else { fastest.pictures = 0 }
    }

    private static func megapixels(_ change: Double, of size: PixelSize) -> Double {
        max(change * Double(size.area) / 1_000_000, 0.001)
    }
}
