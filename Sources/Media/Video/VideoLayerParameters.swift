public import RTCShareWireFormat

/// The parameters of one layer of a simulcast (W3C webrtc `RTCRtpEncodingParameters`). For a member that is nil, the place
/// of the layer and the kind of the video determine the value. For the best layer, only ``active`` has an effect.
public struct VideoLayerParameters: Sendable, Hashable {
    /// Whether the layer is sent. A layer that is not sent costs nothing, and begins with a key frame.
    public var active: Bool
    /// The maximum bitrate, at most that of the video.
    public var maxBitrate: DataRate?
    /// The maximum frame rate, in frames per second, at most that of the video.
    public var maxFramerate: Double?
    /// The number by which the sides of a frame are divided, 1 or more.
    public var scaleResolutionDownBy: Double?

    /// Creates parameters of a layer. For those that are nil, its place and the kind of the video determine the value.
    public init(
        active: Bool = true, maxBitrate: DataRate? = nil, maxFramerate: Double? = nil,
        scaleResolutionDownBy: Double? = nil
    ) {
        self.active = active
        self.maxBitrate = maxBitrate
        self.maxFramerate = maxFramerate
        self.scaleResolutionDownBy = scaleResolutionDownBy
    }

    /// The divisors that ``scaleResolutionDownBy`` can have.
    public static let scales = 1.0...64.0

    /// The first value that is out of range, in words; nil if there is none.
    var problem: String? {
        if let scaleResolutionDownBy, !Self.scales.contains(scaleResolutionDownBy) {
            return "the divisor \(scaleResolutionDownBy) of a layer's size is out of range: use "
                + "\(Self.scales.lowerBound) to \(Self.scales.upperBound)"
        }
        return VideoEncodingParameters(maxBitrate: maxBitrate, maxFramerate: maxFramerate).problem
    }
}
