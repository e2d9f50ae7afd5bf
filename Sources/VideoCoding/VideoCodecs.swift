package import RTCShareRTP

extension VideoCodec {
    /// All codecs, in the order of preference of descriptions.
    package static let all: [VideoCodec] = [.vp8]

    /// The codec of a payload format; nil for one of another program.
    package init?(of format: any VideoPayloadFormat) {
        guard let codec = Self.all.first(where: { $0.format === format }) else { return nil }
        self = codec
    }
}
