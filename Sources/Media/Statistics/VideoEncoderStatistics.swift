/// The counts of a video encoder. It encodes the members that the encoder has of W3C `RTCOutboundRtpStreamStats`.
package struct VideoEncoderStatistics: Encodable, Sendable, Hashable {
    /// media-source `frames`: the number of frames from the source.
    package var framesReceived = 0
    /// The number of frames that a newer frame replaced, that an error prevented, or that rate control skipped. W3C
    /// does not define it.
    package var framesDropped = 0
    /// The number of encoded frames, repetitions of the last frame included.
    package var framesEncoded = 0
    /// The part of `framesEncoded` that is key frames.
    package var keyFramesEncoded = 0
    /// The part of `framesEncoded` that was encoded without the codec's library: small changes and motion. W3C does not
    /// define it.
    package var partialUpdatesEncoded = 0
    /// The number of times that the decoded video of viewers differed from the expected one, until a key frame. W3C
    /// does not define it.
    package var driftsDetected = 0
    /// The part of `framesEncoded` that repeats the frame before.
    package var framesRepeated = 0
    /// The part of `framesEncoded` that has 2.5 times the mean size or more.
    package var hugeFramesSent = 0
    /// The total size of the frames in bytes.
    package var bytesEncoded = 0
    /// The total time in the encoder, without conversion.
    package var totalEncodeTime = Duration.zero
    /// The sum of the frames' quantizer indices, on the codec's scale.
    package var qpSum = 0
    /// `frameWidth` and `frameHeight` of the last encoded frame.
    package var size: PixelSize?
    /// That size without a limited quality, which can reduce it. W3C does not define it.
    package var fullSize: PixelSize?
    /// media-source `width` and `height` of the last frame from the source.
    package var sourceSize: PixelSize?
    /// The number of frames that were encoded in the last second.
    package var framesPerSecond = 0
    /// media-source `framesPerSecond`: the number of frames from the source in the last second.
    package var sourceFramesPerSecond = 0
    /// The current reason why frames are smaller or fewer than they could be.
    package var qualityLimitationReason = QualityLimitationReason.none
    /// The total time of each reason.
    package var qualityLimitationDurations = Dictionary(
        uniqueKeysWithValues: QualityLimitationReason.allCases.map { ($0, Duration.zero) })
    /// The number of changes of the frames' size because of a reason.
    package var qualityLimitationResolutionChanges = 0
    /// The name of the encoder's library.
    package var encoderImplementation: String?

    private enum CodingKeys: CodingKey {
        case framesDropped, framesEncoded, keyFramesEncoded, partialUpdatesEncoded, driftsDetected, hugeFramesSent
        case totalEncodeTime, qpSum, framesPerSecond, encoderImplementation
        case qualityLimitationReason, qualityLimitationDurations, qualityLimitationResolutionChanges
    }

    /// Creates counts of zero.
    package init() {}
}

/// The reason why frames are smaller or fewer than they could be (W3C webrtc-stats `RTCQualityLimitationReason`).
public enum QualityLimitationReason: String, Codable, Sendable, Hashable, CaseIterable {
    /// Quality is not limited.
    case none
    /// The machine is too slow.
    case cpu
    /// The bitrate is too low.
    case bandwidth
    /// Nothing is encoded: the bitrate is 0, or the source is muted.
    case other
}
