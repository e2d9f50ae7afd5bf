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
    /// - Parameters:
    ///   - keepsLast: Whether the last frame is kept, until the next such call or key frame.
    ///   - refines: Whether parts become finer that are almost the same as in the last frame.
    ///   - isNatural: Whether the changes are natural content, such as a film, which has no palettes.
    func encode(
        replacing shown: I420Picture, quantizer: Int, asKeyFrame: Bool, keepsLast: Bool, refines: Bool,
        isNatural: Bool
    ) throws(VideoCodingError) -> CodedFrame?

    /// Returns the approximate bits with which ``update(_:by:painting:of:keepsLast:)`` paints a macroblock of the picture;
    /// nil if it can't, or if the library codes it as well.
    func paintingBits(of index: Int, in picture: any PixelPlanes) throws(VideoCodingError) -> Double?

    /// Changes the image that decoders show without the library, as a part of the next frame, unless that is a key frame:
    /// parts move, and macroblocks become the picture's that have ``paintingBits(of:in:)``. Returns nil, without a change,
    /// if it can't.
    func update(
        _ shown: I420Picture, by scrolls: [Scroll], painting macroblocks: MacroblockMap, of picture: any PixelPlanes,
        keepsLast: Bool
    ) throws(VideoCodingError) -> FrameUpdate?

    /// Tells the library the image that decoders show, before macroblocks are copied to it for
    /// ``encode(replacing:quantizer:asKeyFrame:keepsLast:refines:isNatural:)``.
    func synchronize(with shown: I420Picture) throws(VideoCodingError)

    /// Returns a frame that shows the image as it is without the library; nil if the library must make it.
    func repetition(of shown: I420Picture) throws(VideoCodingError) -> CodedFrame?
}

extension FrameCoder {
    static var keepsFrames: Bool { false }
    static var largestScroll: Int { Scroll.largestDistance }

    func update(
        _ shown: I420Picture, by scrolls: [Scroll], painting macroblocks: MacroblockMap, of picture: any PixelPlanes,
        keepsLast: Bool
    ) throws(VideoCodingError) -> FrameUpdate? { nil }
    func paintingBits(of index: Int, in picture: any PixelPlanes) throws(VideoCodingError) -> Double? { nil }
    func synchronize(with shown: I420Picture) throws(VideoCodingError) {}
    func repetition(of shown: I420Picture) throws(VideoCodingError) -> CodedFrame? { nil }
}

/// A change of the image without the library.
struct FrameUpdate {
    let byteCount: Int
    /// Whether the last frame is kept, if that was requested.
    let keepsLast: Bool
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
