public import RTCShareMedia
public import RTCShareWireFormat

/// The parameters of a content's video, or of an attendee's own. Those that are nil are chosen by which of the two it is.
public typealias LocalVideoConfiguration = VideoEncodingParameters

extension VideoEncodingParameters {
    /// The maximum size of a content's video if ``maxSize`` is nil: 3840x2160. Many machines are too slow to encode or to
    /// show larger video, so that is sent only on request. The default of an attendee's own video is 1280x720.
    public static let usualSize = PixelSize(width: 3840, height: 2160)
}

/// How well sound is sent. What is left at nil is decided by what is sent.
public struct LocalAudioConfiguration: Sendable, Hashable {
    /// The most that the sound takes; nil for the default of what is sent.
    public var maxBitrate: DataRate?
    /// Whether it is speech: then mono, with pauses left unsent where the peer likes that. By default an attendee's own
    /// sound is, and that of what is shared is not.
    public var isVoice: Bool?

    /// By default as good as what is sent needs.
    public init(maxBitrate: DataRate? = nil, isVoice: Bool? = nil) {
        self.maxBitrate = maxBitrate
        self.isVoice = isVoice
    }

    /// What can't be sent in it; nil where everything can.
    var problem: String? {
        guard let maxBitrate, !Self.bitrates.contains(maxBitrate) else { return nil }
        return
            "the maximum audio bitrate \(maxBitrate) is out of range: use \(Self.bitrates.lowerBound) to "
            + "\(Self.bitrates.upperBound)"
    }

    /// What RFC 6716 §2.1.1 has Opus made for.
    public static let bitrates = DataRate.kilobitsPerSecond(6) ... .kilobitsPerSecond(510)
}
