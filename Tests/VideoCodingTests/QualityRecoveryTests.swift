import Media
import Testing

@testable import VideoCoding

/// The thread's rule books with libvpx, without the thread: a picture of text that scrolls, and a network that dips.
@Suite("QualityGovernor with libvpx while the network dips")
struct QualityRecoveryTests {
    /// What was made in a second, or in some.
    private struct Second: CustomStringConvertible {
        var frames = 0
        var bits = 0
        var quantizers = 0
        var width = 0

        var quantizer: Int { quantizers / max(frames, 1) }
        init() {}

        init(_ seconds: ArraySlice<Second>) {
            for second in seconds {
                frames += second.frames
                bits += second.bits
                quantizers += second.quantizers
                width = second.width
            }
        }

        var description: String { "\(frames) frames of \(width), quantizer \(quantizer), \(bits) bits" }
    }

    private struct Share {
        var state: EncoderThreadState
        let encoder: VP8Encoder
        let picture: TextPicture
        let converter = VideoConverter()
        let rows: Int
        var shown: any VideoFrameBuffer
        var timestamps = TimestampLine()
        var lastTimestamp = Duration.zero
        var seconds: [Second] = []
        /// How often the frame rate or the size was changed.
        var changes = 0

        init(_ hint: ContentHint, scroll rows: Int, bitsPerSecond: Int, size: PixelSize) throws {
            state = EncoderThreadState(settings: .init(bitsPerSecond: bitsPerSecond, hint: hint), now: .zero)
            picture = TextPicture(size: size, seed: 7)
            encoder = try VP8Encoder(
                configuration: .init(size: size, bitsPerSecond: bitsPerSecond, hint: hint))
            self.rows = rows
            shown = picture.i420
        }

        /// Runs to `end`, in seconds: 30 pictures a second, each taken up when the cadence says.
        mutating func run(to end: Int, bitsPerSecond: Int) throws {
            var settings = state.settings
            settings.bitsPerSecond = bitsPerSecond
            state.apply(settings, now: .seconds(seconds.count))
            for index in seconds.count * 30..<end * 30 {
                if index % 30 == 0 { seconds.append(Second()) }
                let arrival = Duration.seconds(1) * index / 30
                let frame = VideoFrame(
                    buffer: picture.scrolled(by: index * rows).i420, timestamp: arrival)
                _ = state.receive(frame, now: arrival)
                let next = Duration.seconds(1) * (index + 1) / 30
                var now = arrival
                while now < next {
                    switch state.cadence.action(now: now) {
                    case .wait(let time): now = max(time ?? next, now + .microseconds(1))
                    case .encodeNew(let asKeyFrame):
                        guard let waiting = state.slot else { break }
                        state.slot = nil
                        shown = waiting.buffer
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
            state.cadence.begin(new: isNew)
            let order = state.order(isNew: isNew)
            let sizes = order.sizes(for: VideoFrame(buffer: shown, timestamp: now))
            var configuration = encoder.configuration
            configuration.size = sizes.now
            configuration.bitsPerSecond = order.settings.bitsPerSecond
            configuration.framesPerSecond = order.framesPerSecond
            configuration.hint = order.hint
            try encoder.reconfigure(configuration)
            let picture = try converter.convert(shown, to: sizes.now)
            let outcome = try encoder.encode(picture, timestamp: lastTimestamp, asKeyFrame: asKeyFrame)
            if case .encoded(let frame) = outcome {
                seconds[seconds.count - 1].frames += 1
                seconds[seconds.count - 1].bits += frame.data.count * 8
                seconds[seconds.count - 1].quantizers += frame.quantizer
                seconds[seconds.count - 1].width = frame.size.width
            }
            state.count(outcome, isRepetition: !isNew, fullSize: sizes.full, begin: now, end: now)
        }
    }

    private static let size = PixelSize(width: 1280, height: 720)

    @Test(
        "after a dip of the network, what moves comes back as it was within ten seconds",
        arguments: [
            (ContentHint.text, 1, 1_500_000), (.text, 3, 4_000_000), (.text, 3, 1_500_000), (.motion, 1, 4_000_000),
        ])
    func dip(hint: ContentHint, scroll: Int, bitsPerSecond: Int) throws {
        var share = try Share(hint, scroll: scroll, bitsPerSecond: bitsPerSecond, size: Self.size)
        try share.run(to: 10, bitsPerSecond: bitsPerSecond)
        try share.run(to: 16, bitsPerSecond: 200_000)
        #expect(share.state.governor.reason == .bandwidth)
        try share.run(to: 29, bitsPerSecond: bitsPerSecond)
        let (before, after) = (Second(share.seconds[7..<10]), Second(share.seconds[26...]))
        #expect(Double(after.frames) > Double(before.frames) * 0.9, "\(before), then \(after)")
        #expect(after.quantizer < before.quantizer + 15 && after.width == before.width, "\(before), then \(after)")
    }

    @Test(
        "where the bits come back little by little, so does what moves",
        arguments: [(ContentHint.text, 1, 1_500_000), (.motion, 1, 4_000_000)])
    func ramp(hint: ContentHint, scroll: Int, bitsPerSecond: Int) throws {
        var share = try Share(hint, scroll: scroll, bitsPerSecond: 200_000, size: Self.size)
        try share.run(to: 6, bitsPerSecond: 200_000)
        #expect(share.state.governor.reason == .bandwidth)
        var rate = 200_000
        while rate < bitsPerSecond {
            rate = min(rate * 109 / 100, bitsPerSecond)
            try share.run(to: share.seconds.count + 1, bitsPerSecond: rate)
        }
        try share.run(to: share.seconds.count + 10, bitsPerSecond: bitsPerSecond)
        let after = Second(share.seconds.suffix(3))
        #expect(after.frames > 27 * 3 && after.width == Self.size.width && after.quantizer < 40, "\(after)")
    }

    @Test("at a narrow network that stays so nothing swings", arguments: [ContentHint.text, .motion])
    func narrow(hint: ContentHint) throws {
        var share = try Share(hint, scroll: 1, bitsPerSecond: 200_000, size: Self.size)
        try share.run(to: 15, bitsPerSecond: 200_000)
        let before = share.changes
        try share.run(to: 75, bitsPerSecond: 200_000)
        let changes = share.changes - before
        #expect(changes <= (hint == .motion ? 0 : 12), "\(changes) in a minute")
        let bits = share.seconds[15...].reduce(0) { $0 + $1.bits } / 60
        #expect(bits < 500_000, "\(bits)")
    }
}
