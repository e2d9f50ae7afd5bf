internal import RTCShareMedia

/// Compares the encoder's model of the decoders with the result of libvpx's decoder for the sent frames.
///
/// Our own frames depend on three assumptions: a decoder's result equals ours; libvpx's frames leave the probabilities
/// that we parse from their headers; and if libvpx's encoder has the golden or altref frame in the same buffer as the
/// last frame, which it does not report, they change together as decoders do. If one of these fails, for example with
/// another libvpx version, viewers have a wrong image until a key frame.
///
/// A decoder that follows every frame takes a third of the time of libvpx's encoder, and a multiple of the time of our
/// own frames: some milliseconds at 1920×1080. A debug build does this. A release build checks samples, at most one per
/// ``interval``:
///
/// - A key frame and the frames after it, until ``sampleLength`` macroblocks are decoded or ``sampleTime`` has passed,
///   and then all references. A share starts with a key frame, which reveals general errors.
/// - Without a key frame, one of our own frames. The decoder first gets the encoder's references and probabilities, so
///   that the check covers this frame, and libvpx's handling of the image that is set after it.
///
/// The check runs after frames were passed on to viewers, so that it delays none.
struct DriftCheck {
    /// The extent of the check.
    enum Extent {
        case everything, samples

        static var usual: Extent {
            #if DEBUG
                .everything
            #else
                .samples
            #endif
        }
    }

    /// The minimum time between the starts of two samples.
    static let interval = Duration.seconds(60)
    /// The number of macroblocks in a sample: twelve frames of 1920×1080, which take a tenth of a second to decode and
    /// compare, a few thousandths of a processor's time.
    static let sampleLength = 100_000
    /// The maximum duration of a sample: an idle screen sends one frame per second, which is not worth a decoder's
    /// memory.
    static let sampleTime = Duration.seconds(5)
    /// The maximum number of recorded frames before a check. A caller that never checks has no check.
    static let mostFrames = 32

    private static let lastReference = [ReferenceFrame.last]
    private static let allReferences = ReferenceFrame.allCases

    private struct Sample {
        let decoder: VP8Decoder
        let expected: ReferencePicture
        let decoded: ReferencePicture
        let begin: Duration
        /// The number of macroblocks that are still to be decoded.
        var rest: Int
        /// Whether the sample ends with a frame of libvpx, since the decoder lacks some of that frame's context.
        let endsWithLibraryFrame: Bool
    }

    private let extent: Extent
    private var sample: Sample?
    private var lastSampleAt: Duration?
    /// The latest key frame.
    private var keyFrame: [UInt8] = []
    /// The frames since the last check, from a key frame on.
    private var frames: [EncodedVideoFrame] = []

    init(_ extent: Extent = .usual) {
        self.extent = extent
    }

    /// Whether frames are being checked.
    var isFollowing: Bool { sample != nil }

    /// Records an encoded frame.
    mutating func note(_ frame: EncodedVideoFrame) {
        // Frames before a key frame do not matter, and without a sample only the newest frame does.
        if frame.isKeyFrame || sample == nil && frames.first?.isKeyFrame != true {
            frames.removeAll(keepingCapacity: true)
        }
        if frame.isKeyFrame { keyFrame = frame.data }
        frames.append(frame)
        if frames.count > Self.mostFrames {
            sample = nil
            frames = []
        }
    }

    /// Removes all frames, since the next ones are unrelated to them.
    mutating func forget() {
        sample = nil
        keyFrame = []
        frames = []
    }

    /// Checks the recorded frames, and returns whether viewers have another image than `model`, with libvpx's encoder
    /// `context`.
    mutating func findsDrift(
        from model: DecoderModel, of context: EncoderContext
    ) throws(VideoCodingError) -> Bool {
        defer { frames.removeAll(keepingCapacity: true) }
        guard let newest = frames.last, let first = frames.first else { return false }
        if isDue(at: first.timestamp) {
            if first.isKeyFrame {
                sample = try makeSample(of: first)
            } else if newest.isPartialUpdate, !keyFrame.isEmpty, let probabilities = model.probabilities {
                sample = try makeSample(after: newest, model, probabilities, of: context)
                return false
            }
        }
        guard var sample else { return false }
        // The sample continues only if everything is correct.
        self.sample = nil
        for frame in frames {
            guard !sample.endsWithLibraryFrame || frame.isPartialUpdate else { return false }
            do throws(VideoCodingError) {
                try sample.decoder.advance(frame.data)
            } catch {
                // A frame that a decoder rejects is drift, like one that decodes to another image.
                return true
            }
            sample.rest -= frame.size.macroblocks
        }
        let isOver =
            extent == .samples && (sample.rest <= 0 || newest.timestamp - sample.begin >= Self.sampleTime)
        // libvpx's resulting state is also checked.
        if isOver { try model.giveLastPicture(to: context) }
        var isSame = true
        for reference in isOver || extent == .everything ? Self.allReferences : Self.lastReference where isSame {
            try model.copy(reference, of: context, to: sample.expected)
            try sample.decoder.copy(reference, to: sample.decoded)
            isSame = sample.expected.isSame(as: sample.decoded)
        }
        if isSame, !isOver { self.sample = sample }
        return !isSame
    }

    private func isDue(at time: Duration) -> Bool {
        guard sample == nil else { return false }
        guard extent == .samples, let lastSampleAt else { return true }
        return time - lastSampleAt >= Self.interval
    }

    private mutating func makeSample(of keyFrame: EncodedVideoFrame) throws(VideoCodingError) -> Sample {
        lastSampleAt = keyFrame.timestamp
        return Sample(
            decoder: try VP8Decoder(), expected: ReferencePicture(size: keyFrame.size),
            decoded: ReferencePicture(size: keyFrame.size), begin: keyFrame.timestamp, rest: Self.sampleLength,
            endsWithLibraryFrame: false)
    }

    /// Returns a sample of the single frame after this one.
    private mutating func makeSample(
        after frame: EncodedVideoFrame, _ model: DecoderModel, _ probabilities: CoefficientProbabilities,
        of context: EncoderContext
    ) throws(VideoCodingError) -> Sample {
        lastSampleAt = frame.timestamp
        let sample = Sample(
            decoder: try VP8Decoder(), expected: ReferencePicture(size: frame.size),
            decoded: ReferencePicture(size: frame.size), begin: frame.timestamp, rest: 1, endsWithLibraryFrame: true)
        // Only the size of the key frame remains.
        try sample.decoder.advance(keyFrame)
        try sample.decoder.advance(InterFrameWriter.frame(of: frame.size, keeping: probabilities))
        for reference in Self.allReferences {
            try model.copy(reference, of: context, to: sample.expected)
            try sample.decoder.set(reference, to: sample.expected)
        }
        return sample
    }
}
