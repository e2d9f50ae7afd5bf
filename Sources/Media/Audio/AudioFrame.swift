/// A block of sound at an instant.
public struct AudioFrame: Sendable, Hashable {
    /// The samples, interleaved (left, right, left, …), full scale from -1 to 1. What is beyond is clipped softly where
    /// it is encoded, and hard where it is written to a file.
    public let samples: [Float]
    /// 1 for mono, 2 for stereo; more come from files, and are mixed down.
    public let channels: Int
    /// Samples a second of each channel.
    public let sampleRate: Int
    /// When the first sample was taken, since the start of the monotonic clock (`CLOCK_MONOTONIC`).
    public let timestamp: Duration
    /// Of received sound: when its sender took the first sample, since 1 January 1970 on the sender's clock. Nil where that
    /// is not known yet, and for all other sound. What pictures say is by the same clock: see ``VideoFrame/captureTime``.
    public let captureTime: Duration?

    /// A block; samples that are no whole set of channels are left out. Nonsense for channels or rate is taken as 1.
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

    /// Samples of each channel.
    public var sampleCount: Int { samples.count / channels }

    /// How long the block sounds.
    public var duration: Duration {
        .nanoseconds(Int64(sampleCount) * 1_000_000_000 / Int64(sampleRate))
    }

    /// The same block as if its first sample had been taken at another time.
    package func stamped(_ timestamp: Duration) -> AudioFrame {
        AudioFrame(
            samples: samples, channels: channels, sampleRate: sampleRate, timestamp: timestamp, captureTime: captureTime
        )
    }

    /// The same block with other samples, of `count` channels where it is told.
    package func replacing(samples: [Float], channels count: Int? = nil) -> AudioFrame {
        AudioFrame(
            samples: samples, channels: count ?? channels, sampleRate: sampleRate, timestamp: timestamp,
            captureTime: captureTime)
    }

    /// The same block with every sample multiplied; by 0 it is silence, whatever it was.
    public func scaled(by gain: Float) -> AudioFrame {
        guard gain != 1 else { return self }
        return replacing(samples: gain == 0 ? Array(repeating: 0, count: samples.count) : samples.map { $0 * gain })
    }
}
