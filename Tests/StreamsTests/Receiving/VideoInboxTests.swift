import RTCShareLocks
import RTCShareMedia
import RTCShareRTP
import RTCShareWireFormat
import Testing

@testable import RTCSharePeerConnection
@testable import RTCShareStreams
@testable import RTCShareTransport

/// The effect of each event in each stage of a video inbox.
@Suite struct VideoInboxTests {
    private static let (key, delta) = (frame(isKey: true), frame(isKey: false))

    static func frame(isKey: Bool, byteCount: Int = 10) -> AssembledFrame {
        var data: [UInt8] = isKey ? [0x10, 0, 0, 0x9D, 0x01, 0x2A, 0x10, 0, 0x20, 0] : [0x11, 0, 0]
        data += [UInt8](repeating: 0, count: max(0, byteCount - data.count))
        return AssembledFrame(
            data: data, format: .vp8,
            header: isKey
                ? VideoFrameHeader(isKeyFrame: true, width: 16, height: 32) : VideoFrameHeader(isKeyFrame: false),
            timestamp: RTPTimestamp(0), pictureID: nil, packetCount: 1,
            firstArrival: Instant(nanoseconds: 0), completion: Instant(nanoseconds: 0))
    }

    /// An inbox in a stage, after a key frame for the decoder. It is `watched` while it is announced if a sink is there by then.
    private static func inbox(_ stage: String) -> VideoInbox {
        var inbox = VideoInbox()
        guard stage != "unannounced" else { return inbox }
        _ = inbox.receive(key)
        if stage == "announcing" { return inbox }
        if stage != "idle" { _ = inbox.setWatched(true) }
        if stage == "watched" { return inbox }
        _ = inbox.announced()
        if stage == "ended" { inbox.finish() }
        return inbox
    }

    enum Event: String, CaseIterable {
        case keyFrame, deltaFrame, overflow, largeFrames, announced, sinks, noSinks, recorder, pause, resume
        case undecodable, finish
    }

    /// Does it; returns whether a key frame must be requested.
    private static func apply(_ event: Event, to inbox: inout VideoInbox) -> Bool {
        func receive(_ frames: [AssembledFrame]) -> Bool {
            frames.map { inbox.receive($0).needsKeyFrame }.contains(true)
        }
        switch event {
        case .keyFrame: return receive([key])
        case .deltaFrame: return receive([delta])
        case .overflow: return receive([AssembledFrame](repeating: delta, count: VideoInbox.maximumFrames))
        case .largeFrames: return receive([frame(isKey: false, byteCount: VideoInbox.maximumBytes)])
        case .announced:
            while inbox.announced() != nil {}
        case .sinks: return inbox.setWatched(true)
        case .noSinks: return inbox.setWatched(false)
        case .recorder: return inbox.add { _ in }.needsKeyFrame
        case .pause: return inbox.setPaused(true)
        case .resume:
            _ = inbox.setPaused(true)
            return inbox.setPaused(false)
        case .undecodable: return inbox.didNotDecode()
        case .finish: inbox.finish()
        }
        return false
    }

    /// Returns the number of frames that wait for the decoder.
    private static func waiting(_ inbox: VideoInbox) -> Int {
        var inbox = inbox
        var count = 0
        while case .done(.some(_)) = inbox.next() { count += 1 }
        return count
    }

