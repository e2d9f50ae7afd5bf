internal import RTCShareMedia

/// The state of a decoder after the sent frames, as far as our own frames depend on it.
///
///                     libvpx coded a frame
///        ┌───────────────────────┬─────────────────┐
///        ▼        copied         │     changed     │
///     outdated ───────────────▶ equal ──────────▶ newer, and set in libvpx before it encodes
///
/// libvpx gets only the resulting image of frames that are not its own, which is set as its last frame when it encodes
/// again: a minute of typing costs one copy.
final class DecoderModel {
    /// The relation of `picture` to libvpx's last frame.
    private enum Standing {
        case outdated, equal, newer
    }

    private let size: PixelSize
    private var picture: ReferencePicture?
    private var standing = Standing.outdated
    /// The references that libvpx's last frame updated in addition to the last frame. In its memory they are the same
    /// buffer, and change together. It is nil if that is unknown, until libvpx's next frame.
    private(set) var lastUpdates: ReferenceUpdates?
    /// The coefficient probabilities of both sides; nil if a frame's header was not parsed, until the next key frame.
    private(set) var probabilities: CoefficientProbabilities?

    /// Creates the model of a stream of this size without a frame.
    init(size: PixelSize) {
        self.size = size
    }

    /// Passes the last frame to `change`, for a frame that libvpx does not encode. `change` returns its result; nil if
    /// it did not change the frame.
    func changeLastPicture<Result>(
        of context: EncoderContext, _ change: (ReferencePicture) throws(VideoCodingError) -> Result?
    ) throws(VideoCodingError) -> Result? {
        let picture = picture ?? ReferencePicture(size: size)
        self.picture = picture
        if standing == .outdated {
            try context.copy(.last, to: picture)
            standing = .equal
        }
        let result = try change(picture)
        if result != nil { standing = .newer }
        return result
    }

    /// Sets the last sent frame as libvpx's last frame, whoever encoded it. The state after that is read again.
    func giveLastPicture(to context: EncoderContext) throws(VideoCodingError) {
        if standing == .newer, let picture { try context.set(.last, to: picture) }
        standing = .outdated
    }

    /// Applies a frame that libvpx encoded.
    func advance(_ frame: [UInt8]) {
        let header = FrameHeader(frame: frame)
        lastUpdates = header?.updates
        if header?.isKeyFrame ?? false { probabilities = CoefficientProbabilities() }
        if let header { probabilities?.apply(header) } else { probabilities = nil }
    }

    /// Copies one of the decoder's reference frames. `context` is libvpx's encoder, which has those that our own frames
    /// did not change.
    func copy(
        _ reference: ReferenceFrame, of context: EncoderContext, to target: ReferencePicture
    ) throws(VideoCodingError) {
        let isLast =
            switch reference {
            case .last: true
            case .golden: lastUpdates?.golden ?? false
            case .alternate: lastUpdates?.alternate ?? false
            }
        if isLast, standing == .newer, let picture {
            target.copy(picture)
        } else {
            try context.copy(reference, to: target)
        }
    }
}
