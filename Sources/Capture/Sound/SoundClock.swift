import RTCShareMedia

/// Paces sound that is made or read, not recorded: a block is given when its last sample is due, as a microphone gives
/// it. Blocks follow each other without a gap, however late the thread runs, up to a second; beyond that they begin
/// anew where the clock is.
struct SoundClock {
    /// How late sound is given at most before it begins anew.
    static let patience = Duration.seconds(1)

    /// When the sample is due that is numbered 0.
    private(set) var schedule: TickSchedule
    /// The number of the next sample.
    private(set) var position: Int

    init(start: Duration, sampleRate: Int) {
        schedule = TickSchedule(start: start, framesPerSecond: Double(sampleRate))
        position = 0
    }

    /// When the next sample is due.
    var timestamp: Duration { schedule.deadline(position) }

    /// When the last of `count` samples that come next is due to have sounded.
    func deadline(of count: Int) -> Duration { schedule.deadline(position + count) }

    /// Goes on behind `count` samples.
    mutating func advance(_ count: Int) { position += count }

    /// Whether the next sample is so late at `now` that sound has to begin anew.
    func isLost(at now: Duration) -> Bool { now - timestamp > Self.patience }

    /// Leaves out whole blocks of `count` samples until one is next that is due after `now`.
    mutating func skip(blocksOf count: Int, until now: Duration) {
        let due = schedule.tick(after: position - 1, now: now)
        position += (due - position + count - 1) / count * count
    }

    /// Counts from the next sample on as if it were due at `now`: what comes from a file is not left out.
    mutating func restart(at now: Duration) {
        schedule = TickSchedule(start: now, framesPerSecond: schedule.framesPerSecond)
        position = 0
    }
}

/// Sound that is computed: each sample is a function of its number.
enum SoundGenerator {
    static let sampleRate = 48000
    /// 20 ms, of which a second has a whole number.
    static let blockSize = 960
    static let channels = 2

    /// Gives blocks until the signal is raised: `sample` says what sample N is, on both channels.
    static func run(
        from start: Duration, signal: StopSignal, to broadcaster: AudioBroadcaster, sample: (Int) -> Float
    ) {
        broadcaster.start()
        broadcaster.whenWanted { [weak signal] in signal?.wake() }
        var clock = SoundClock(start: start, sampleRate: sampleRate)
        while signal.wait(until: clock.deadline(of: blockSize)) {
            let rests = !broadcaster.hasSinks
            if rests { signal.rest { !broadcaster.hasSinks } }
            if !rests { broadcaster.send(block(at: clock, sample: sample)) }
            clock.advance(blockSize)
            let now = monotonicNow()
            if rests || clock.isLost(at: now) { clock.skip(blocksOf: blockSize, until: now) }
        }
        signal.finish()
        broadcaster.end(error: nil)
    }

    /// The block that `clock` says is next.
    static func block(at clock: SoundClock, sample: (Int) -> Float) -> AudioFrame {
        var samples: [Float] = []
        samples.reserveCapacity(blockSize * channels)
        for number in clock.position..<clock.position + blockSize {
            let value = sample(number)
            for _ in 0..<channels { samples.append(value) }
        }
        return AudioFrame(
            samples: samples, channels: channels, sampleRate: sampleRate, timestamp: clock.timestamp)
    }
}
