public import RTCShareWireFormat

/// The limits and the content hint of a video's encoding (W3C webrtc `RTCRtpEncodingParameters`, mst-content-hint). For
/// a member that is nil, the kind of the video determines the value.
public struct VideoEncodingParameters: Sendable, Hashable {
    /// The maximum bitrate.
    public var maxBitrate: DataRate?
    /// The maximum frame rate, in frames per second.
    public var maxFramerate: Double?
    /// The maximum size. Larger video is scaled down and keeps its shape, as with W3C's `scaleResolutionDownTo`.
    public var maxSize: PixelSize?
    /// The kind of the video; nil follows the hint of the source.
    public var contentHint: ContentHint?
    /// Whether small changes and scrolling are encoded by this library's own frames, which any VP8 decoder reads. If it
    /// is false, libvpx encodes every frame, which takes several times the CPU for typing and scrolling. Nil is true.
    public var usesPartialUpdates: Bool?
    /// The names of the codecs in the order of preference (W3C `RTCRtpEncodingParameters.codec`), such as `AV1`. A viewer
    /// gets the first one that it accepts, or another one if it accepts none of them. With nil the choice depends on
    /// the route and the machine.
    public var codecs: [String]?
    /// The layers of a simulcast, the best first (W3C `sendEncodings`). `Connection.Configuration.contentLayers` determines
    /// their number: parameters of further layers, and of a video without layers, have no effect. The best layer has the
    /// bitrate, the frame rate and the size of the video. Nil gives the others the usual values.
    public var layers: [VideoLayerParameters]?
    /// The heuristics of the encoder that are used.
    package var heuristics = EncoderHeuristics.all

    /// Creates parameters. For those that are nil, the kind of the video determines the value.
    public init(
        maxBitrate: DataRate? = nil, maxFramerate: Double? = nil, maxSize: PixelSize? = nil,
        contentHint: ContentHint? = nil, usesPartialUpdates: Bool? = nil, codecs: [String]? = nil,
        layers: [VideoLayerParameters]? = nil
    ) {
        self.maxBitrate = maxBitrate
        self.maxFramerate = maxFramerate
        self.maxSize = maxSize
        self.contentHint = contentHint
        self.usesPartialUpdates = usesPartialUpdates
        self.codecs = codecs
        self.layers = layers
    }

    /// The bitrates that ``maxBitrate`` can have.
    public static let bitrates = DataRate.kilobitsPerSecond(30) ... .kilobitsPerSecond(100_000)
    /// The frame rates that ``maxFramerate`` can have.
    public static let frameRates = 0.1...240.0

    /// Returns these parameters, with those of `defaults` where these are nil.
    package func overriding(_ defaults: Self) -> Self {
        var result = Self(
            maxBitrate: maxBitrate ?? defaults.maxBitrate, maxFramerate: maxFramerate ?? defaults.maxFramerate,
            maxSize: maxSize ?? defaults.maxSize, contentHint: contentHint ?? defaults.contentHint,
            usesPartialUpdates: usesPartialUpdates ?? defaults.usesPartialUpdates, codecs: codecs ?? defaults.codecs,
            layers: layers ?? defaults.layers)
        result.heuristics = heuristics.intersection(defaults.heuristics)
        return result
    }

    /// The first value that is out of range, in words; nil if there is none.
    package var problem: String? {
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
        return layers?.lazy.compactMap(\.problem).first
    }
}
