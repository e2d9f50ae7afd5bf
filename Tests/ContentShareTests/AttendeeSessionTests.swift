import RTCShareCapture
import RTCShareMedia
import RTCSharePeerConnection
import RTCShareTransport
import RTCShareWireFormat
import TestSupport
import Testing

@testable import RTCShareContentShare

/// Sessions that share and view over real sockets.
@Suite(.timeLimit(.minutes(2)))
struct AttendeeSessionTests {
    @Test("Content, its audio, camera and microphone arrive at the same time as separate media")
    func everythingAtOnce() async throws {
        let pair = try await Pair([.content, .contentAudio, .camera, .microphone])
        let screen = try pattern(320, 180)
        let face = try pattern(192, 144)
        let music = try ToneSource(frequency: 440)
        let voice = try ToneSource(frequency: 1000)
        try music.start()
        try voice.start()
        try await pair.alice.contentShare.start(source: screen, audio: music)
        try await pair.alice.startCamera(source: face)
        try await pair.alice.startMicrophone(source: voice)
        let content = try AttendeeID("alice#content")
        let seen = await pair.tiles.pictures.wait { pictures in
            pictures.count { $0.attendee == content } >= 5 && pictures.count { $0.attendee != content } >= 5
        }
        for picture in seen {
            #expect(picture.size == (picture.attendee == content ? screen : face).captureFormat.size)
            #expect(picture.counter != nil)
        }
        let counters = seen.filter { $0.attendee == content }.compactMap(\.counter)
        #expect(zip(counters, counters.dropFirst()).allSatisfy { $0 <= $1 })
        #expect(Set(seen.map(\.attendee.rawValue)) == ["alice", "alice#content"])
        let tiles = await pair.bob.tiles.tiles
        #expect(tiles.count { $0.isContent } == 1 && tiles.count == 2)
        await pair.sounds.hear(440, of: "alice#content")
        await pair.sounds.hear(1000, of: "alice")
        #expect(await Set(pair.bob.audio.streams.map(\.attendeeID.rawValue)) == ["alice", "alice#content"])
        await pair.sharing.log.wait(count: 1)
        #expect(pair.sharing.log.entries == [.didStart])
        // Each stream has its own counts.
        let streams = await pair.bob.stats().inboundRTP.values
        #expect(streams.count { $0.decoder?.framesDecoded ?? 0 > 0 } == 2)
        #expect(streams.count { $0.jitterBuffer?.totalSamplesReceived ?? 0 > 0 } == 2)
        await pair.end()
        #expect(pair.sharing.log.entries == [.didStart, .didStop(.ok)])
        for source in [screen, face] { source.stop() }
        for source in [music, voice] { source.stop() }
    }

    @Test("A second start replaces the source in the same tile")
    func startingReplacesSource() async throws {
        let pair = try await Pair()
        let first = try pattern(320, 180)
        let second = try pattern(256, 144)
        let section = await pair.alice.connection.localMedia.count
        try await pair.alice.contentShare.start(source: first)
        await pair.sharing.log.wait(count: 1)
        await pair.tiles.pictures.wait(count: 2)
        try await pair.alice.contentShare.start(source: second)
        await pair.sharing.log.wait(count: 2)
        let tile = await pair.tiles.wait(for: .resized)
        let summary = tile == nil ? await pair.summary() : ""
        #expect(tile?.tileID == 1 && tile?.size == second.captureFormat.size, "\(summary)")
        let pictures = await pair.tiles.pictures.wait { $0.count { $0.size == second.captureFormat.size } >= 3 }
        // After the second source is seen, no frame of the first one arrives.
        let change = try #require(pictures.firstIndex { $0.size == second.captureFormat.size })
        #expect(pictures[change...].allSatisfy { $0.size == second.captureFormat.size && $0.counter != nil })
        #expect(pair.tiles.kindsButPauses == [.added, .resized])
        #expect(await pair.alice.connection.localMedia.count == section)
        await waitUntil { !first.broadcaster.hasSinks }
        #expect(pair.sharing.log.entries == [.didStart, .didStart])
        await pair.end()
        first.stop()
        second.stop()
    }

