internal import RTCShareMedia

/// Compares what the encoder takes decoders to have with what libvpx's decoder makes of the frames that were sent.
///
/// Frames of our own rest on three things that nobody else looks after: a decoder makes of them what we do; libvpx's frames
/// leave the probabilities that we read from their headers; and where libvpx's encoder has golden or alternate reference in
/// one place with the last picture, which it does not say, they change with it as decoders are told. Should one of these
/// fail, with another libvpx too, viewers keep a wrong picture until a key frame.
///
/// A decoder that follows every frame takes a third of the time that libvpx's encoder does, and a multiple of what a frame of
/// our own takes: some milliseconds at 1920×1080. A debug build pays that. A release build looks at samples, one in
/// ``interval`` at most:
///
/// - A key frame and what follows it, whoever made it, until ``sampleLength`` macroblocks are decoded or ``sampleTime`` has
///   passed, and then all references. A share begins with one, which finds what is wrong in general.
/// - Where no key frame comes, one frame of our own. The decoder is given the encoder's references and probabilities first,
///   so that it judges this frame, and what libvpx makes of the picture that is set after it.
///
/// It is looked at once frames are on their way to viewers, so that none is late for it.
struct DriftCheck {
    /// How much is looked at.
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

    /// The shortest time between the beginnings of two samples.
    static let interval = Duration.seconds(60)
    /// Macroblocks of a sample: twelve pictures of 1920×1080, which take a tenth of a second to decode and compare, so that it
    /// is some thousandths of a processor's time.
    static let sampleLength = 100_000
    /// A screen that rests sends a frame a second: a decoder's memory is not kept for it.
    static let sampleTime = Duration.seconds(5)
    /// More are not noted before somebody looks: a picture becomes a few. Who never looks has no check.
    static let mostFrames = 32

    private static let lastReference = [ReferenceFrame.last]
    private static let allReferences = ReferenceFrame.allCases

    private struct Sample {
        let decoder: VP8Decoder
        let expected: ReferencePicture
        let decoded: ReferencePicture
        let begin: Duration
        /// How many macroblocks are still to be decoded.
        var rest: Int
        /// The decoder does not know all that libvpx's frames go by.
        let endsWithLibraryFrame: Bool
    }

    private let extent: Extent
    private var sample: Sample?
    private var lastSampleAt: Duration?
    /// The newest one.
    private var keyFrame: [UInt8] = []
    /// What was made since it was looked last, from a key frame on.
    private var frames: [EncodedVideoFrame] = []

    init(_ extent: Extent = .usual) {
        self.extent = extent
    }

    /// Whether frames are being followed.
    var isFollowing: Bool { sample != nil }

    /// A frame was made.
    mutating func note(_ frame: EncodedVideoFrame) {
        // What was before a key frame is of no consequence, and where none is followed but the newest nothing is.
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

    /// What comes next has nothing to do with what was.
    mutating func forget() {
        sample = nil
        keyFrame = []
        frames = []
    }

    /// Looks at what was noted, and says whether viewers have something else than `model`, of libvpx's encoder `context`.
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
        // It goes on only where all is as it should be.
        self.sample = nil
        for frame in frames {
            guard !sample.endsWithLibraryFrame || frame.isPartialUpdate else { return false }
            do throws(VideoCodingError) {
                try sample.decoder.advance(frame.data)
            } catch {
                // A frame that a decoder refuses is drift, as one is that it decodes to another picture.
                return true
            }
            sample.rest -= frame.size.macroblocks
        }
        let isOver =
            extent == .samples && (sample.rest <= 0 || newest.timestamp - sample.begin >= Self.sampleTime)
        // What libvpx then has is what is judged.
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

    /// A sample of the one frame that follows this.
    private mutating func makeSample(
        after frame: EncodedVideoFrame, _ model: DecoderModel, _ probabilities: CoefficientProbabilities,
        of context: EncoderContext
    ) throws(VideoCodingError) -> Sample {
        lastSampleAt = frame.timestamp
        let sample = Sample(
            decoder: try VP8Decoder(), expected: ReferencePicture(size: frame.size),
            decoded: ReferencePicture(size: frame.size), begin: frame.timestamp, rest: 1, endsWithLibraryFrame: true)
        // Of the key frame nothing remains but the size.
        try sample.decoder.advance(keyFrame)
        try sample.decoder.advance(InterFrameWriter.frame(of: frame.size, keeping: probabilities))
        for reference in Self.allReferences {
            try model.copy(reference, of: context, to: sample.expected)
            try sample.decoder.set(reference, to: sample.expected)
        }
        return sample
    }
}
