import RTCShareLocks
import RTCShareMedia
import TestSupport
import Testing

@testable import RTCShareVideoCoding
import RTCShareWireFormat

/// An encoder that is given what changes at random, and looks for drift after each picture.
private struct CheckedStream {
    let encoder: VP8Encoder
    private let standing: StandingPicture
    private var picture: ChangingPicture
    private var numbers: SeededNumbers
    private var changed: MacroblockMap
    private var time = Duration.zero

    init(_ size: PixelSize, _ extent: DriftCheck.Extent, seed: UInt64) throws {
        encoder = try VP8Encoder(
            configuration: .init(size: size, bitrate: .kilobitsPerSecond(8000)), driftCheck: DriftCheck(extent))
        standing = try StandingPicture(size: size)
        picture = ChangingPicture(size: size, seed: seed)
        numbers = SeededNumbers(seed)
        changed = MacroblockMap(size: size)
    }

    /// The kind of frame as which a picture is encoded.
    enum Kind {
        case any, ours, library, keyFrame
    }

    /// Encodes another picture, and sometimes a scroll; what was made, and whether viewers have something else.
    mutating func step(
        _ kind: Kind = .any, after interval: Duration = .milliseconds(33)
    ) throws -> (frames: [EncodedVideoFrame], hasDrifted: Bool) {
        time += interval
        if Int.random(in: 0..<8, using: &numbers) > 0 { picture.change(&numbers) }
        try standing.update(from: picture.i420, parts: nil, changed: &changed)
        let isLibrary = kind == .library || kind == .any && Int.random(in: 0..<6, using: &numbers) == 0
        let outcome = try encoder.encode(
            standing, timestamp: time, asKeyFrame: kind == .keyFrame, changed: isLibrary ? nil : changed)
        var frames: [EncodedVideoFrame] = []
        if case .encoded(let frame) = outcome {
            frames.append(frame)
            changed.removeAll()
        }
        if kind == .any, Int.random(in: 0..<4, using: &numbers) == 0,
            let scroll = Scroll.random(size: encoder.configuration.size, using: &numbers),
            let moved = try encoder.encodeScroll(scroll, timestamp: time + .milliseconds(1))
        {
            frames.append(moved)
            changed.insertAll()
        }
        return (frames, try encoder.findsDrift())
    }

    /// Makes one sample of what the encoder builds on another one than viewers have.
    func damage() throws {
        _ = try encoder.changeReference { (picture) -> Void? in
            picture.samples.planes[1][7] ^= 1
            return ()
        }
    }
}

@Suite("DriftCheck")
struct DriftCheckTests {
    private static let size = PixelSize(width: 320, height: 240)

    @Test(
        "The decoder's reference frames equal the encoder's, whichever encoder made the frames",
        arguments: [(320, 240, 1), (333, 201, 2), (49, 65, 3)])
    func agreement(width: Int, height: Int, seed: UInt64) throws {
        var stream = try CheckedStream(PixelSize(width: width, height: height), .everything, seed: seed)
        var (ours, keyFrames) = (0, 0)
        for index in 0..<300 {
            let (frames, hasDrifted) = try stream.step(index % 70 == 69 ? .keyFrame : .any)
            try #require(!hasDrifted, "\(index)")
            #expect(stream.encoder.driftCheck.isFollowing)
            ours += frames.count { $0.isPartialUpdate }
            keyFrames += frames.count { $0.isKeyFrame }
        }
        #expect(ours > 150 && keyFrames == 5, "\(ours) \(keyFrames)")
    }

