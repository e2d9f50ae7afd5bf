public import RTCShareMedia
internal import RTCShareStreams
public import RTCShareWireFormat

extension VideoEncodingParameters {
    /// The maximum size of a content's video if ``maxSize`` is nil: 3840x2160. Many machines are too slow to encode or
    /// to play larger video, so that is sent only on request. The default of a camera's video is 1280x720.
    public static let usualSize = PixelSize(width: 3840, height: 2160)

    /// Returns the maximum bitrate that suits a screen or window of this size: a new page of text is sharp within a
    /// second if the route carries that. It depends on ``maxSize`` and ``codecs``, and is 2500 kbit/s to 100 Mbit/s.
    /// Recorded content has another codec, and needs more.
    public func usualBitrate(of size: PixelSize, isRecorded: Bool = false) -> DataRate {
        usualBitrate(of: size, isRecorded: isRecorded, isResting: false)
    }

    /// Returns the maximum bitrate, while all codecs but the quickest one rest if `isResting` is true.
    package func usualBitrate(of size: PixelSize, isRecorded: Bool, isResting: Bool) -> DataRate {
        VideoSendStream.usualBitrate(
            of: size.fitted(within: maxSize ?? Self.usualSize), codecs: (try? VideoSendStream.codecs(self)) ?? nil,
            isRecorded: isRecorded, isResting: isResting)
    }
}

/// The parameters of sent audio. The default of each depends on the medium.
public struct AudioEncodingParameters: Sendable, Hashable {
    /// The maximum bitrate of the audio. Nil is the default of the medium.
    public var maxBitrate: DataRate?
    /// Whether the audio is speech. Speech is mono, and its silence is not sent if the peer supports that. By default a
    /// microphone is speech, and the audio of content is not.
    public var isVoice: Bool?

    /// Creates parameters, by default those of the medium.
    public init(maxBitrate: DataRate? = nil, isVoice: Bool? = nil) {
        self.maxBitrate = maxBitrate
        self.isVoice = isVoice
    }

    /// The reason why audio can't be sent with these parameters. Nil if it can.
    var problem: String? {
        guard let maxBitrate, !Self.bitrates.contains(maxBitrate) else { return nil }
        return
            "the maximum audio bitrate \(maxBitrate) is out of range: use \(Self.bitrates.lowerBound) to "
            + "\(Self.bitrates.upperBound)"
    }

    /// The bitrates for which Opus is designed (RFC 6716 §2.1.1).
    public static let bitrates = DataRate.kilobitsPerSecond(6) ... .kilobitsPerSecond(510)
}