    @Test("A stop removes the tile, and the next share has a new tile without a frame of the old one")
    func stoppingRemovesTile()
        async throws
    {
        let pair = try await Pair()
        let source = PushVideoSource()
        try await pair.alice.contentShare.start(source: source)
        #expect(await pair.alice.contentShare.isSharing)
        // Before there is a viewer, no frames are encoded. The source is asked for frames until one was sent.
        let frames = Task {
            while !Task.isCancelled {
                source.capture(grey(320, 180, luma: 200))
                try await Task.sleep(for: .milliseconds(50))
            }
        }
        #expect(await pair.tiles.wait(for: .added)?.tileID == 1)
        await pair.tiles.pictures.wait(count: 1)
        // The sharer may get to know of the first frame after its viewer.
        await pair.sharing.log.wait(count: 1)
        frames.cancel()
        _ = await frames.result
        try await pair.alice.contentShare.stop()
        #expect(await pair.tiles.wait(for: .removed)?.tileID == 1)
        #expect(await !pair.alice.contentShare.isSharing)
        await #expect(throws: ContentShareError.notSharing) { try await pair.alice.contentShare.stop() }
        await #expect(throws: ContentShareError.notSharing) { try await pair.alice.contentShare.update(.init()) }
        let other = PushVideoSource()
        try await pair.alice.contentShare.start(source: other)
        other.capture(grey(256, 144, luma: 60))
        let tile = await pair.tiles.wait(for: .added, count: 2)
        #expect(tile?.tileID == 2 && tile?.size == PixelSize(width: 256, height: 144))
        let seen = await pair.tiles.pictures.wait { $0.contains { $0.size.width == 256 } }
        #expect(seen.filter { $0.size.width == 256 }.allSatisfy { $0.luma < 100 })
        #expect(pair.tiles.kindsButPauses == [.added, .removed, .added])
        await pair.sharing.log.wait(count: 3)
        #expect(pair.sharing.log.entries == [.didStart, .didStop(.ok), .didStart])
        await pair.end()
    }

    @Test("A muted track pauses its tile until it is unmuted, and a disabled track is black")
    func mutedTrackPauses() async throws {
        let pair = try await Pair([.camera])
        let face = try pattern(192, 144)
        try await pair.alice.startCamera(source: face)
        await pair.tiles.pictures.wait(count: 2)
        let track = try #require(await pair.alice.cameraTrack)
        track.isPaused = true
        #expect(await pair.tiles.wait(for: .paused)?.pauseState == .pausedBySender)
        track.isPaused = false
        #expect(await pair.tiles.wait(for: .resumed)?.pauseState == .unpaused)
        track.isEnabled = false
        await pair.tiles.pictures.wait { $0.last.map { $0.luma < 18 && $0.counter == nil } ?? false }
        track.isEnabled = true
        await pair.tiles.pictures.wait { $0.last?.counter != nil }
        #expect(pair.tiles.kindsWithPausesOnce == [.added, .paused, .resumed])
        // The track that replaces a muted track is not muted.
        track.isPaused = true
        let other = try pattern(256, 144)
        try await pair.alice.startCamera(source: other)
        await pair.tiles.pictures.wait { $0.last?.size.width == 256 }
        await pair.alice.stopCamera()
        _ = await pair.tiles.wait(for: .removed)
        #expect(await pair.alice.cameraTrack == nil)
        await pair.end()
        face.stop()
        other.stop()
    }

    @Test("A source without a frame is reported after the timeout, and shared when it has one")
    func silentSource() async throws {
        let pair = try await Pair()
        let source = PushVideoSource()
        try await pair.alice.contentShare.start(source: source)
        await pair.sharing.log.wait(count: 1)
        #expect(pair.sharing.log.entries == [.sourceIsSilent(SharePhase.patience)])
        #expect(pair.tiles.log.entries.isEmpty)
        source.capture(Self.picture())
        await pair.sharing.log.wait(count: 2)
        #expect(pair.sharing.log.entries.last == .didStart)
        _ = await pair.tiles.wait(for: .added)
        await pair.end()
    }

