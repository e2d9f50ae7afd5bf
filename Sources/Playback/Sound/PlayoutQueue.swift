/// Keeps the queue of the sound server within limits: the clock of a sound card deviates from the sender's by some
/// hundredths of a percent.
struct PlayoutQueue {
    /// The shortest queue among the last reports; nil before the first.
    private var least: Duration?
    private var answers = 0
    /// The number of samples of each channel that are still to be left out (positive) or repeated (negative).
    private var due = 0

    /// The limits of the shortest queue, above the variation that blocks of 20 ms cause: a shorter one risks a break, a
    /// longer one adds delay.
    static let bounds = Duration.milliseconds(8)...Duration.milliseconds(45)
    /// The number of reports that are evaluated together: those of two seconds.
    static let patience = 8
    /// The length that no drift of clocks explains: the device started late, or paused. The queue is dropped at once.
    static let surplus = Duration.milliseconds(150)
    /// The maximum change of one evaluation: 10 ms, which is inaudible in two seconds.
    static let step = 480

    /// Records the length of the server's queue. Returns true if the queue must be dropped.
    mutating func measured(_ queued: Duration) -> Bool {
        guard queued < Self.surplus else {
            brokeOff()
            return true
        }
        least = min(least ?? queued, queued)
        answers += 1
        guard answers >= Self.patience, let least else { return false }
        if least > Self.bounds.upperBound {
            due = Self.step
        } else if least < Self.bounds.lowerBound {
            due = -Self.step
        }
        reset()
        return false
    }

    /// Discards the measurements after an interruption.
    mutating func brokeOff() {
        due = 0
        reset()
    }

    private mutating func reset() {
        least = nil
        answers = 0
    }

    /// The number of samples of each channel by which the next block should be shorter (positive) or longer (negative).
    var correction: Int { due }

    /// Records that a block was made shorter or longer by this many samples.
    mutating func corrected(by count: Int) { due = due > 0 ? max(due - count, 0) : min(due - count, 0) }
}
