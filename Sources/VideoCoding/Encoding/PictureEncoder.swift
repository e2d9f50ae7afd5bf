internal import RTCShareMedia

/// The encoder of a codec, which the encoder's thread calls.
///
/// It chooses what a frame costs, within the ledger of its order, and when it is fine. When a frame is encoded is
/// decided without it (``FrameCadence``), as are the size and the frame rate (``QualityGovernor``).
protocol PictureEncoder: AnyObject {
    /// Encodes the frame of an input according to an order, and updates the input with the frame that viewers have.
    /// Key frames are the first frame, frames with `asKeyFrame` and those that the codec requires. `preceding` are
    /// frames before the one in the outcome.
    func encode(
        _ input: inout PictureInput, timestamp: Duration, asKeyFrame: Bool, order: EncodingOrder
    ) throws(VideoCodingError) -> (preceding: [EncodedVideoFrame], outcome: EncodingOutcome)

    /// Records the time that the last encoding took; nil for the usual time.
    func record(_ effort: Duration?, _ outcome: EncodingOutcome)

    /// Whether viewers have another image than the next frame refers to, which is then a key frame. It may take the
    /// time of a decoder.
    func findsDrift() throws(VideoCodingError) -> Bool

    /// The accounting of bits after the last frame.
    var ledger: BitLedger { get }

    /// The fraction of the last frame, 0 to 1, that was neither visible before nor moved.
    var newShare: Double { get }
}

extension PictureEncoder {
    func record(_ effort: Duration?, _ outcome: EncodingOutcome) {}
    func findsDrift() throws(VideoCodingError) -> Bool { false }
}

/// The result of an encoder for a frame.
package enum EncodingOutcome: Sendable {
    /// The frame was encoded.
    case encoded(EncodedVideoFrame)
    /// The rate control dropped the frame. Later frames refer to earlier ones, so that the viewer misses nothing.
    case dropped
    /// Viewers have the image of a new frame, so that nothing was encoded.
    case unchanged
}