    @Test("One differing sample is detected with the next frame and corrected by a key frame")
    func lastPicture() throws {
        for next in [CheckedStream.Kind.ours, .library] {
            var stream = try CheckedStream(Self.size, .everything, seed: 4)
            for _ in 0..<20 { #expect(try !stream.step().hasDrifted) }
            try stream.damage()
            #expect(try stream.step(next).hasDrifted)
            let (frames, hasDrifted) = try stream.step(.ours)
            #expect(frames.map(\.isKeyFrame) == [true] && !hasDrifted)
            for _ in 0..<20 { #expect(try !stream.step().hasDrifted) }
        }
    }

    @Test("A differing golden frame in libvpx is detected before it is used")
    func golden() throws {
        var stream = try CheckedStream(Self.size, .everything, seed: 5)
        for _ in 0..<20 { #expect(try !stream.step().hasDrifted) }
        let grey = ReferencePicture(size: Self.size)
        try stream.encoder.library.context.copy(.golden, to: grey)
        grey.samples.planes[0][0] ^= 255
        #expect(try !stream.step(.library).hasDrifted)
        try stream.encoder.library.context.set(.golden, to: grey)
        #expect(try stream.step(.library).hasDrifted)
        #expect(try stream.step(.ours).frames.map(\.isKeyFrame) == [true])
    }

    @Test("Release builds check frames after a key frame for a while, and one of our frames a minute later")
    func samples() throws {
        var stream = try CheckedStream(Self.size, .samples, seed: 6)
        func follows() -> Bool { stream.encoder.driftCheck.isFollowing }
        #expect(try !stream.step(.any, after: .milliseconds(5)).hasDrifted && follows())
        var count = 1
        while follows(), count < 2000 {
            #expect(try !stream.step(.any, after: .milliseconds(5)).hasDrifted)
            count += 1
        }
        // Scrolls are beside the pictures.
        #expect((DriftCheck.sampleLength / 300 / 2...DriftCheck.sampleLength / 300).contains(count), "\(count)")
        for _ in 0..<100 {
            _ = try stream.step()
            #expect(!follows())
        }
        // A key frame within the minute is not the beginning of another.
        #expect(try stream.step(.keyFrame).frames[0].isKeyFrame && !follows())
        _ = try stream.step(.ours)
        #expect(try stream.step(.ours, after: DriftCheck.interval).frames[0].isPartialUpdate && follows())
        // It is of the next frame alone.
        #expect(try !stream.step(.ours).hasDrifted && !follows())
        _ = try stream.step(.ours, after: DriftCheck.interval)
        #expect(follows())
        try stream.damage()
        #expect(try stream.step(.ours).hasDrifted && !follows())
        #expect(try stream.step(.ours).frames.map(\.isKeyFrame) == [true])
        // One of libvpx's goes by more than the decoder was given.
        _ = try stream.step(.ours)
        _ = try stream.step(.ours, after: DriftCheck.interval)
        #expect(follows())
        #expect(try !stream.step(.library).hasDrifted && !follows())
        _ = try stream.step(.ours)
        #expect(!follows())
        // And a key frame after a minute is looked at with what follows.
        #expect(try !stream.step(.keyFrame, after: DriftCheck.interval).hasDrifted && follows())
        #expect(try !stream.step(.library).hasDrifted && follows())
        try stream.damage()
        #expect(try stream.step(.ours).hasDrifted)
    }

    @Test("Release builds check a static screen for some seconds")
    func sampleTime() throws {
        var stream = try CheckedStream(Self.size, .samples, seed: 8)
        for _ in 0..<DriftCheck.sampleTime.components.seconds {
            #expect(try !stream.step(.ours, after: .seconds(1)).hasDrifted)
            #expect(stream.encoder.driftCheck.isFollowing)
        }
        #expect(try !stream.step(.ours, after: .seconds(1)).hasDrifted)
        #expect(!stream.encoder.driftCheck.isFollowing)
    }

    @Test("The drift check decodes no frame without partial updates")
    func withoutPartialUpdates() throws {
        var stream = try CheckedStream(Self.size, .everything, seed: 7)
        var configuration = stream.encoder.configuration
        configuration.usesPartialUpdates = false
        try stream.encoder.reconfigure(configuration)
        for _ in 0..<10 { #expect(try !stream.step().hasDrifted && !stream.encoder.driftCheck.isFollowing) }
    }

    @Test("A detected drift causes a key frame, an event and a count")
    func outcome() throws {
        let mailbox = Mailbox(
            EncoderControl(settings: .init(bitrate: .kilobitsPerSecond(2000), hint: .text), now: .zero))
        let drifts = Mailbox(0)
        let frames = Mailbox([EncodedVideoFrame]())
        var worker = VideoEncoder.Worker(
            codec: .vp8, mailbox: mailbox, onFrame: { frame, _ in frames.post { $0.append(frame) } },
            onEvent: { event in
                if case .drifted = event { drifts.post { $0 += 1 } } else { Issue.record("\(event)") }
            })
        var text = TextPicture(size: Self.size)
        func encode(_ index: Int) {
            text.draw(0x7E42_4242_7E02_827E, x: 40 + index * 8, y: 100)
            let frame = VideoFrame(buffer: text.i420, timestamp: .seconds(index) / 30)
            let order = mailbox.post { state in
                state.begin(new: true, now: frame.timestamp)
                return state.order(isNew: true)
            }
            worker.encode(frame, asKeyFrame: false, order: order)
        }
        for index in 0..<10 { encode(index) }
        #expect(drifts.read { $0 } == 0 && frames.read { $0[9].isPartialUpdate })
        _ = try (worker.encoder as? VP8Encoder)?.changeReference { (picture) -> Void? in
            picture.samples.planes[0][0] ^= 1
            return ()
        }
        encode(10)
        #expect(drifts.read { $0 } == 1)
        #expect(mailbox.read { $0.statistics.driftsDetected } == 1)
        // Where nothing new comes it is made of what there is.
        let action = mailbox.post { $0.cadence.action(now: CaptureClock.now + .seconds(1)) }
        guard case .encodeAgain(asKeyFrame: true) = action else {
            Issue.record("\(action)")
            return
        }
        encode(11)
        encode(12)
        #expect(frames.read { $0.map(\.isKeyFrame) }.suffix(3) == [false, true, false])
        #expect(drifts.read { $0 } == 1)
    }
}
