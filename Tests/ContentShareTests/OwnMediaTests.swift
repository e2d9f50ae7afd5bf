import RTCShareCapture
import RTCShareLocks
import RTCShareMedia
import RTCSharePeerConnection
import RTCShareTransport
import TestSupport
import Testing

@testable import RTCShareContentShare

/// The camera and microphone of a room's owner, for several viewers.
@Suite("A camera and microphone for several viewers", .timeLimit(.minutes(2)))
struct OwnMediaTests {
    /// The frames of another source, with the number of sinks. Each encoder adds one through its track.
    private final class CountedVideo: VideoSource {
        let source: TestPatternSource
        let takers = Locked(0)
        var contentHint: ContentHint { source.contentHint }

        init(_ source: TestPatternSource) { self.source = source }

        func add(_ sink: any VideoSink) {
            takers.withLock { $0 += 1 }
            source.add(sink)
        }

        func remove(_ sink: any VideoSink) {
            takers.withLock { $0 -= 1 }
            source.remove(sink)
        }
    }

    /// The same for audio.
    private final class CountedAudio: AudioSource {
        let source: ToneSource
        let takers = Locked(0)

        init(_ source: ToneSource) { self.source = source }

        func add(_ sink: any AudioSink) {
            takers.withLock { $0 += 1 }
            source.add(sink)
        }

        func remove(_ sink: any AudioSink) {
            takers.withLock { $0 -= 1 }
            source.remove(sink)
        }
    }

    private static let media: Set<SharedMedia> = [.content, .camera, .microphone]

    @Test("Four viewers are sent one encode of the camera and one of the microphone")
    func oneEncode() async throws {
        let room = try await RoomFixture()
        let face = CountedVideo(try pattern(192, 144))
        let voice = CountedAudio(try ToneSource(frequency: 440))
        var seats = [try await room.seat("ann", media: Self.media)]
        try await room.room.startCamera(source: face)
        try await room.room.startMicrophone(source: voice)
        try face.source.start()
        try voice.source.start()
        for name in ["bob", "eve", "joe"] { seats.append(try await room.seat(name, media: Self.media)) }
        for seat in seats {
            await seat.tiles.waitForPictures()
            await seat.sounds.hear(440, of: "alice")
        }
        #expect(face.takers.withLock { $0 } == 1)
        #expect(voice.takers.withLock { $0 } == 1)
        face.source.stop()
        voice.source.stop()
        // All reports are of the same encoder, so they have the same number of key frames.
        var keyFrames: Set<Int> = []
        for seat in seats {
            let report = try #require(await room.room.stats(of: seat.viewer.id))
            let encoder = try #require(report.outboundRTP.values.compactMap(\.encoder).first { $0.framesEncoded > 0 })
            keyFrames.insert(encoder.keyFramesEncoded)
        }
        #expect(keyFrames.count == 1, "\(keyFrames)")
        await room.room.end()
        for seat in seats { await seat.session.leave() }
        // Without viewers, nothing is encoded.
        await waitUntil { face.takers.withLock { $0 } == 0 }
    }

    @Test("Another camera and microphone replace the previous ones while a viewer leaves")
    func replaced() async throws {
        let room = try await RoomFixture()
        let ann = try await room.seat("ann", media: Self.media)
        let bob = try await room.seat("bob", media: Self.media)
        let (first, second) = (try pattern(192, 144), try pattern(160, 128))
        try await room.room.startCamera(source: first)
        await ann.tiles.waitForPictures()
        await bob.viewer.session.connection.close()
        try await room.room.startCamera(source: second)
        try await room.room.startMicrophone(source: try ToneSource(frequency: 440))
        await ann.tiles.pictures.wait { $0.contains { $0.size == second.captureFormat.size } }
        await room.end(ann, bob)
        await #expect(throws: ContentShareError.ended) { try await room.room.startCamera(source: first) }
        [first, second].forEach { $0.stop() }
    }
}
