internal import RTCShareMedia
internal import RTCShareRTP

/// A library's encoder that takes the quantizer of each frame from a ``ScreenEncoder``.
protocol FrameCoder: AnyObject {
    /// The payload format of the frames.
    static var format: any VideoPayloadFormat { get }

    /// The quantizers and their uses.
    static var range: QuantizerRange { get }

    /// Whether it can keep a frame to predict from.
    static var keepsFrames: Bool { get }

    /// The maximum distance of a move in one direction.
    static var largestScroll: Int { get }

    init(size: PixelSize, hint: ContentHint) throws(VideoCodingError)

    /// Changes the size and the hint. The next frame is a key frame if this changes anything, which is returned.
    func reconfigure(size: PixelSize, hint: ContentHint) throws(VideoCodingError) -> Bool

    /// Encodes a frame, and replaces it with the image that decoders show; nil if the library drops it.
    ///
    /// - Parameter keepsLast: Whether the last frame is kept, until the next such call or key frame.
    func encode(
        replacing shown: I420Picture, quantizer: Int, asKeyFrame: Bool, keepsLast: Bool, effort: FrameEffort
    ) throws(VideoCodingError) -> CodedFrame?

    /// Moves a part of the image that decoders show, by vectors that become part of the next frame, unless that is a key
    /// frame. Returns their number of bytes; nil if it can't.
    func move(_ scroll: Scroll, in shown: I420Picture) throws(VideoCodingError) -> Int?

    /// Returns a frame that repeats the last one without the library; nil if the library must make it.
    func repetition() -> CodedFrame?
}

extension FrameCoder {
    static var keepsFrames: Bool { false }
    static var largestScroll: Int { Scroll.largestDistance }

    func move(_ scroll: Scroll, in shown: I420Picture) throws(VideoCodingError) -> Int? { nil }
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

/// The time that a frame is worth.
package enum FrameEffort: CaseIterable, Sendable {
    /// As little as possible.
    case quick
    /// As much as it takes to make parts finer that are almost the same as in the last frame.
    case refining
    /// As much as saves bits of flat content.
    case thorough
}
