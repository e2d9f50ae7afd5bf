/// Computes the time at which each frame is shown together with its audio, without a clock of its own.
///
/// Sender and receiver have different clocks, which audio connects. Each block has its capture time on the sender's
/// clock and, from the output, the time at which it is heard on the local clock. A frame waits for that difference,
/// too. If video takes longer than audio, audio has to wait; see ``jitterBufferTarget``.
struct LipSync: Sendable {
    /// The difference from a time on the sender's clock to the local time at which audio of that time is heard.
    private var offset: Duration?
    private var offsetTime = Duration.zero
    /// The end of the last audible block, silence excluded.
    private var audibleTime: Duration?
    /// The total lateness of the frames in this second, and their number.
    private var lateness = Duration.zero
    private var count = 0
    private var second: Duration?
    /// The minimum delay of audio in its jitter buffer that keeps video from being late.
    private(set) var jitterBufferTarget = Duration.zero

    /// The longest plausible delay. A longer difference means that a clock was set.
    static let longestHold = Duration.seconds(1)
    /// The age at which a measurement of audio is no longer valid.
    static let staleness = Duration.milliseconds(500)
    /// The duration of silence after which frames are shown on arrival: nobody can notice a difference.
    static let silence = Duration.seconds(2)
    /// The difference above which a measurement replaces the average; below it, measurements are smoothed.
    private static let jump = Duration.milliseconds(40)
    private static let smoothing = 16

    /// The minimum frame rate of motion. Below it, nobody notices a difference.
    private static let motion = 10
    /// The lead of audio that nobody notices, half of the one that ITU-R BT.1359 allows, and the lead of video above
    /// which the delay of audio is reduced.
    private static let tolerance = Duration.milliseconds(20)
    private static let spare = Duration.milliseconds(60)
    /// The maximum change of the delay in a second: a tenth of the jitter buffer's, so that it has followed by then.
    private static let step = Duration.milliseconds(40)
    /// The maximum delay that is requested.
    static let longestTarget = Duration.milliseconds(500)

    /// Records that a block, captured at `captureTime` on the sender's clock, is heard at `heard` on the local clock.
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

    /// Returns the time to show a frame that has arrived now and was captured at `captureTime` on the sender's clock.
    mutating func due(captureTime: Duration, now: Duration) -> Duration {
        guard let heard = heardTime(of: captureTime, now: now) else { return now }
        note(lateness: now - heard, now: now)
        return min(max(heard, now), now + Self.longestHold)
    }

    /// Returns the time at which audio of a time on the sender's clock is heard; nil if there is no audible or recent
    /// audio.
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
        // After a pause the count covers more than one second.
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
