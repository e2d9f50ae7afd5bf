import RTCShareCapture
import RTCShareMedia
import RTCSharePeerConnection
import RTCShareTransport
import TestSupport
import Testing

@testable import RTCShareContentShare

/// Late starts and ends of sessions.
@Suite(.timeLimit(.minutes(2)))
struct SessionEndTests {
    @Test("Media without a section in the offer are sent after the next offer and its answer")
    func nextOffer() async throws {
        let pair = try await Pair([.camera])
        let face = try pattern(192, 144)
        try await pair.alice.startCamera(source: face)
        await pair.tiles.pictures.wait(count: 1)
        let screen = try pattern(320, 180)
        let music = try ToneSource(frequency: 440)
        let voice = try ToneSource(frequency: 1000)
        try music.start()
        try voice.start()
        try await pair.alice.contentShare.start(source: screen, audio: music)
        try await pair.alice.startMicrophone(source: voice)
        // Video that can't be sent yet is not reported.
        await pair.tiles.pictures.wait(count: pair.tiles.pictures.entries.count + 5)
        #expect(pair.sharing.log.entries.isEmpty && pair.tiles.kindsButPauses == [.added])
        let (media, before) = try #require(await pair.alice.stats().outboundRTP.first { $0.value.encoder != nil })
        try await pair.alice.connect(to: pair.bob)
        await pair.sharing.log.wait(count: 1)
        #expect(pair.sharing.log.entries == [.didStart])
        #expect(await pair.tiles.wait(for: .added, count: 2)?.attendeeID.rawValue == "alice#content")
        await pair.tiles.pictures.wait { $0.contains { $0.size.width == 320 } }
        await pair.sounds.hear(440, of: "alice#content")
        await pair.sounds.hear(1000, of: "alice")
        // The media that were sent before continue, without a key frame that was not requested.
        let after = try #require(await pair.alice.stats().outboundRTP[media])
        let keyFrames = try [before, after].map { try #require($0.encoder).keyFramesEncoded }
        let requests = try [before, after].map { stream in
            let video = try #require(stream.video)
            return Int(video.pliCount + video.firCount)
        }
        #expect(keyFrames[1] - keyFrames[0] <= requests[1] - requests[0])
        #expect(pair.tiles.kindsButPauses == [.added, .added])
        await pair.end()
        screen.stop()
        face.stop()
        music.stop()
        voice.stop()
    }

    @Test("The end of an audio stream is reported, and the audio can start again")
    func soundStops() async throws {
        let pair = try await Pair([.microphone])
        let voice = try ToneSource(frequency: 440)
        try voice.start()
        try await pair.alice.startMicrophone(source: voice)
        await pair.sounds.log.wait(count: 1)
        await pair.alice.stopMicrophone()
        await pair.sounds.log.wait(count: 2)
        #expect(await pair.bob.audio.streams.isEmpty)
        var updates = await pair.bob.audio.updates.makeAsyncIterator()
        #expect(await updates.next(isolation: nil) == [])
        let other = try ToneSource(frequency: 1000)
        try other.start()
        try await pair.alice.startMicrophone(source: other)
        await pair.sounds.log.wait(count: 3)
        #expect(await updates.next(isolation: nil)?.map(\.attendeeID.rawValue) == ["alice"])
        #expect(pair.sounds.log.entries == [.added("alice"), .removed("alice"), .added("alice")])
        await pair.sounds.hear(1000, of: "alice")
        #expect(await pair.alice.microphoneTrack?.source === other)
        await pair.end()
        // The end is reported after all received audio was passed on.
        await pair.sounds.log.wait(count: 4)
        #expect(pair.sounds.log.entries.last == .removed("alice"))
        voice.stop()
        other.stop()
    }

    @Test("A viewer who leaves ends the session and the share, and no share can start after that")
    func viewerLeaves() async throws {
        let pair = try await Pair()
        let screen = try pattern(192, 144)
        try await pair.alice.contentShare.start(source: screen)
        await pair.tiles.pictures.wait(count: 1)
        // The sharer may get to know of the first frame after its viewer.
        await pair.sharing.log.wait(count: 1)
        await pair.bob.leave()
        try await pair.alice.waitUntilEnd()
        #expect(pair.sharing.log.entries == [.didStart, .didStop(.closedByPeer)])
        await #expect(throws: ContentShareError.ended) { try await pair.alice.contentShare.start(source: screen) }
        await #expect(throws: ContentShareError.ended) { try await pair.alice.contentShare.stop() }
        await #expect(throws: ContentShareError.ended) { try await pair.alice.startCamera(source: screen) }
        await #expect(throws: ContentShareError.ended) {
            try await pair.alice.startMicrophone(source: PushAudioSource())
        }
        #expect(pair.tiles.kindsButPauses == [.added, .removed])
        await pair.alice.leave()
        await pair.alice.leave()
        try await pair.alice.waitUntilEnd()
        #expect(pair.sharing.log.entries.count == 2)
        await waitUntil { !screen.broadcaster.hasSinks }
        screen.stop()
    }

