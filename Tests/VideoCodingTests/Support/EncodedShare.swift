import RTCShareMedia
import TestSupport

@testable import RTCShareVideoCoding
import RTCShareWireFormat

/// The thread's rule books with an encoder, in virtual time and without the thread: what a source shows, at 30 pictures a
/// second, through a network that gives what it is told.
struct EncodedShare {
    /// The frames encoded in one second, or in several.
    struct Second: CustomStringConvertible {
        var frames = 0
        var bits = 0
        var quantizers = 0
        var keyFrames = 0
        var largest = 0
        var width = 0

        var quantizer: Int { quantizers / max(frames, 1) }
        init() {}

        init(_ seconds: ArraySlice<Second>) {
            for second in seconds {
                frames += second.frames
                bits += second.bits
                quantizers += second.quantizers
                keyFrames += second.keyFrames
                largest = max(largest, second.largest)
                width = second.width
            }
        }

        var description: String {
            "\(frames) frames of \(width), quantizer \(quantizer), \(bits) bits, largest \(largest * 8)"
        }
    }

    /// Returns the source's frame with this number.
    let picture: (Int) -> any VideoFrameBuffer
    let size: PixelSize
    var state: EncoderControl
    /// Whether its source tells that nothing changes, but with the picture of this number.
    var isStill = false
    var changesAt = 0
    var input = PictureInput()
    let encoder: any PictureEncoder
    let converter = VideoConverter()
    /// Decodes what was made, where it is looked at.
    var decoder: (any PictureDecoder)?
    /// The picture that was encoded last, and what the viewer has of it.
    var shown: any VideoFrameBuffer
    var seen: (any VideoFrameBuffer)?
    /// The frame that it was shown in, until that is taken up.
    var waiting: VideoFrame?
    var timestamps = TimestampLine()
    var lastTimestamp = Duration.zero
    var seconds: [Second] = []
    /// Each frame: when it was made, when its last bit arrived at the bitrate, its bytes and quantizer index, and what the
    /// viewer then has, where it is looked at.
    struct Frame {
        let time: Duration
        let arrival: Duration
        let byteCount: Int
        let quantizer: Int
        let isKeyFrame: Bool
        let similarity: Double
    }
    var frames: [Frame] = []
    /// The number of changes of the frame rate or the size.
    var changes = 0
    /// Whether a key frame is asked for with the picture of this number.
    var wantsKeyFrame: (Int) -> Bool = { _ in false }

    init(
        _ hint: ContentHint, codec: VideoCodec = .vp8, bitsPerSecond: Int, size: PixelSize, looks: Bool = false,
        picture: @escaping (Int) -> any VideoFrameBuffer
    ) throws {
        state = EncoderControl(
            settings: .init(bitrate: .bitsPerSecond(bitsPerSecond), hint: hint), codec: codec, now: .zero)
        encoder = try codec.makeEncoder(size, state.settings)
        self.picture = picture
        self.size = size
        decoder = looks ? try codec.makeDecoder() : nil
        shown = picture(0)
    }

    /// A screen of text that scrolls by so many rows with each picture.
    init(
        _ hint: ContentHint, scroll rows: Int, codec: VideoCodec = .vp8, bitsPerSecond: Int, size: PixelSize,
        looks: Bool = false
    ) throws {
        let text = TextPicture(size: size, seed: 7)
        try self.init(hint, codec: codec, bitsPerSecond: bitsPerSecond, size: size, looks: looks) {
            text.scrolled(by: $0 * rows).i420
        }
    }

    /// A screen of text that moves to the left by so many columns with each picture, and flickers a little: no vectors alone say
    /// that.
    init(_ hint: ContentHint, shift columns: Int, bitsPerSecond: Int, size: PixelSize) throws {
        let text = TextPicture(size: size, seed: 7)
        try self.init(hint, bitsPerSecond: bitsPerSecond, size: size) {
            text.shifted(by: $0 * columns).brighter(by: UInt8($0 & 1) * 2).i420
        }
    }

    /// Bits made in any second that ends with a frame after `start`: the most, as a share of the bitrate.
    func mostBits(from start: Duration, to end: Duration, in window: Duration, of bitsPerSecond: Int) -> Double {
        let times = frames.map(\.time).filter { $0 >= start + window && $0 < end }
        let sums = times.map { time in
            frames.reduce(0) { $0 + ($1.time > time - window && $1.time <= time ? $1.byteCount * 8 : 0) }
        }
        return Double(sums.max() ?? 0) / (window / .seconds(1)) / Double(bitsPerSecond)
    }

    /// Returns the time from which the viewer's frame stayed at least this similar.
    func sharpFrom(_ similarity: Double) -> Duration? {
        guard let last = frames.lastIndex(where: { $0.similarity < similarity }) else { return frames.first?.arrival }
        return last + 1 < frames.count ? frames[last + 1].arrival : nil
    }

