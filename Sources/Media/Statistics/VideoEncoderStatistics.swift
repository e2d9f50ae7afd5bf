/// The counts of a video encoder. It encodes the members that the encoder has of W3C `RTCOutboundRtpStreamStats`.
package struct VideoEncoderStatistics: Encodable, Sendable, Hashable {
    /// media-source `frames`: what the source gave.
    package var framesReceived = 0
    /// Frames that a newer frame replaced, that an error prevented, or that rate control left out. W3C does not define it.
    package var framesDropped = 0
    /// What the encoder gave, repetitions of the last picture included.
    package var framesEncoded = 0
    /// Of these, the key frames.
    package var keyFramesEncoded = 0
    /// Of `framesEncoded`, those that are not libvpx's: they say what changed little, or moved. W3C does not define it.
    package var partialUpdatesEncoded = 0
    /// How often the decoded video of viewers differed from the expected one, until a key frame. W3C does not define it.
    package var driftsDetected = 0
    /// Of `framesEncoded`, those that show the same picture as the one before.
    package var framesRepeated = 0
    /// Of `framesEncoded`, those of 2.5 times the mean size or more.
    package var hugeFramesSent = 0
    /// The frames' bytes.
    package var bytesEncoded = 0
    /// Time spent in the encoder, without conversion.
    package var totalEncodeTime = Duration.zero
    /// The sum of the frames' quantizer indices, 0 to 127 each.
    package var qpSum = 0
    /// `frameWidth` and `frameHeight` of the last encoded frame.
    package var size: PixelSize?
    /// media-source `width` and `height` of the last frame from the source.
    package var sourceSize: PixelSize?
    /// Frames encoded in the last second.
    package var framesPerSecond = 0
    /// media-source `framesPerSecond`: given by the source in the last second.
    package var sourceFramesPerSecond = 0
    /// Why pictures are smaller or fewer than they could be, now.
    package var qualityLimitationReason = QualityLimitationReason.none
    /// How long each reason has held.
    package var qualityLimitationDurations = Dictionary(
        uniqueKeysWithValues: QualityLimitationReason.allCases.map { ($0, Duration.zero) })
    /// How often the pictures' size changed because of a reason.
    package var qualityLimitationResolutionChanges = 0
    private let encoderImplementation = "libvpx"

    private enum CodingKeys: CodingKey {
        case framesDropped, framesEncoded, keyFramesEncoded, partialUpdatesEncoded, driftsDetected, hugeFramesSent
        case totalEncodeTime, qpSum, framesPerSecond, encoderImplementation
        case qualityLimitationReason, qualityLimitationDurations, qualityLimitationResolutionChanges
    }

    /// All zero.
    package init() {}
}

/// Why pictures are smaller or fewer than they could be (W3C webrtc-stats `RTCQualityLimitationReason`).
public enum QualityLimitationReason: String, Encodable, Sendable, Hashable, CaseIterable {
    /// They are as they should be.
    case none
    /// The machine is too slow for them.
    case cpu
    /// The bitrate is too low for them.
    case bandwidth
    /// Nothing is encoded: the bitrate is 0, or the source is muted.
    case other
}
