/// When pictures are to be shown so that they are seen when their sound is heard: a rule book without a clock.
///
/// Sender and receiver have clocks of their own; sound leads from one to the other. A block says when it was taken on the
/// sender's, and what plays it when it is heard on ours: what lies between is what a picture waits for, too. Where pictures
/// take longer than sound, it is sound that has to wait; see ``jitterBufferTarget``.
struct LipSync: Sendable {
    /// From a time on the sender's clock to the time on ours when sound of then is heard.
    private var offset: Duration?
    private var offsetTime = Duration.zero
    /// Until when something is to be heard, silence aside.
    private var audibleTime: Duration?
    /// How late pictures were in this second, and how many.
    private var lateness = Duration.zero
    private var count = 0
    private var second: Duration?
    /// How long sound is to wait in its jitter buffer at least, so that pictures are not behind it.
    private(set) var jitterBufferTarget = Duration.zero

    /// A longer difference is no way that something takes, but clocks that are set.
    static let longestHold = Duration.seconds(1)
    /// Sound that has not come for so long says nothing of now.
    static let staleness = Duration.milliseconds(500)
    /// Where nothing was to be heard for so long, nobody can tell: pictures are shown when they come.
    static let silence = Duration.seconds(2)
    /// What the device's answers vary by is evened out; what is beyond this is new.
    private static let jump = Duration.milliseconds(40)
    private static let smoothing = 16

    /// Fewer pictures a second are no motion whose sound could be off.
    private static let motion = 10
    /// By how much sound may be ahead without anybody's noticing, half of what ITU-R BT.1359 allows; and how long pictures
    /// may have to spare before its wait is made shorter again.
    private static let tolerance = Duration.milliseconds(20)
    private static let spare = Duration.milliseconds(60)
    /// The wait changes by no more in a second: a tenth of what the jitter buffer can do, so that it has followed by then.
    private static let step = Duration.milliseconds(40)
    /// The longest wait that is asked for.
    static let longestTarget = Duration.milliseconds(500)

    /// A block that the sender took at `captureTime` on its clock is heard at `heard` on ours.
    mutating func soundPlays(captureTime: Duration, heard: Duration, isAudible: Bool, now: Duration) {
        let measured = heard - captureTime
        if let offset, now - offsetTime < Self.staleness, abs(measured - offset) <= Self.jump {
            self.offset = offset + (measured - offset) / Self.smoothing
        } else {
            offset = measured
        }
        offsetTime = now
        if isAudible { audibleTime = heard }
    }

    /// When a picture that has come now, and was taken at `captureTime` on the sender's clock, is to be shown.
    mutating func due(captureTime: Duration, now: Duration) -> Duration {
        guard let heard = heardTime(of: captureTime, now: now) else { return now }
        note(lateness: now - heard, now: now)
        return min(max(heard, now), now + Self.longestHold)
    }

    /// When sound of a time on the sender's clock is heard; nil where nobody hears any, or could tell.
    private func heardTime(of captureTime: Duration, now: Duration) -> Duration? {
        guard let offset, now - offsetTime < Self.staleness, let audibleTime, now - audibleTime < Self.silence else {
            return nil
        }
        let heard = captureTime + offset
        return abs(heard - now) <= Self.longestHold * 2 ? heard : nil
    }

    private mutating func note(lateness: Duration, now: Duration) {
        let start = second ?? now
        second = start
        self.lateness += lateness
        count += 1
        guard now - start >= .seconds(1) else { return }
        // After a pause the count is of no one second.
        if count >= Self.motion, now - start < .seconds(2) { adjust(self.lateness / count) }
        (self.lateness, count, second) = (.zero, 0, now)
    }

    private mutating func adjust(_ mean: Duration) {
        if mean > Self.tolerance {
            jitterBufferTarget = min(jitterBufferTarget + min(mean, Self.step), Self.longestTarget)
        } else if mean < .zero - Self.spare {
            jitterBufferTarget = max(jitterBufferTarget - min(.zero - mean - Self.spare, Self.step), .zero)
        }
    }

    private func abs(_ duration: Duration) -> Duration { max(duration, .zero - duration) }
}
