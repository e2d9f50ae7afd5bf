import RTCShareLocks
import RTCShareMedia
import RTCShareRTP
import TestSupport
import Testing

@testable import RTCShareVideoCoding
import RTCShareWireFormat

/// The frames that an encoder delivered.
private final class Frames: Sendable {
    private let log = Mailbox([EncodedVideoFrame]())

    var all: [EncodedVideoFrame] { log.read { $0 } }
    func take(_ frame: EncodedVideoFrame) { log.post { $0.append(frame) } }

    func wait(_ isEnough: ([EncodedVideoFrame]) -> Bool) -> [EncodedVideoFrame] {
        log.take { isEnough($0) ? .done($0) : .wait(until: nil) }
    }

    /// The newest frame, once it is as wanted.
    func waitForLast(_ isWanted: (EncodedVideoFrame) -> Bool) -> EncodedVideoFrame {
        log.take { frames in
            guard let last = frames.last, isWanted(last) else { return .wait(until: nil) }
            return .done(last)
        }
    }
}

@Suite("VideoEncoder on sources and tracks", .timeLimit(.minutes(1)))
struct VideoEncoderSourceTests {
    private let size = PixelSize(width: 320, height: 240)
    private let frames = Frames()
    private let source = PushVideoSource()

    /// The capture time of the first frame.
    private let begin = CaptureClock.now

    private func frame(_ index: Int, seed: UInt64 = 1, rotation: VideoRotation = .upright) -> VideoFrame {
        VideoFrame(
            buffer: TextPicture(size: size, seed: seed).i420, timestamp: begin + .milliseconds(index * 40),
            rotation: rotation)
    }

    private func start(_ change: (inout VideoEncoder.Settings) -> Void = { _ in }) throws -> VideoEncoder {
        var settings = VideoEncoder.Settings(bitrate: .kilobitsPerSecond(2000))
        change(&settings)
        let frames = frames
        return try VideoEncoder(.vp8, settings: settings, onFrame: { frame, _ in frames.take(frame) })
    }

    @Test("A frame is encoded at the requested size, limited to the largest")
    func outputSize() throws {
        let track = VideoTrack(id: "v", source: source)
        let thread = try start()
        thread.show(track)
        track.adaptOutputFormat(width: 200, height: 200, fps: 0)
        source.capture(frame(0))
        var last = frames.wait { !$0.isEmpty }[0]
        #expect(last.size == PixelSize(width: 200, height: 150))
        let picture = try #require(try VP8Decoder().decode(last.data))
        let expected = try VideoConverter().convert(frame(0).buffer, to: PixelSize(width: 200, height: 150))
        #expect(try StructuralSimilarity.luma(picture, expected) > 0.8)
        // Cut to a square, in the same step.
        track.adaptOutputFormat(width: 120, height: 120, fps: 0, mode: .crop)
        source.capture(frame(10))
        last = frames.waitForLast { $0.size == PixelSize(width: 120, height: 120) }
        #expect(last.isKeyFrame)
        thread.update { $0.maximumSize = PixelSize(width: 60, height: 80) }
        last = frames.waitForLast { $0.size == PixelSize(width: 60, height: 60) }
        thread.stop()
        #expect(thread.statistics.sourceSize == PixelSize(width: 120, height: 120))
    }

    @Test("A new output format needs a key frame only if it changes the size")
    func outputFormatWhileRunning() throws {
        let track = VideoTrack(id: "v", source: source)
        let thread = try start()
        thread.show(track)
        let formats: [(width: Int, height: Int, fps: Double)] = [(320, 240, 0), (640, 480, 5), (320, 300, 0)]
        for (round, format) in formats.enumerated() {
            track.adaptOutputFormat(width: format.width, height: format.height, fps: format.fps)
            source.capture(frame(round * 25, seed: UInt64(round)))
            let timestamp = begin + .milliseconds(round * 1000)
            _ = frames.wait { $0.contains { $0.timestamp >= timestamp } }
        }
        #expect(thread.statistics.keyFramesEncoded == 1)
        track.adaptOutputFormat(width: 160, height: 120, fps: 0)
        source.capture(frame(100))
        _ = frames.waitForLast { $0.size == PixelSize(width: 160, height: 120) }
        thread.stop()
        #expect(thread.statistics.keyFramesEncoded == 2)
        // Each new format had the frame before it given again.
        #expect(thread.statistics.framesReceived == 7)
    }