    @Test("A viewer stops and resumes the media of its sender, which does not encode in between")
    func receiving() async throws {
        let pair = try await Pair([.content, .camera])
        let (screen, face) = (try pattern(192, 144), try pattern(256, 144))
        try await pair.alice.contentShare.start(source: screen)
        try await pair.alice.startCamera(source: face)
        _ = await pair.tiles.wait(for: .added, count: 2)
        let content = try AttendeeID("alice#content")
        try await pair.bob.setReceiving(false, of: content)
        #expect(await pair.tiles.wait(for: .removed)?.attendeeID == content)
        func encoded() async -> Int? {
            let streams = await pair.alice.stats().outboundRTP.values
            return streams.first { $0.video?.frameWidth == 192 }?.encoder?.framesEncoded
        }
        let atRest = await encoded()
        let seen = pair.tiles.pictures.entries.count
        await pair.tiles.pictures.wait(count: seen + 15)
        #expect(pair.tiles.pictures.entries.dropFirst(seen + 1).allSatisfy { $0.size.width == 256 })
        #expect(await encoded() == atRest && atRest != nil)
        // The share continues, for others and for this viewer. Another source does not resume it.
        #expect(await pair.alice.contentShare.isSharing)
        try await pair.alice.contentShare.start(source: screen)
        try await pair.bob.setReceiving(true, of: content)
        #expect(await pair.tiles.wait(for: .added, count: 3)?.attendeeID == content)
        await pair.tiles.pictures.wait { $0.last?.size.width == 192 }
        #expect(!pair.sharing.log.entries.contains { if case .didStop(.refusedByPeer) = $0 { true } else { false } })
        await pair.end()
        screen.stop()
        face.stop()
    }

    @Test("A viewer's offer stops and resumes the media of its sender")
    func receivingByOffer() async throws {
        let pair = try await Pair(connects: false)
        let (alice, bob) = (pair.alice.connection, pair.bob.connection)
        let answer = try await bob.answer(offer: try await alice.offer())
        try await alice.accept(answer: answer)
        let screen = try pattern(192, 144)
        try await pair.alice.contentShare.start(source: screen)
        _ = await pair.tiles.wait(for: .added)
        for isReceiving in [false, true] {
            try await pair.bob.setReceiving(isReceiving, of: AttendeeID("alice#content"))
            let offer = try await bob.offer()
            try await bob.accept(answer: try await alice.answer(offer: offer))
            #expect(offer.contains(isReceiving ? "a=recvonly" : "a=inactive"))
            _ = await pair.tiles.wait(for: isReceiving ? .added : .removed, count: isReceiving ? 2 : 1)
        }
        await pair.end()
        screen.stop()
    }

    private static func picture() -> VideoFrame {
        VideoFrame(
            buffer: PixelBuffer(size: PixelSize(width: 192, height: 144), format: .bgra) { planes, _ in
                planes[0].initializeMemory(as: UInt8.self, repeating: 128)
            }, timestamp: .zero)
    }

    @Test("A source that is muted from the start is shared when it is unmuted")
    func mutedFromStart() async throws {
        let (muted, silent) = (try await Pair(), try await Pair())
        let window = PushVideoSource()
        window.broadcaster.isMuted = true
        try await muted.alice.contentShare.start(source: window)
        try await silent.alice.contentShare.start(source: PushVideoSource())
        // The timeout of the other source is over, and this one started earlier.
        await silent.sharing.log.wait(count: 1)
        #expect(muted.sharing.log.entries.isEmpty)
        #expect(await muted.alice.contentShare.isSharing)
        window.broadcaster.isMuted = false
        window.capture(Self.picture())
        await muted.sharing.log.wait(count: 1)
        #expect(muted.sharing.log.entries == [.didStart])
        _ = await muted.tiles.wait(for: .added)
        await muted.end()
        await silent.end()
    }

    @Test("A muted source that an unmuted one replaces is not the last report of a mute")
    func muteOfReplacedSource() async throws {
        let pair = try await Pair()
        let muted = PushVideoSource()
        muted.broadcaster.isMuted = true
        let events = await pair.alice.contentShare.events
        try await pair.alice.contentShare.start(source: muted)
        var reports: [Bool] = []
        for await event in events {
            guard case .muteChanged(let isMuted) = event else { continue }
            reports.append(isMuted)
            guard isMuted else { break }
            try await pair.alice.contentShare.start(source: PushVideoSource())
        }
        #expect(reports == [true, false])
        await pair.end()
    }