    /// The stage after an event, "?" if a key frame is requested, and the number of frames that the decoder has then.
    private static let table: [(stage: String, expected: [Event: String])] = [
        (
            "unannounced",
            [
                .keyFrame: "announcing 0", .deltaFrame: "unannounced? 0", .overflow: "unannounced? 0",
                .largeFrames: "unannounced? 0", .announced: "unannounced 0", .sinks: "unannounced 0",
                .noSinks: "unannounced 0", .recorder: "unannounced 0", .pause: "unannounced 0",
                .resume: "unannounced 0", .undecodable: "unannounced 0", .finish: "ended 0",
            ]
        ),
        (
            "announcing",
            [
                .keyFrame: "announcing 0", .deltaFrame: "announcing 0", .overflow: "announcing? 0",
                .largeFrames: "announcing? 0", .announced: "idle 0", .sinks: "announcing 0", .noSinks: "announcing 0",
                .recorder: "announcing 0", .pause: "announcing 0", .resume: "announcing? 0",
                .undecodable: "announcing 0", .finish: "ended 0",
            ]
        ),
        (
            "watched",
            [
                .keyFrame: "announcing 0", .deltaFrame: "announcing 0", .overflow: "announcing? 0",
                .largeFrames: "announcing? 0", .announced: "decoding 1", .sinks: "announcing 0",
                .noSinks: "announcing 0", .recorder: "announcing 0", .pause: "announcing 0",
                .resume: "announcing? 0", .undecodable: "announcing 0", .finish: "ended 0",
            ]
        ),
        (
            "idle",
            [
                .keyFrame: "idle 0", .deltaFrame: "idle 0", .overflow: "idle 0", .largeFrames: "idle 0",
                .announced: "idle 0", .sinks: "decoding? 0", .noSinks: "idle 0", .recorder: "idle? 0", .pause: "idle 0",
                .resume: "idle 0", .undecodable: "idle 0", .finish: "ended 0",
            ]
        ),
        (
            "decoding",
            [
                .keyFrame: "decoding 2", .deltaFrame: "decoding 2", .overflow: "decoding? 0",
                .largeFrames: "decoding? 0", .announced: "decoding 1", .sinks: "decoding 1", .noSinks: "idle 0",
                .recorder: "decoding? 1", .pause: "decoding 1", .resume: "decoding? 1", .undecodable: "decoding 1",
                .finish: "ended 1",
            ]
        ),
        (
            "ended",
            [
                .keyFrame: "ended 1", .deltaFrame: "ended 1", .overflow: "ended 1", .largeFrames: "ended 1",
                .announced: "ended 1", .sinks: "ended 1", .noSinks: "ended 1", .recorder: "ended 1", .pause: "ended 1",
                .resume: "ended 1", .undecodable: "ended 1",
                .finish: "ended 1",
            ]
        ),
    ]

    @Test("The time without a sink, or of a paused video, is neither a freeze nor a pause")
    func unwatchedTime() {
        var inbox = Self.inbox("decoding")
        var now = Duration.zero
        func decode(after time: Duration) {
            now += time
            let instant = Instant(nanoseconds: 0).advanced(by: now)
            inbox.didDecode(
                Self.key, size: PixelSize(width: 16, height: 32), quantizer: 9, from: instant, to: instant)
        }
        for _ in 0..<10 { decode(after: .milliseconds(100)) }
        for isWatched in [false, true] { _ = inbox.setWatched(isWatched) }
        decode(after: .seconds(3))
        _ = inbox.setPaused(true)
        _ = inbox.setPaused(false)
        decode(after: .seconds(9))
        #expect(inbox.decoderStatistics?.delays.freezeCount == 0 && inbox.decoderStatistics?.delays.pauseCount == 0)
        decode(after: .seconds(3))
        #expect(inbox.decoderStatistics?.delays.freezeCount == 1)
    }

    @Test("The sum of quantizers is unknown once a decoder does not report one")
    func quantizers() {
        var inbox = Self.inbox("decoding")
        for (quantizer, sum) in [(9, 9), (3, 12), (nil, nil), (3, nil)] as [(Int?, Int?)] {
            let now = Instant(nanoseconds: 0)
            inbox.didDecode(
                Self.key, size: PixelSize(width: 16, height: 32), quantizer: quantizer, from: now, to: now)
            #expect(inbox.decoderStatistics?.qpSum == sum)
        }
    }

    @Test("A recorder that has ended gets nothing, and no key frame is requested for it")
    func endedRecorders() {
        var inbox = Self.inbox("idle")
        let numbers = (0..<2).map { _ in inbox.add { _ in }.number }
        #expect(inbox.receive(Self.key).recorders.count == 2)
        inbox.removeRecorder(numbers[0])
        #expect(inbox.receive(Self.delta).recorders.count == 1)
        #expect(Self.apply(.resume, to: &inbox))
        inbox.removeRecorder(numbers[1])
        #expect(inbox.receive(Self.key).recorders.isEmpty)
        #expect(!Self.apply(.resume, to: &inbox))
    }

    @Test("Dropped frames are returned once, to be freed without the lock")
    func releasedFrames() {
        var inbox = Self.inbox("decoding")
        _ = inbox.receive(Self.delta)
        #expect(inbox.takeReleased().isEmpty)
        _ = inbox.setWatched(false)
        #expect(inbox.takeReleased().count == 2)
        #expect(inbox.takeReleased().isEmpty)
    }

    @Test("Each event leads each stage to that of the diagram, and requests a key frame only if one is awaited")
    func stages() {
        for (stage, expected) in Self.table {
            for event in Event.allCases {
                var inbox = Self.inbox(stage)
                let needsKeyFrame = Self.apply(event, to: &inbox)
                let result = "\(inbox.stage)\(needsKeyFrame ? "?" : "") \(Self.waiting(inbox))"
                #expect(result == expected[event], "\(event.rawValue) while \(stage)")
            }
        }
    }