    @Test("The source's hint reaches the running encoder without a key frame")
    func hint() throws {
        let thread = try start()
        source.contentHint = .none
        thread.show(source)
        source.capture(frame(0))
        // What nobody knows is taken for detail.
        #expect(frames.wait { !$0.isEmpty }[0].contentHint == .detail)
        for hint in [ContentHint.motion, .text] {
            source.contentHint = hint
            _ = frames.wait { $0.last?.contentHint == hint }
        }
        thread.stop()
        #expect(frames.all.dropFirst().allSatisfy { !$0.isKeyFrame })
        #expect(thread.statistics.keyFramesEncoded == 1)
    }

    @Test("The hint of the settings takes precedence over the source's, even when set later")
    func ownHint() throws {
        let thread = try start { $0.hint = .text }
        source.contentHint = .motion
        thread.show(source)
        source.capture(frame(0))
        #expect(frames.wait { !$0.isEmpty }[0].contentHint == .text)
        thread.update { $0.hint = .motion }
        _ = frames.wait { $0.last?.contentHint == .motion }
        source.contentHint = .text
        source.capture(frame(10, seed: 2))
        let count = frames.all.count
        #expect(frames.wait { $0.count >= count + 2 }.last?.contentHint == .motion)
        thread.stop()
    }

    @Test("A muted encoder encodes nothing; unmuted, it encodes the newest frame as a requested key frame")
    func mute() throws {
        let thread = try start()
        let source = DirectSource()
        thread.show(source)
        source.receive(frame(0))
        _ = frames.wait { !$0.isEmpty }
        thread.setMuted(true)
        // What the thread had begun by then is finished when it lies still: it takes no more work up.
        thread.requestKeyFrame()
        for index in 1...5 { source.receive(frame(index, seed: UInt64(index))) }
        let statistics = thread.statistics
        #expect(statistics.qualityLimitationReason == .other)
        #expect(statistics.keyFramesEncoded == 1)
        thread.setMuted(false)
        let all = frames.wait { frames in frames.filter(\.isKeyFrame).count == 2 }
        let key = try #require(all.last { $0.isKeyFrame })
        thread.stop()
        let picture = try #require(try VP8Decoder().decode(key.data))
        let newest = try StructuralSimilarity.luma(picture, TextPicture(size: size, seed: 5).i420)
        let other = try StructuralSimilarity.luma(picture, TextPicture(size: size, seed: 4).i420)
        #expect(newest > other + 0.2)
        #expect(thread.statistics.qualityLimitationReason == .none)
    }

    @Test("The waiting frame of an encoder muted from the start is encoded once unmuted")
    func mutedFromTheStart() throws {
        let thread = try start()
        let source = DirectSource()
        thread.show(source)
        thread.setMuted(true)
        source.receive(frame(0))
        thread.requestKeyFrame()
        #expect(thread.statistics.framesEncoded == 0)
        thread.setMuted(false)
        #expect(frames.wait { !$0.isEmpty }[0].isKeyFrame)
        thread.stop()
    }

    @Test("Rotation of frames is switched on and off while running, also for a static frame")
    func turns() throws {
        let thread = try start()
        thread.show(source)
        source.capture(frame(0, rotation: .quarter))
        let first = frames.wait { !$0.isEmpty }[0]
        #expect(first.rotation == .quarter && first.size == size)
        thread.update { $0.turnsPictures = true }
        let turned = frames.waitForLast { $0.rotation == .upright }
        #expect(turned.size == PixelSize(width: 240, height: 320) && turned.isKeyFrame)
        thread.update { $0.turnsPictures = false }
        _ = frames.wait { $0.last?.rotation == .quarter && $0.last?.size == size }
        thread.stop()
    }

