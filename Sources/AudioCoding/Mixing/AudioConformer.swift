package import RTCShareMedia

/// Converts audio of any sampling rate, channels and block lengths to one format, such as that of an encoder or a
/// mixer.
///
/// A frame that can't be converted (because of an unsupported rate) results in no blocks, and is counted. One thread at
/// a time can use it.
package final class AudioConformer {
    /// The sampling rate of the blocks in Hz.
    package let sampleRate: Int
    /// The number of samples per channel in each block.
    package let sampleCount: Int
    /// The number of channels of the blocks. A change restarts the conversion.
    package var channels: Int {
        didSet {
            if channels != oldValue { restart() }
        }
    }
    /// The number of frames that could not be converted.
    package private(set) var framesRefused = 0

    private var resampler: Resampler?
    private var blocker: AudioBlocker?
    /// The seconds of audio that went into the resampler, and that it returned.
    private var progress = (consumed: 0.0, produced: 0.0)
    private var end: Duration?

    /// Creates a conformer for blocks of `sampleCount` samples for each of `channels` channels.
    package init(sampleRate: Int = 48_000, channels: Int, sampleCount: Int = 960) {
        self.sampleRate = sampleRate
        self.channels = channels
        self.sampleCount = sampleCount
    }

    /// The valid timestamps, a hundred years before and after the start of the monotonic clock: beyond them, sample
    /// positions would overflow.
    package static let instants = Duration.seconds(-3_155_760_000)...Duration.seconds(3_155_760_000)

    /// Processes a frame and returns the complete blocks.
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
        // The resampler's output lags its input: the timestamp is that of the sample, not of the frame.
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