    @Test("Frames that arrive before the program knows of the video go to the sinks and recorders that it then adds")
    func keptFrames() {
        var inbox = VideoInbox()
        for frame in [Self.delta, Self.key, Self.delta, Self.delta] { _ = inbox.receive(frame) }
        #expect(inbox.framesDropped == 1, "what came before the key frame")
        let needsKeyFrame = [Event.sinks, .recorder].map { Self.apply($0, to: &inbox) }
        #expect(needsKeyFrame == [false, false] && Self.waiting(inbox) == 0)
        var recorded: [Bool] = []
        while let (frame, recorders) = inbox.announced() {
            #expect(recorders.count == 1)
            recorded.append(frame.isKeyFrame)
            // Frames come meanwhile, and stay in order.
            if recorded.count == 2 { #expect(inbox.receive(Self.delta).recorders.isEmpty) }
        }
        #expect(recorded == [true, false, false, false])
        #expect(inbox.stage == .decoding && Self.waiting(inbox) == 4)
        #expect(inbox.receive(Self.delta).recorders.count == 1)
    }

    @Test("Too many waiting frames are dropped, counted and followed by a key frame", arguments: [true, false])
    func overflow(whileAnnouncing: Bool) {
        var inbox = Self.inbox(whileAnnouncing ? "watched" : "decoding")
        var requests = 0
        for _ in 0..<3 * VideoInbox.maximumFrames where inbox.receive(Self.delta).needsKeyFrame { requests += 1 }
        #expect(inbox.framesDropped == 3 * VideoInbox.maximumFrames + 1)
        while inbox.announced() != nil {}
        #expect(requests == 1)
        #expect(Self.waiting(inbox) == 0)
        for frame in [Self.key, Self.delta] { #expect(!inbox.receive(frame).needsKeyFrame) }
        #expect(Self.waiting(inbox) == 2)
    }

    @Test(
        "Frames after one that does not decode are dropped, and a key frame is requested if none waits"
    )
    func undecodableFrame() {
        var inbox = Self.inbox("decoding")
        for frame in [Self.delta, Self.delta, Self.key, Self.delta] { _ = inbox.receive(frame) }
        _ = inbox.next()
        var needsKeyFrame = inbox.didNotDecode()
        #expect(!needsKeyFrame, "the next key frame is here")
        #expect(Self.waiting(inbox) == 2 && inbox.framesDropped == 3)
        #expect(!inbox.receive(Self.delta).needsKeyFrame && Self.waiting(inbox) == 3)
        for _ in 0..<3 { _ = inbox.next() }
        needsKeyFrame = inbox.didNotDecode()
        _ = inbox.receive(Self.delta)
        #expect(needsKeyFrame && Self.waiting(inbox) == 0 && inbox.framesDropped == 5)
    }

    @Test("A paused video gives recorders and the decoder nothing, and continues with a key frame")
    func pause() {
        var inbox = Self.inbox("decoding")
        var requests = [Self.apply(.recorder, to: &inbox)]
        #expect(inbox.receive(Self.key).recorders.count == 1)
        requests.append(Self.apply(.pause, to: &inbox))
        #expect(inbox.receive(Self.key).recorders.isEmpty && Self.waiting(inbox) == 2)
        requests.append(inbox.setPaused(false))
        requests.append(inbox.setPaused(false))
        #expect(requests == [true, false, true, false])
        #expect(inbox.receive(Self.delta).recorders.isEmpty && Self.waiting(inbox) == 2)
        #expect(inbox.receive(Self.key).recorders.count == 1 && Self.waiting(inbox) == 3)
        // Paused by an observer of its beginning, it requests a key frame when it continues.
        var new = Self.inbox("watched")
        requests = [Event.pause, .announced].map { Self.apply($0, to: &new) }
        #expect(new.stage == .decoding && Self.waiting(new) == 0)
        requests.append(new.setPaused(false))
        #expect(requests == [false, false, true])
    }

    @Test("A changed size is reported with its rotation applied")
    func size() {
        var inbox = VideoInbox()
        var turned = Self.key
        turned.quarterTurns = 3
        let sizes = [Self.delta, Self.key, Self.delta, Self.key, turned].map { inbox.receive($0).size?.description }
        #expect(sizes == [nil, "16x32", nil, nil, "32x16"])
    }
}
