/// Keeps what waits to be played between too little and too much: the clock of a sound card is no other's, and runs by some
/// hundredths of a percent faster or slower than sound comes.
struct PlayoutQueue {
    /// The least that lay in the server's queue at one of the last answers; nil before there were enough.
    private var least: Duration?
    private var answers = 0
    /// Samples of each channel to be left out (above zero) or played twice.
    private var due = 0

    /// Less is about to break off, more is a wait for nothing; both beyond what blocks of 20 ms have it vary by.
    static let bounds = Duration.milliseconds(8)...Duration.milliseconds(45)
    /// As many answers are looked at together: two seconds.
    static let patience = 8
    /// So much is no drift of clocks: the device began late, or stood still. It is dropped at once.
    static let surplus = Duration.milliseconds(150)
    /// What one look has changed at most: 10 ms, which nobody hears in two seconds.
    static let step = 480

    /// Takes note of how much waits in the server. True where that is to be dropped.
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

    /// Sound broke off: what was seen before says nothing of what comes.
    mutating func brokeOff() {
        due = 0
        reset()
    }

    private mutating func reset() {
        least = nil
        answers = 0
    }

    /// By how many samples of each channel the next block should be shorter (above zero) or longer.
    var correction: Int { due }

    /// A block was made shorter, or longer, by as many samples.
    mutating func corrected(by count: Int) { due = due > 0 ? max(due - count, 0) : min(due - count, 0) }
}
