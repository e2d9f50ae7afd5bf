/// A block of audio, with its time.
public struct AudioFrame: Sendable, Hashable {
    /// The samples, interleaved (left, right, left, …), full scale from -1 to 1. Samples beyond are clipped softly by
    /// encoders, and hard by files.
    public let samples: [Float]
    /// The number of channels: 1 for mono, 2 for stereo. Files can have more, which are mixed down.
    public let channels: Int
    /// The number of samples per second of each channel.
    public let sampleRate: Int
    /// The time at which the first sample was captured, since the start of the monotonic clock (`CLOCK_MONOTONIC`).
    public let timestamp: Duration
    /// Of received audio, the time at which its sender captured the first sample, since 1 January 1970 on the sender's
    /// clock. Nil if that is not known yet, and for all other audio. Frames use the same clock: see
    /// ``VideoFrame/captureTime``.
    public let captureTime: Duration?

    /// Creates a block. Samples of an incomplete last set of channels are dropped. Invalid numbers of channels and
    /// rates become 1.
    public init(
        samples: [Float], channels: Int, sampleRate: Int, timestamp: Duration, captureTime: Duration? = nil
    ) {
        self.channels = max(1, channels)
        self.sampleRate = max(1, sampleRate)
        self.samples =
            samples.count % self.channels == 0 ? samples : Array(samples.dropLast(samples.count % self.channels))
        self.timestamp = timestamp
        self.captureTime = captureTime
    }

    /// The number of samples of each channel.
    public var sampleCount: Int { samples.count / channels }

    /// The duration of the block.
    public var duration: Duration {
        .nanoseconds(Int64(sampleCount) * 1_000_000_000 / Int64(sampleRate))
    }

    /// Returns the block with another timestamp.
    package func stamped(_ timestamp: Duration) -> AudioFrame {
        AudioFrame(
            samples: samples, channels: channels, sampleRate: sampleRate, timestamp: timestamp, captureTime: captureTime
        )
    }

    /// Returns the block with other samples, and with `count` channels if that is not nil.
    package func replacing(samples: [Float], channels count: Int? = nil) -> AudioFrame {
        AudioFrame(
            samples: samples, channels: count ?? channels, sampleRate: sampleRate, timestamp: timestamp,
            captureTime: captureTime)
    }

    /// Returns the block with every sample multiplied by `gain`. With 0 the result is silence, even if a sample is not
    /// finite.
    public func scaled(by gain: Float) -> AudioFrame {
        guard gain != 1 else { return self }
        return replacing(samples: gain == 0 ? Array(repeating: 0, count: samples.count) : samples.map { $0 * gain })
    }
}
