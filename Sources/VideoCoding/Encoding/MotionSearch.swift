internal import Glibc
internal import RTCShareMedia

/// How far libvpx looks for where things moved to: its cpu-used, chosen picture by picture.
///
/// What moves as a whole, by whole pixels, is found otherwise (``ScrollSearch``). What a camera moves, libvpx
/// finds at -8 within some 16 pixels, and codes it anew beyond; at -3 it looks much farther, for several times the effort.
/// Whether that is worth it only trying tells: now and then some pictures are coded the other way, and what takes clearly
/// fewer bits is kept to.
struct MotionSearch {
    /// Of the picture, what has to have changed: a cursor, or a line that is being typed, goes nowhere.
    static let leastChange = 0.1
    /// Of the time until the next picture, what this one may take.
    static let share = 0.65
    /// However long the next picture is away, this one is waited for.
    static let longestInterval = Duration.milliseconds(100)
    /// What comes so long after another picture is a page, and nothing that moved.
    static let pageInterval = Duration.milliseconds(500)
    /// Of the bits that the fastest way takes, what the far one may take to be worth its effort.
    static let worthwhile = 0.75
    /// How many pictures tell what a way takes.
    static let trialPictures = 3
    /// How long the fastest way goes on before the other is tried again, and how long the other.
    static let trialIntervals = (fastest: Duration.seconds(2), far: Duration.seconds(10))

    private struct Choice {
        let speed: Int
        /// What it takes on a machine of 2020, about.
        let usualTime: Duration
        /// What it took here. All times are of a megapixel that changed.
        var time: Duration
    }

    /// What one way took of late.
    private struct Way {
        /// Bits of a megapixel that changed, at one quantizer.
        var bits: Double?
        var pictures = 0

        mutating func record(_ new: Double) {
            bits = bits.map { $0 + (new - $0) * 0.4 } ?? new
            pictures += 1
        }
    }

    /// From the farthest on.
    private var choices = [(-3, 32), (-4, 11)].map { speed, time in
        Choice(speed: speed, usualTime: .milliseconds(time), time: .milliseconds(time))
    }
    private var (fastest, far) = (Way(), Way())
    private var looksFar = true
    /// Since when it goes that way, by the pictures' own times.
    private var since: Duration?
    private var isTrial = true

    /// The speed for a picture of which `change` is the share that differs from the one before, with the next one
    /// `interval` away. `fastest` is what is used where nothing is to be looked for, no time is there to do so, or nothing
    /// comes of it.
    mutating func speed(
        change: Double, of size: PixelSize, interval: Duration, fastest: Int, timestamp: Duration
    ) -> Int {
        guard change >= Self.leastChange, interval < Self.pageInterval else { return fastest }
        decide(timestamp)
        guard looksFar else { return fastest }
        let time = min(interval, Self.longestInterval) * Self.share / Self.megapixels(change, of: size)
        for index in choices.indices {
            if choices[index].time <= time { return max(choices[index].speed, fastest) }
            // The machine may have been busy with something else.
            choices[index].time += (choices[index].usualTime - choices[index].time) * 0.02
        }
        return fastest
    }

    /// Such a picture took so long, nil where nobody knows, and so many bytes at this quantizer index.
    mutating func record(
        _ effort: Duration?, speed: Int, change: Double, of size: PixelSize, byteCount: Int, quantizer: Int
    ) {
        guard change >= Self.leastChange else { return }
        // Half of the quantizer index's 127 steps make a picture about a quarter of its size.
        let bits = Double(byteCount) * exp2(Double(quantizer) / 32) / Self.megapixels(change, of: size)
        guard let index = choices.firstIndex(where: { $0.speed == speed }) else { return fastest.record(bits) }
        far.record(bits)
        guard let effort else { return }
        choices[index].time += (effort / Self.megapixels(change, of: size) - choices[index].time) * 0.2
    }

    /// Goes on as before, or the other way.
    private mutating func decide(_ now: Duration) {
        let begun = since ?? now
        since = begun
        if isTrial {
            // A way that there is no time for has had its trial too.
            guard (looksFar ? far : fastest).pictures >= Self.trialPictures || now > begun + .seconds(2) else { return }
            if fastest.bits == nil { return go(far: false, isTrial: true, now) }
            let isWorthwhile = far.bits.map { $0 < (fastest.bits ?? 0) * Self.worthwhile } ?? false
            return go(far: isWorthwhile, isTrial: false, now)
        }
        let interval = looksFar ? Self.trialIntervals.far : Self.trialIntervals.fastest
        // A source whose times jump back begins anew.
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
