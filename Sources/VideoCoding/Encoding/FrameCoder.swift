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
    ///
    /// - Parameter refines: Whether parts become finer that are almost the same as in the last frame.
    func encode(
        replacing shown: I420Picture, quantizer: Int, asKeyFrame: Bool, refines: Bool
    ) throws(VideoCodingError) -> CodedFrame?

    /// Returns a frame that repeats the last one without the library; nil if the library must make it.
    func repetition() -> CodedFrame?
}

extension FrameCoder {
    func repetition() -> CodedFrame? { nil }
}

/// A frame of a ``FrameCoder``.
struct CodedFrame {
    let data: [UInt8]
    let isKeyFrame: Bool
    /// The quantizer on the codec's scale.
    let quantizer: Int
    /// The quantizer of the coder's range that replaced the requested one; nil if that was used.
    var replacement: Int?
}
