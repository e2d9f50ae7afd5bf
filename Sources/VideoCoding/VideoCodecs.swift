package import RTCShareRTP

extension VideoCodec {
    /// All codecs, in the order of preference of descriptions.
    package static let all: [VideoCodec] = [.vp8, .av1, .h264]

    /// The codecs that can be used on this machine.
    package static var available: [VideoCodec] { all.filter { $0.unavailability() == nil } }

    /// Returns the codecs that can be used, with those of these names first, in their order.
    package static func available(preferring names: [String]) throws(VideoCodingError) -> [VideoCodec] {
        var codecs: [VideoCodec] = []
        for name in names {
            guard let codec = all.first(where: { $0.name.lowercased() == name.lowercased() }) else {
                throw .codecUnavailable(
                    reason: "\(name) is not a video codec: use \(all.map(\.name).joined(separator: ", "))")
            }
            if let reason = codec.unavailability() {
                throw .codecUnavailable(reason: "\(codec.name) can't be used: \(reason)")
            }
            codecs.append(codec)
        }
        return codecs + available.filter { !codecs.contains($0) }
    }

    /// The codec of a payload format; nil for one of another program.
    package init?(of format: any VideoPayloadFormat) {
        guard let codec = Self.all.first(where: { $0.format === format }) else { return nil }
        self = codec
    }
}
