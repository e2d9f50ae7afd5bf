package import RTCShareMedia
package import RTCShareRTP

/// A video codec: its payload format, its encoder and its decoder.
package struct VideoCodec: Sendable {
    /// The payload format, by which codecs are compared.
    package let format: any VideoPayloadFormat
    /// Returns the reason why the codec can't be used on this machine, with the package to install; nil if it can.
    package let unavailability: @Sendable () -> String?
    /// The approximate size of a page of text, relative to VP8's at the same quality.
    package let relativeSize: Double
    /// The approximate time that it takes to encode changes, relative to VP8's.
    package let relativeEffort: Double
    /// The sizes of frames that its encoder accepts. Larger ones are scaled down.
    var sizeLimits = EncodedSizeLimits()
    /// Whether its encoder has a faster speed for machines that are too slow.
    var hasFasterSpeed = false
    /// The names of the libraries.
    package let implementation: (encoder: String, decoder: String)
    let makeEncoder: @Sendable (PixelSize, VideoEncoder.Settings) throws(VideoCodingError) -> any PictureEncoder
    /// Returns a decoder.
    package let makeDecoder: @Sendable () throws(VideoCodingError) -> any PictureDecoder

    /// The name of the encoding in descriptions.
    package var name: String { format.encodingName }
}

extension VideoCodec: Hashable {
    package static func == (left: VideoCodec, right: VideoCodec) -> Bool { left.format === right.format }

    package func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(format)) }
}

/// The decoder of a codec, which returns I420 frames. One thread at a time can use it.
///
/// A peer's data can't harm it: a damaged frame causes an error, and the next key frame repairs it.
package protocol PictureDecoder: AnyObject {
    /// Decodes one frame; nil if it is not shown.
    ///
    /// After an error, frames are rejected with `keyFrameNeeded` until a key frame.
    func decode(_ frame: Span<UInt8>) throws(VideoCodingError) -> PixelBuffer?

    /// The quantizer index of the last frame on the codec's scale; nil before the first, or if it is unknown.
    var lastQuantizer: Int? { get }
}

extension PictureDecoder {
    /// Decodes one frame in an array: see the other `decode`.
    package func decode(_ frame: [UInt8]) throws(VideoCodingError) -> PixelBuffer? { try decode(frame.span) }
}
