import RTCShareMedia

/// Generates audio: each sample is a function of its number.
enum SoundGenerator {
    static let sampleRate = 48000
    /// The samples of 20 ms. A second has a whole number of blocks.
    static let blockSize = 960
    static let channels = 2

    /// Sends blocks until the signal is raised: `sample` returns sample N of both channels.
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

    /// Returns the next block of `clock`.
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
