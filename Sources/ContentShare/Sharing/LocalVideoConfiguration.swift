public import RTCShareMedia
public import RTCShareWireFormat

/// How well something is sent. What is left at nil is decided by what is sent.
public struct LocalVideoConfiguration: Sendable, Hashable {
    /// The most that the pictures take; nil for the default of what is sent.
    public var maxBitrate: DataRate?
    /// The most frames a second.
    public var maxFramerate: Double?
    /// The largest picture; a larger one is made smaller, whole. Nil is ``usualSize`` for content, and 1280x720 for a camera.
    public var maxSize: PixelSize?
    /// What the pictures are; nil follows the source's hint.
    public var contentHint: ContentHint?
    /// Whether what changed little, or moved as a whole, is coded by frames of the library's own, which any VP8 decoder takes
    /// as libvpx's. Otherwise libvpx codes everything, at several times the effort for typing and scrolling.
    public var usesPartialUpdates = true

    /// By default as good as what is sent needs.
    public init(
        maxBitrate: DataRate? = nil, maxFramerate: Double? = nil, maxSize: PixelSize? = nil,
        contentHint: ContentHint? = nil
    ) {
        self.maxBitrate = maxBitrate
        self.maxFramerate = maxFramerate
        self.maxSize = maxSize
        self.contentHint = contentHint
    }

    /// What can't be sent in it; nil where everything can.
    var problem: String? {
        if let maxBitrate, !Self.bitrates.contains(maxBitrate) {
            return "the maximum bitrate \(maxBitrate) is out of range: use \(Self.bitrates.lowerBound) to "
                + "\(Self.bitrates.upperBound)"
        }
        if let maxFramerate, !Self.frameRates.contains(maxFramerate) {
            return "the maximum frame rate \(maxFramerate) is out of range: use \(Self.frameRates.lowerBound) to "
                + "\(Self.frameRates.upperBound)"
        }
        if let maxSize, maxSize.width < 16 || maxSize.height < 16 || max(maxSize.width, maxSize.height) > 16_383 {
            return "the maximum size \(maxSize) is out of range: use sides of 16 to 16383"
        }
        return nil
    }

    /// How large the content's pictures are at most where ``maxSize`` is nil: 3840x2160. What is larger takes more time to
    /// encode and to view than many machines have, so that it is asked for.
    public static let usualSize = PixelSize(width: 3840, height: 2160)
    /// The bitrates that can be asked for.
    public static let bitrates = DataRate.kilobitsPerSecond(30) ... .kilobitsPerSecond(100_000)
    /// The frame rates that can be asked for, a second.
    public static let frameRates = 0.1...240.0
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
