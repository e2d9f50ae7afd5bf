/// Paces audio that is generated or read, not recorded: a block is sent when its last sample is due, as a microphone
/// does. Blocks follow each other without a gap, up to a lateness of the thread of a second; beyond that they restart
/// at the current time.
struct SoundClock {
    /// The maximum lateness before a restart.
    static let patience = Duration.seconds(1)

    /// The due times of the samples, counted from 0.
    private(set) var schedule: TickSchedule
    /// The number of the next sample.
    private(set) var position: Int

    init(start: Duration, sampleRate: Int) {
        schedule = TickSchedule(start: start, framesPerSecond: Double(sampleRate))
        position = 0
    }

    /// The due time of the next sample.
    var timestamp: Duration { schedule.deadline(position) }

    /// Returns the time at which the last of the next `count` samples is complete.
    func deadline(of count: Int) -> Duration { schedule.deadline(position + count) }

    /// Advances by `count` samples.
    mutating func advance(_ count: Int) { position += count }

    /// Returns whether the next sample is so late at `now` that audio must restart.
    func isLost(at now: Duration) -> Bool { now - timestamp > Self.patience }

    /// Skips whole blocks of `count` samples until the next is due after `now`.
    mutating func skip(blocksOf count: Int, until now: Duration) {
        let due = schedule.tick(after: position - 1, now: now)
        position += (due - position + count - 1) / count * count
    }

    /// Restarts the count with the next sample due at `now`: audio from a file is not skipped.
    mutating func restart(at now: Duration) {
        schedule = TickSchedule(start: now, framesPerSecond: schedule.framesPerSecond)
        position = 0
    }
}
