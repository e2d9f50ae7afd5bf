internal import RTCShareMedia

/// What a decoder has after the frames that were sent, as far as frames of our own build on it.
///
///                     libvpx coded a frame
///        ┌───────────────────────┬─────────────────┐
///        ▼        copied         │     changed     │
///     outdated ───────────────▶ equal ──────────▶ newer, and given to libvpx before it codes
///
/// libvpx learns of the frames that are not its own by their picture alone, which is set as its last one once it is to code
/// again: a minute of typing costs it one copy.
final class DecoderModel {
    /// How `picture` stands to the one that libvpx builds on.
    private enum Standing {
        case outdated, equal, newer
    }

    private let size: PixelSize
    private var picture: ReferencePicture?
    private var standing = Standing.outdated
    /// What libvpx's last frame became beside the last picture: in its memory it is one with that, and changes with it. Nil
    /// where that is not known, until its next frame.
    private(set) var lastUpdates: ReferenceUpdates?
    /// What both sides go by; nil where a frame's header was not followed, until the next key frame.
    private(set) var probabilities: CoefficientProbabilities?

    /// Of a stream of this size that has no frame yet.
    init(size: PixelSize) {
        self.size = size
    }

    /// Gives the picture that the next frame builds on to a frame that is not libvpx's. What `change` gives is what became of
    /// it; nil where the picture stayed as it was.
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

    /// Has libvpx go on from what was sent last, whoever made it. What it has after that is asked for anew.
    func giveLastPicture(to context: EncoderContext) throws(VideoCodingError) {
        if standing == .newer, let picture { try context.set(.last, to: picture) }
        standing = .outdated
    }

    /// Follows a frame that libvpx coded.
    func advance(_ frame: [UInt8]) {
        let header = FrameHeader(frame: frame)
        lastUpdates = header?.updates
        if header?.isKeyFrame ?? false { probabilities = CoefficientProbabilities() }
        if let header { probabilities?.apply(header) } else { probabilities = nil }
    }

    /// Copies one of the pictures that a decoder has. `context` is libvpx's encoder, which has those that frames of our own
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