    /// Returns the similarity of the frame that the viewer sees to the one shown last.
    func similarity() throws -> Double {
        guard let seen else { return 0 }
        return try StructuralSimilarity.luma(seen, try converter.convert(shown, to: seen.size))
    }

    /// Runs to `end`, in seconds: 30 pictures a second, each taken up when the cadence says.
    mutating func run(to end: Int, bitsPerSecond: Int) throws {
        try run(to: end) { _ in bitsPerSecond }
    }

    /// Runs to `end`, in seconds, at a bitrate that changes with the time.
    mutating func run(to end: Int, rate: (Duration) -> Int) throws {
        for index in seconds.count * 30..<end * 30 {
            if index % 30 == 0 { seconds.append(Second()) }
            let arrival = Duration.seconds(1) * index / 30
            var settings = state.settings
            settings.bitrate = .bitsPerSecond(rate(arrival))
            if settings != state.settings || index == 0 { state.apply(settings, now: arrival) }
            let frame = VideoFrame(
                buffer: picture(index), timestamp: arrival,
                damage: isStill && index > 0 && index != changesAt ? [] : nil)
            _ = state.receive(frame, now: arrival)
            if wantsKeyFrame(index) { state.cadence.requestKeyFrame() }
            let next = Duration.seconds(1) * (index + 1) / 30
            var now = arrival
            while now < next {
                switch state.cadence.action(now: now) {
                case .wait(let time): now = max(time ?? next, now + .microseconds(1))
                case .encodeNew(let asKeyFrame):
                    guard let waiting = state.slot else { break }
                    state.slot = nil
                    (shown, self.waiting) = (waiting.buffer, waiting)
                    lastTimestamp = timestamps.next(timestamp: waiting.timestamp, now: now)
                    try encode(asKeyFrame: asKeyFrame, isNew: true, now: now)
                case .encodeAgain(let asKeyFrame):
                    lastTimestamp = timestamps.again(now: now)
                    try encode(asKeyFrame: asKeyFrame, isNew: false, now: now)
                }
            }
        }
    }

    private mutating func encode(asKeyFrame: Bool, isNew: Bool, now: Duration) throws {
        let before = (state.governor.framesPerSecond, state.governor.sizeSteps)
        defer { changes += before == (state.governor.framesPerSecond, state.governor.sizeSteps) ? 0 : 1 }
        state.begin(new: isNew, now: now)
        let order = state.order(isNew: isNew)
        try input.take(waiting, order: order)
        waiting = nil
        let sizes = order.sizes(for: VideoFrame(buffer: shown, timestamp: now))
        let (preceding, outcome) = try encoder.encode(
            &input, timestamp: lastTimestamp, asKeyFrame: asKeyFrame, order: order)
        // In virtual time it takes what it usually does.
        encoder.record(nil, outcome)
        state.didEncode(newShare: isNew ? encoder.newShare : nil, now: now)
        for frame in preceding {
            if let decoder { seen = try decoder.decode(frame.data) }
            state.countPreceding(frame)
            seconds[seconds.count - 1].bits += frame.data.count * 8
        }
        if case .encoded(let frame) = outcome {
            if let decoder { seen = try decoder.decode(frame.data) }
            let transfer = Duration.seconds(1) * (frame.data.count * 8) / Int(order.settings.bitrate.bitsPerSecond)
            frames.append(
                Frame(
                    time: now, arrival: max(now, frames.last?.arrival ?? .zero) + transfer, byteCount: frame.data.count,
                    quantizer: frame.quantizer, isKeyFrame: frame.isKeyFrame, similarity: try similarity()))
            seconds[seconds.count - 1].frames += 1
            seconds[seconds.count - 1].bits += frame.data.count * 8
            seconds[seconds.count - 1].quantizers += frame.quantizer
            seconds[seconds.count - 1].keyFrames += frame.isKeyFrame ? 1 : 0
            seconds[seconds.count - 1].largest = max(seconds[seconds.count - 1].largest, frame.data.count)
            seconds[seconds.count - 1].width = frame.size.width
        }
        state.count(
            outcome, ledger: encoder.ledger, isRepetition: !isNew, fullSize: sizes.full, begin: now, end: now)
    }
}

extension EncoderControl {
    /// Notes what became of a picture, charged as an encoder charges it.
    mutating func count(
        _ outcome: EncodingOutcome, isRepetition: Bool, fullSize: PixelSize, begin: Duration, end: Duration
    ) {
        var ledger = order(isNew: !isRepetition).ledger
        ledger.pass(to: begin)
        if case .encoded(let frame) = outcome { ledger.spend(byteCount: frame.data.count, isChange: !isRepetition) }
        count(outcome, ledger: ledger, isRepetition: isRepetition, fullSize: fullSize, begin: begin, end: end)
    }
}
