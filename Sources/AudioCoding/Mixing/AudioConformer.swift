package import RTCShareMedia

/// Brings sound of any rate, channels and block lengths to one format: what an encoder, or a mixer, takes.
///
/// A frame that can't be brought to it (a rate that nothing plays) gives no blocks, and is counted. Used from one thread
/// at a time.
package final class AudioConformer {
    /// Samples a second of the blocks, a channel.
    package let sampleRate: Int
    /// Samples a channel in each block.
    package let sampleCount: Int
    /// How many channels the blocks have. A change begins anew.
    package var channels: Int {
        didSet {
            if channels != oldValue { restart() }
        }
    }
    /// Frames that could not be brought to the format.
    package private(set) var framesRefused = 0

    private var resampler: Resampler?
    private var blocker: AudioBlocker?
    /// Seconds of sound that went into the resampler, and that came out of it.
    private var progress = (consumed: 0.0, produced: 0.0)
    private var end: Duration?

    /// Blocks of `sampleCount` samples for each of `channels` channels.
    package init(sampleRate: Int = 48_000, channels: Int, sampleCount: Int = 960) {
        self.sampleRate = sampleRate
        self.channels = channels
        self.sampleCount = sampleCount
    }

    /// The instants that a monotonic clock can show, a hundred years to either side of its start: beyond there is no
    /// arithmetic with samples.
    package static let instants = Duration.seconds(-3_155_760_000)...Duration.seconds(3_155_760_000)

    /// Takes a frame and gives the blocks that are full now.
    package func process(_ frame: AudioFrame) -> [AudioBlocker.Block] {
        guard Self.instants.contains(frame.timestamp) else {
            framesRefused += 1
            return []
        }
        if let end, abs(frame.timestamp - end) > AudioBlocker.largestGap { restartResampler() }
        end = frame.timestamp + frame.duration
        do throws(AudioCodingError) {
            let mixed = try resampled(frame.mixed(toChannels: channels))
            var blocker = blocker ?? AudioBlocker(sampleCount: sampleCount, channels: channels, sampleRate: sampleRate)
            defer { self.blocker = blocker }
            return try blocker.append(mixed)
        } catch {
            framesRefused += 1
            restart()
            return []
        }
    }

    private func resampled(_ frame: AudioFrame) throws(AudioCodingError) -> AudioFrame {
        guard frame.sampleRate != sampleRate else {
            resampler = nil
            return frame
        }
        if resampler?.inputRate != frame.sampleRate || resampler?.channels != channels {
            resampler = try Resampler(channels: channels, from: frame.sampleRate, to: sampleRate)
            progress = (0, 0)
        }
        guard let resampler else { return frame }
        let samples = try resampler.process(frame.samples)
        // What is still inside comes out later than it went in: the timestamp is that of the sample, not of the frame.
        let lag = progress.produced - progress.consumed
        progress.consumed += Double(frame.sampleCount) / Double(frame.sampleRate)
        progress.produced += Double(samples.count / channels) / Double(sampleRate)
        return AudioFrame(
            samples: samples, channels: channels, sampleRate: sampleRate, timestamp: frame.timestamp + .seconds(lag))
    }

    private func restart() {
        restartResampler()
        blocker = nil
    }

    private func restartResampler() {
        resampler = nil
        progress = (0, 0)
    }
}

private func abs(_ duration: Duration) -> Duration {
    duration < .zero ? .zero - duration : duration
}