    @Test("Switching rotation off also undoes a half turn, which keeps the size")
    func halfTurn() throws {
        let thread = try start()
        thread.show(source)
        source.capture(frame(0, rotation: .half))
        _ = frames.wait { !$0.isEmpty }
        thread.update { $0.turnsPictures = true }
        _ = frames.wait { $0.last?.rotation == .upright }
        thread.requestKeyFrame()
        let key = frames.waitForLast { $0.rotation == .upright && $0.isKeyFrame }
        thread.stop()
        let expected = try VideoConverter().convert(frame(0).buffer, to: size, rotation: .half)
        let picture = try #require(try VP8Decoder().decode(key.data))
        #expect(try StructuralSimilarity.luma(picture, expected) > 0.8)
    }
}

/// The state that the thread shares, without the thread: its time is the test's.
@Suite("EncoderControl")
struct EncoderControlTests {
    private let size = PixelSize(width: 640, height: 360)

    private func frame(_ milliseconds: Int, damage: [PixelRectangle]? = nil) -> VideoFrame {
        VideoFrame(
            buffer: TextPicture(size: PixelSize(width: 16, height: 16)).i420, timestamp: .milliseconds(milliseconds),
            damage: damage)
    }

    private func encoded(_ quantizer: Int, isKeyFrame: Bool = false, byteCount: Int = 1) -> EncodingOutcome {
        .encoded(
            EncodedVideoFrame(
                data: [UInt8](repeating: 0, count: byteCount), format: .vp8, isKeyFrame: isKeyFrame, size: size,
                timestamp: .zero, quantizer: quantizer))
    }

    @Test(
        "No action is due while muted; afterwards the newest frame is due at once")
    func mute() {
        var state = EncoderControl(settings: .init(bitrate: .kilobitsPerSecond(1), framesPerSecond: 1), now: .zero)
        _ = state.receive(frame(0), now: .zero)
        state.cadence.begin(new: true, now: .zero)
        state.count(encoded(100, isKeyFrame: true), isRepetition: false, fullSize: size, begin: .zero, end: .zero)
        _ = state.receive(frame(600), now: .milliseconds(600))
        state.setMuted(true, now: .milliseconds(600))
        state.cadence.requestKeyFrame()
        for seconds in [1, 10, 1000] {
            #expect(state.cadence.action(now: .seconds(seconds)) == .wait(until: nil))
        }
        _ = state.receive(frame(700, damage: []), now: .milliseconds(700))
        state.setMuted(false, now: .milliseconds(701))
        #expect(state.cadence.action(now: .milliseconds(701)) == .encodeNew(asKeyFrame: true))
        state.cadence.begin(new: true, now: .zero)
        state.count(
            encoded(10, isKeyFrame: true), isRepetition: false, fullSize: size, begin: .milliseconds(701),
            end: .milliseconds(702))
        // Without a newer frame it is the last one.
        state.setMuted(true, now: .milliseconds(703))
        state.setMuted(false, now: .milliseconds(704))
        #expect(state.cadence.action(now: .milliseconds(704)) == .encodeAgain(asKeyFrame: false))
        // A bitrate of 0 pauses all the same.
        state.setMuted(true, now: .milliseconds(705))
        var settings = state.settings
        settings.bitrate = .zero
        state.apply(settings, now: .milliseconds(706))
        state.setMuted(false, now: .milliseconds(707))
        #expect(state.cadence.action(now: .seconds(100)) == .wait(until: nil))
    }

