internal import RTCShareMedia
internal import RTCShareRTP

/// A library's encoder that takes the quantizer of each frame from a ``ScreenEncoder``.
protocol FrameCoder: AnyObject {
    /// The payload format of the frames.
    static var format: any VideoPayloadFormat { get }

    /// The quantizers and their uses.
    static var range: QuantizerRange { get }

    init(size: PixelSize, hint: ContentHint) throws(VideoCodingError)

    /// Changes the size and the hint. The next frame is a key frame if this changes anything, which is returned.
    func reconfigure(size: PixelSize, hint: ContentHint) throws(VideoCodingError) -> Bool

    /// Encodes a frame, and replaces it with the image that decoders show; nil if the library drops it.
    func encode(
        replacing shown: I420Picture, quantizer: Int, asKeyFrame: Bool, effort: FrameEffort
    ) throws(VideoCodingError) -> CodedFrame?
}

/// A frame of a ``FrameCoder``.
struct CodedFrame {
    let data: [UInt8]
    let isKeyFrame: Bool
    /// The quantizer on the codec's scale.
    let quantizer: Int
}

/// The time that a frame is worth.
package enum FrameEffort: CaseIterable, Sendable {
    /// As little as possible.
    case quick
    /// As much as it takes to make parts finer that are almost the same as in the last frame.
    case refining
    /// As much as saves bits of flat content.
    case thorough
}