    @Test("Two starts at the same time cause two events of one share")
    func twoStarts() async throws {
        let pair = try await Pair()
        let screen = try pattern(192, 144)
        async let one: Void = pair.alice.contentShare.start(source: screen)
        async let other: Void = pair.alice.contentShare.start(source: screen)
        _ = try await (one, other)
        let events = await pair.sharing.log.wait(count: 2)
        #expect(events.last == .didStart)
        #expect([.didStart, .didStop(.replaced)].contains(events.first))
        _ = await pair.tiles.wait(for: .added)
        await pair.end()
        #expect(pair.sharing.log.entries.count == 3)
        #expect(pair.tiles.kinds.count { $0 == .added } == 1)
        screen.stop()
    }

    @Test("A connection carries one share of each attendee, and a limited number of shares")
    func shareLimits() async throws {
        let pair = try await Pair(connects: false)
        let source = PushVideoSource()
        let alice = try AttendeeID("alice")
        try await pair.alice.contentShare.start(source: source)
        let again = try ContentShareController(attendee: alice, connection: pair.alice.connection)
        let content = try alice.content
        await #expect(throws: ContentShareError.alreadyShared(by: content)) { try await again.start(source: source) }
        let second = try ContentShareController(attendee: AttendeeID("carol"), connection: pair.alice.connection)
        try await second.start(source: source)
        let third = try ContentShareController(attendee: AttendeeID("dave"), connection: pair.alice.connection)
        await #expect(throws: ContentShareError.tooManyShares(limit: 2)) { try await third.start(source: source) }
        // Rejected calls do not affect the running shares.
        #expect(await pair.alice.contentShare.isSharing)
        #expect(await second.isSharing)
        #expect(await !third.isSharing)
        await pair.end()
    }

    @Test("Size, frame rate and content hint change during the share, in the same tile")
    func liveConfiguration() async throws {
        let pair = try await Pair()
        let screen = try pattern(320, 180)
        try await pair.alice.contentShare.start(source: screen)
        await pair.tiles.pictures.wait(count: 2)
        try await pair.alice.contentShare.update(
            VideoEncodingParameters(
                maxBitrate: .kilobitsPerSecond(200), maxFramerate: 10, maxSize: PixelSize(width: 160, height: 90),
                contentHint: .motion))
        #expect(await pair.tiles.wait(for: .resized)?.size == PixelSize(width: 160, height: 90))
        try await pair.alice.contentShare.update(VideoEncodingParameters(contentHint: .text))
        #expect(await pair.tiles.wait(for: .resized, count: 2)?.size == PixelSize(width: 320, height: 180))
        await #expect(throws: ContentShareError.self) {
            try await pair.alice.contentShare.update(VideoEncodingParameters(maxBitrate: .kilobitsPerSecond(1)))
        }
        await #expect(throws: ContentShareError.self) {
            try await pair.alice.contentShare.start(source: screen, parameters: .init(maxFramerate: .nan))
        }
        await #expect(throws: ContentShareError.self) {
            try await pair.alice.startCamera(source: screen, parameters: .init(maxFramerate: 0))
        }
        #expect(pair.tiles.kindsButPauses == [.added, .resized, .resized])
        await pair.sharing.log.wait(count: 1)
        #expect(pair.sharing.log.entries == [.didStart])
        await pair.end()
        screen.stop()
    }

    @Test("The first tracks of a stream are shared, and a stream without video is rejected")
    func sharedStream() async throws {
        let pair = try await Pair([.content, .contentAudio])
        let screen = try pattern(320, 180)
        let tone = try ToneSource(frequency: 440)
        try tone.start()
        let stream = MediaStream(id: "screen")
        stream.add(AudioTrack(id: "sound", source: tone))
        await #expect(throws: ContentShareError.nothingToShow(stream: "screen")) {
            try await pair.alice.contentShare.start(stream: stream)
        }
        #expect(pair.sharing.log.entries.isEmpty)
        stream.add(VideoTrack(id: "picture", source: screen))
        try await pair.alice.contentShare.start(stream: stream)
        await pair.tiles.pictures.wait(count: 2)
        await pair.sounds.hear(440, of: "alice#content")
        await pair.end()
        screen.stop()
        tone.stop()
    }
}