    @Test(
        "No action is due while the queue is full; afterwards the newest frame or a requested one is"
    )
    func fullQueue() {
        var state = EncoderControl(settings: .init(bitrate: .kilobitsPerSecond(1000)), now: .zero)
        _ = state.receive(frame(0), now: .zero)
        state.slot = nil
        state.cadence.begin(new: true, now: .zero)
        state.count(encoded(100, isKeyFrame: true), isRepetition: false, fullSize: size, begin: .zero, end: .zero)
        state.queueDidFill(true, now: .milliseconds(10))
        state.cadence.requestKeyFrame()
        for index in 1...3 { _ = state.receive(frame(index * 33), now: .milliseconds(index * 33)) }
        #expect(state.statistics.framesDropped == 2)
        for seconds in [1, 10, 1000] { #expect(state.cadence.action(now: .seconds(seconds)) == .wait(until: nil)) }
        state.queueDidFill(false, now: .seconds(1000))
        #expect(state.cadence.action(now: .seconds(1000)) == .encodeNew(asKeyFrame: true))
    }

    @Test("The cadence uses the governor's frame rate, and the frames' share of bits follows it down to a fifth")
    func governed() {
        var state = EncoderControl(settings: .init(bitrate: .kilobitsPerSecond(100), hint: .text), now: .zero)
        var now = Duration.zero
        var rates: Set<Double> = []
        while now < .seconds(120) {
            _ = state.receive(frame(Int(now / .milliseconds(1))), now: now)
            state.cadence.begin(new: true, now: .zero)
            // A third more than there are.
            let byteCount = Int(100_000 * 1.3 / 8 / state.cadence.framesPerSecond)
            state.count(
                encoded(110, isKeyFrame: now == .zero, byteCount: byteCount), isRepetition: false, fullSize: size,
                begin: now, end: now)
            #expect(
                state.cadence.framesPerSecond == state.order(isNew: true).framesPerSecond
                    || state.order(isNew: true).framesPerSecond == 5)
            rates.insert(state.cadence.framesPerSecond)
            now += .seconds(1) / state.cadence.framesPerSecond
        }
        #expect(rates.contains(30) && rates.count > 4 && rates.min() == 1)
        // Once the picture rests it is sharpened at the full rate, with a share of the bits to match.
        #expect(state.order(isNew: false).framesPerSecond == 30)
        let last = now - .seconds(1)
        let (early, late) = (last + .milliseconds(49), last + .milliseconds(51))
        #expect(state.cadence.action(now: early) != .encodeAgain(asKeyFrame: false))
        // A third more than there was is still to be paid for.
        guard case .wait(let paid?) = state.cadence.action(now: late) else {
            Issue.record("nothing is held")
            return
        }
        #expect(paid > late && state.cadence.action(now: paid) == .encodeAgain(asKeyFrame: false))
        #expect(state.order(isNew: true).sizes(for: frame(0)).full == state.order(isNew: true).sizes(for: frame(0)).now)
    }

    @Test("The lowest frame rate is the encoder's minimum", arguments: [0.001, 1e-300])
    func slowest(framesPerSecond: Double) throws {
        let state = EncoderControl(
            settings: .init(bitrate: .kilobitsPerSecond(100), framesPerSecond: framesPerSecond), now: .zero)
        for isNew in [true, false] {
            let rate = state.order(isNew: isNew).framesPerSecond
            #expect(rate == 0.01)
            _ = try VP8Encoder(
                configuration: .init(size: size, bitrate: .kilobitsPerSecond(100), framesPerSecond: rate))
        }
    }

    @Test(
        "A static frame is sharpened at the full rate, while a waiting frame keeps its time"
    )
    func sharpening() {
        var cadence = FrameCadence(framesPerSecond: 1)
        cadence.repetitionsPerSecond = 30
        cadence.frameArrived(timestamp: .zero, isChange: true, now: .zero)
        cadence.begin(new: true, now: .zero)
        cadence.encoded(isKeyFrame: true, isCoarse: true, now: .zero)
        #expect(cadence.action(now: .milliseconds(49)) != .encodeAgain(asKeyFrame: false))
        #expect(cadence.action(now: .milliseconds(51)) == .encodeAgain(asKeyFrame: false))
        cadence.frameArrived(timestamp: .milliseconds(100), isChange: true, now: .milliseconds(100))
        #expect(cadence.action(now: .milliseconds(100)) == .wait(until: .milliseconds(500)))
        #expect(cadence.action(now: .milliseconds(500)) == .encodeNew(asKeyFrame: false))
    }

