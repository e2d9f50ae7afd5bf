internal import RTCShareRTP

/// The form of a video codec's frames in Matroska files.
struct RecordedCodec: Sendable {
    /// The `CodecID` of a track.
    let id: String
    /// Whether WebM files can contain the codec.
    let isInWebM: Bool
    /// Returns the `CodecPrivate` of a track from a key frame; empty if the codec has none.
    let privateData: @Sendable (_ keyFrame: [UInt8]) throws(RTPError) -> [UInt8]
    /// Returns the data of a frame's block.
    let block: @Sendable (_ frame: [UInt8]) throws(RTPError) -> [UInt8]

    /// All codecs, by the names of their payload formats.
    private static let all: [String: RecordedCodec] = ["VP8": .vp8, "AV1": .av1, "H264": .h264]

    /// Returns the codec of a payload format; nil if recordings can't contain it.
    static func of(_ format: any VideoPayloadFormat) -> RecordedCodec? { named(format.encodingName) }

    /// Returns the codec with the name of a payload format; nil if recordings can't contain it.
    static func named(_ name: String) -> RecordedCodec? { all[name] }
}