    @Test("A start and a stop before there is a viewer cause one end")
    func stopBeforeViewer() async throws {
        let pair = try await Pair(connects: false)
        let screen = try pattern(192, 144)
        try await pair.alice.contentShare.start(source: screen)
        #expect(!screen.broadcaster.hasSinks, "nothing is encoded for nobody")
        try await pair.alice.contentShare.start(source: screen)
        #expect(pair.sharing.log.entries == [.didStop(.replaced)])
        try await pair.alice.contentShare.stop()
        #expect(pair.sharing.log.entries == [.didStop(.replaced), .didStop(.ok)])
        await #expect(throws: ContentShareError.notSharing) { try await pair.alice.contentShare.stop() }
        try await pair.alice.contentShare.start(source: screen)
        try await pair.alice.connect(to: pair.bob)
        await pair.sharing.log.wait(count: 3)
        #expect(pair.sharing.log.entries.last == .didStart)
        await pair.end()
        screen.stop()
    }

    @Test("Media that were stopped during an offer are sent again after the following offer")
    func offerAfterStop() async throws {
        let pair = try await Pair([.content, .camera])
        let face = try pattern(192, 144)
        let screen = try pattern(320, 180)
        try await pair.alice.startCamera(source: face)
        try await pair.alice.contentShare.start(source: screen)
        _ = await pair.tiles.wait(for: .added, count: 2)
        await pair.sharing.log.wait(count: 1)
        try await pair.alice.contentShare.stop()
        _ = await pair.tiles.wait(for: .removed)
        try await pair.alice.connect(to: pair.bob)
        try await pair.alice.contentShare.start(source: screen)
        await pair.tiles.pictures.wait(count: pair.tiles.pictures.entries.count + 5)
        try await pair.alice.connect(to: pair.bob)
        await pair.sharing.log.wait(count: 3)
        #expect(await pair.tiles.wait(for: .added, count: 3)?.isContent == true)
        #expect(pair.sharing.log.entries == [.didStart, .didStop(.ok), .didStart])
        await pair.end()
        face.stop()
        screen.stop()
    }

    @Test("A viewer who does not answer fails the session and the share with the reason")
    func absentViewer() async throws {
        var configuration = Pair.configuration
        configuration.connectTimeout = .milliseconds(500)
        let alice = try await AttendeeSession.offering(as: AttendeeID("alice"), configuration: configuration)
        let bob = try await AttendeeSession.viewing(as: AttendeeID("bob"), configuration: configuration)
        let log = ShareLog()
        alice.contentShare.add(observer: log)
        try await alice.contentShare.start(source: PushVideoSource())
        let offer = try await alice.connection.makeOffer()
        let answer = try await bob.connection.answer(offer: offer)
        await bob.leave()
        try await alice.connection.accept(answer: answer, to: offer)
        await #expect(throws: ConnectionError.self) { try await alice.waitUntilEnd() }
        guard case .didStop(.connectionFailed(let reason)) = log.log.entries.first else {
            Issue.record("\(log.log.entries)")
            return
        }
        #expect(reason.contains("no route"))
        #expect(log.log.entries.count == 1)
        await alice.leave()
        await #expect(throws: ConnectionError.self) { try await alice.waitUntilEnd() }
    }

    @Test("The failure of a source is reported, and its last frame stays until the share is stopped")
    func sourceFails() async throws {
        struct Failure: Error {}
        let pair = try await Pair()
        let source = PushVideoSource()
        try await pair.alice.contentShare.start(source: source)
        let frames = Task {
            while !Task.isCancelled {
                source.capture(grey(192, 144))
                try await Task.sleep(for: .milliseconds(50))
            }
        }
        await pair.sharing.log.wait(count: 1)
        frames.cancel()
        _ = await frames.result
        source.end(error: Failure())
        await pair.sharing.log.wait(count: 2)
        #expect(pair.sharing.log.entries == [.didStart, .sourceDidEnd("Failure()")])
        #expect(await pair.alice.contentShare.isSharing)
        // The last frame is still sent: it is repeated each second.
        await pair.tiles.pictures.wait(count: pair.tiles.pictures.entries.count + 1)
        try await pair.alice.contentShare.stop()
        _ = await pair.tiles.wait(for: .removed)
        await pair.end()
        #expect(pair.sharing.log.entries == [.didStart, .sourceDidEnd("Failure()"), .didStop(.ok)])
    }

    @Test("Unusable frames are reported, and the share continues")
    func unusableFrames() async throws {
        final class Observer: CaptureSourceObserver {
            let log = EventLog<CaptureSourceError.Kind>()
            func captureDidFail(error: CaptureSourceError) { log.append(error.kind) }
        }
        struct Short: VideoFrameBuffer {
            let size = PixelSize(width: 64, height: 64)
            let format = PixelFormat.bgra
            func withPlanes<Result>(_ body: (borrowing PlaneSet) throws -> Result) rethrows -> Result {
                try [UInt8](repeating: 0, count: 16).withUnsafeBytes {
                    try body(PlaneSet(planes: [$0], strides: [256]))
                }
            }
        }
        let pair = try await Pair()
        let source = PushVideoSource()
        let observer = Observer()
        source.add(observer: observer)
        try await pair.alice.contentShare.start(source: source)
        source.capture(VideoFrame(buffer: Short(), timestamp: .zero))
        #expect(observer.log.entries == [.invalidFrame] && source.framesRefused == 1)
        let frames = Task {
            while !Task.isCancelled {
                source.capture(grey(192, 144))
                try await Task.sleep(for: .milliseconds(50))
            }
        }
        await pair.tiles.pictures.wait(count: 1)
        frames.cancel()
        // The sharer may get to know of the first frame after its viewer.
        await pair.sharing.log.wait(count: 1)
        #expect(pair.sharing.log.entries == [.didStart])
        await pair.end()
    }
}