    @Test("A static frame is sharpened again after it was encoded at another size")
    func sharpenedAfterResizing() {
        var state = EncoderControl(settings: .init(bitrate: .kilobitsPerSecond(1000)), now: .zero)
        _ = state.receive(frame(0), now: .zero)
        state.cadence.begin(new: true, now: .zero)
        state.count(encoded(10, isKeyFrame: true), isRepetition: false, fullSize: size, begin: .zero, end: .zero)
        let now = Duration.seconds(20)
        state.cadence.begin(new: false, now: .zero)
        state.count(
            .encoded(
                EncodedVideoFrame(
                    data: [0], format: .vp8, isKeyFrame: true, size: PixelSize(width: 320, height: 180),
                    timestamp: now, quantizer: 100)),
            isRepetition: true, fullSize: size, begin: now, end: now)
        #expect(state.cadence.action(now: now + .milliseconds(51)) == .encodeAgain(asKeyFrame: false))
    }

    @Test("The encoding parameters of motion have the reduced and the full size")
    func motion() {
        var state = EncoderControl(settings: .init(bitrate: .kilobitsPerSecond(100)), now: .zero)
        state.sourceHintDidChange(.motion, now: .zero)
        for index in 0..<70 {
            let now = Duration.milliseconds(index * 33)
            _ = state.receive(frame(index * 33), now: now)
            state.cadence.begin(new: true, now: .zero)
            state.count(
                encoded(110), isRepetition: false, fullSize: PixelSize(width: 1280, height: 720), begin: now, end: now)
        }
        let buffer = PixelBuffer(size: PixelSize(width: 1280, height: 720), format: .bgra) { _, _ in }
        let sizes = state.order(isNew: true).sizes(for: VideoFrame(buffer: buffer, timestamp: .zero))
        #expect(sizes.full == buffer.size && sizes.now == PixelSize(width: 960, height: 540))
        #expect(state.cadence.framesPerSecond == 30)
    }

    @Test("An encoder begins and resumes with the hint of another encoder of the same content")
    func foundHint() {
        let usual = VideoEncoder.Settings(bitrate: .kilobitsPerSecond(1000))
        var (settings, paused) = (usual, usual)
        settings.foundHint = .motion
        paused.bitrate = .zero
        var state = EncoderControl(settings: settings, now: .zero)
        _ = state.forgetPicture(now: .zero)
        #expect(state.hint == .motion && state.governor.hint == .motion)
        // Another track has no hint yet.
        state.apply(usual, now: .zero)
        _ = state.forgetPicture(now: .zero)
        #expect(state.hint == .detail)
        state.apply(settings, now: .seconds(1))
        #expect(state.hint == .detail)
        state.apply(paused, now: .seconds(2))
        state.apply(settings, now: .seconds(9))
        #expect(state.hint == .motion && state.governor.hint == .motion)
    }

    @Test(
        "Camera tuning is used for content hinted or assumed to be motion, but not for detected video",
        arguments: [
            (ContentHint?.none, ContentHint.motion, ContentHint?.none, true), (.motion, .none, nil, true),
            (nil, .none, .motion, true), (nil, .detail, .motion, false), (.detail, .motion, nil, false),
            (nil, .none, nil, false), (.text, .none, .motion, false),
        ])
    func cameraTuning(setting: ContentHint?, source: ContentHint, assumed: ContentHint?, isCamera: Bool) {
        var settings = VideoEncoder.Settings(bitrate: .kilobitsPerSecond(800), hint: setting)
        settings.assumedHint = assumed
        var state = EncoderControl(settings: settings, now: .zero)
        state.sourceHintDidChange(source, now: .zero)
        let order = state.order(isNew: true)
        #expect(order.isCamera == isCamera)
        #expect((state.hint == .motion) == isCamera)
    }
}
