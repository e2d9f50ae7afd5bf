package import RTCShareMedia

/// What an encoder thread did so far, by the names of W3C webrtc-stats (media-source and outbound-rtp) where it has one.
package struct VideoEncoderStatistics: Sendable, Hashable {
    /// media-source `frames`: what the source gave.
    package internal(set) var framesReceived = 0
    /// What the source gave and a newer frame replaced, or an error kept, before it was encoded.
    package internal(set) var framesDropped = 0
    /// What the rate control left out. The picture is encoded again, so that nothing is missing for long.
    package internal(set) var framesDroppedByRateControl = 0
    /// What the encoder gave, repetitions of the last picture included.
    package internal(set) var framesEncoded = 0
    /// Of these, the key frames.
    package internal(set) var keyFramesEncoded = 0
    /// Of `framesEncoded`, those that are not libvpx's: they say what changed little, or moved.
    package internal(set) var partialUpdatesEncoded = 0
    /// How often viewers were found to have something else than the encoder built on, which a key frame mends.
    package internal(set) var driftsDetected = 0
    /// Of `framesEncoded`, those that show the same picture as the one before.
    package internal(set) var framesRepeated = 0
    /// Of `framesEncoded`, those of 2.5 times the mean size or more (`hugeFramesSent`).
    package internal(set) var hugeFrames = 0
    /// The frames' bytes.
    package internal(set) var bytesEncoded = 0
    /// Time spent in the encoder, without conversion.
    package internal(set) var totalEncodeTime = Duration.zero
    /// Time spent on conversion and scaling.
    package internal(set) var totalConversionTime = Duration.zero
    /// The sum of the frames' quantizer indices, 0 to 127 each.
    package internal(set) var qpSum = 0
    /// `frameWidth` and `frameHeight` of the last encoded frame.
    package internal(set) var size: PixelSize?
    /// media-source `width` and `height` of the last frame from the source.
    package internal(set) var sourceSize: PixelSize?
    /// outbound-rtp `framesPerSecond`: encoded in the last second.
    package internal(set) var framesPerSecond = 0
    /// media-source `framesPerSecond`: given by the source in the last second.
    package internal(set) var sourceFramesPerSecond = 0
    /// Why pictures are smaller or fewer than they could be, now.
    package internal(set) var qualityLimitationReason = QualityLimitationReason.none
    /// How long each reason has held; those that never did are left out.
    package internal(set) var qualityLimitationDurations: [QualityLimitationReason: Duration] = [:]
    /// How often the pictures' size changed because of a reason.
    package internal(set) var qualityLimitationResolutionChanges = 0
}

/// Counts what happened in the last second, in memory that does not grow.
struct RateCounter {
    private static let capacity = 256
    private var times = [Duration](repeating: .seconds(-10), count: Self.capacity)
    private var position = 0

    mutating func count(now: Duration) {
        times[position] = now
        position = (position + 1) % Self.capacity
    }

    func rate(now: Duration) -> Int {
        times.reduce(0) { $0 + ($1 > now - .seconds(1) ? 1 : 0) }
    }
}
