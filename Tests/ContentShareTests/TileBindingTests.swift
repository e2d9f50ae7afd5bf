import Foundation
import RTCShareCapture
import RTCShareLocks
import RTCShareMedia
import RTCShareRTP
import RTCShareVideoCoding
import RTCShareWireFormat
import TestSupport
import Testing

@testable import RTCShareContentShare
@testable import RTCSharePeerConnection
@testable import RTCShareStreams
@testable import RTCShareTransport

/// The sinks that get the frames of a tile.
@Suite(.timeLimit(.minutes(2)))
struct TileBindingTests {
    private func framesDecoded(_ session: AttendeeSession) async -> Int? {
        await session.stats().inboundRTP.values.compactMap { $0.decoder?.framesDecoded }.first
    }

    @Test("A tile is decoded while it has a sink, which can be bound at any time")
    func decodedWhileWatched() async throws {
        let pair = try await Pair(binds: false)
        let screen = try pattern(192, 144)
        try await pair.alice.contentShare.start(source: screen)
        let tile = try #require(await pair.tiles.wait(for: .added))
        #expect(await framesDecoded(pair.bob) == nil)
        await #expect(throws: VideoTileError.unknownTile(99)) {
            try await pair.bob.tiles.bind(PictureSink(EventLog(), of: tile.attendeeID), toTile: 99)
        }
        // Two sinks are bound late, one after the other.
        let one = EventLog<PictureSink.Picture>()
        let other = EventLog<PictureSink.Picture>()
        try await pair.bob.tiles.bind(PictureSink(one, of: tile.attendeeID), toTile: tile.tileID)
        await one.wait(count: 3)
        try await pair.bob.tiles.bind(PictureSink(other, of: tile.attendeeID), toTile: tile.tileID)
        await other.wait(count: 3)
        #expect(one.entries.allSatisfy { $0.counter != nil } && other.entries.allSatisfy { $0.counter != nil })
        #expect(await framesDecoded(pair.bob) ?? 0 >= 6)
        await pair.bob.tiles.unbind(tile: tile.tileID)
        await pair.bob.tiles.unbind(tile: tile.tileID)
        await pair.bob.tiles.unbind(tile: 99)
        #expect(await framesDecoded(pair.bob) == nil)
        // The tile gets a sink again.
        let third = EventLog<PictureSink.Picture>()
        try await pair.bob.tiles.bind(PictureSink(third, of: tile.attendeeID), toTile: tile.tileID)
        await third.wait(count: 1)
        let seen = (one.entries.count, other.entries.count)
        await third.wait(count: 3)
        #expect(third.entries.allSatisfy { $0.counter != nil })
        #expect(seen == (one.entries.count, other.entries.count))
        #expect(pair.tiles.kindsButPauses == [.added])
        await pair.end()
        screen.stop()
    }

    private func keyFrame() throws -> AssembledFrame {
        let size = PixelSize(width: 64, height: 64)
        let encoder = try VP8Encoder(configuration: .init(size: size, bitrate: .kilobitsPerSecond(1000)))
        let picture = PixelBuffer(size: size, format: .i420) { planes, _ in
            for plane in planes { _ = plane.initializeMemory(as: UInt8.self, repeating: 60) }
        }
        guard case .encoded(let frame) = try encoder.encode(picture, timestamp: .zero) else {
            throw VideoTileError.decoder("no frame")
        }
        return AssembledFrame(
            data: frame.data, format: .vp8, header: VideoFrameHeader(isKeyFrame: true, width: 64, height: 64),
            timestamp: RTPTimestamp(0), pictureID: nil, packetCount: 1, firstArrival: Instant(nanoseconds: 0),
            completion: Instant(nanoseconds: 0))
    }

    @Test("A tile that the viewer paused resumes with a key frame")
    func pausedTile() async throws {
        let pair = try await Pair(binds: false)
        let screen = try pattern(192, 144)
        try await pair.alice.contentShare.start(source: screen)
        let tile = try #require(await pair.tiles.wait(for: .added))
        let frames = EventLog<Bool>()
        let pictures = EventLog<PictureSink.Picture>()
        try #require(await pair.bob.tiles.receiver(ofTile: tile.tileID)).record { frames.append($0.isKeyFrame) }
        try await pair.bob.tiles.bind(PictureSink(pictures, of: tile.attendeeID), toTile: tile.tileID)
        await frames.wait(count: 5)
        #expect(frames.entries.first == true)
        await pair.bob.tiles.pause(tile: tile.tileID)
        #expect(await pair.tiles.wait(for: .paused)?.pauseState == .pausedByUser)
        let paused = frames.entries.count
        // The sender continues, because another viewer could see it.
        let received = { await pair.bob.stats().inboundRTP.values.compactMap { $0.video?.framesReceived }.first ?? 0 }
        let before = await received()
        while await received() < before + 5 { try await Task.sleep(for: .milliseconds(20)) }
        #expect(frames.entries.count <= paused + 1)
        let resumption = frames.entries.count
        let shown = pictures.entries.count
        await pair.bob.tiles.resume(tile: tile.tileID)
        #expect(await pair.tiles.wait(for: .resumed)?.pauseState == .unpaused)
        await frames.wait(count: resumption + 3)
        #expect(frames.entries[resumption])
        await pictures.wait(count: shown + 3)
        #expect(pictures.entries.allSatisfy { $0.counter != nil })
        await pair.end()
        screen.stop()
    }

    /// Creates a controller whose peer sends a screen (receiver 0) and a camera (receiver 1), with the frames that a
    /// test passes.
    private func controller() async -> VideoTileController {
        let controller = VideoTileController()
        await controller.handle(
            .remoteMediaChanged([
                Self.video("alice#content", isContent: true), Self.video("alice", isContent: false),
            ]))
        return controller
    }

    private static func video(_ streamID: String, isContent: Bool) -> RemoteMedia {
        RemoteMedia(
            isVideo: true, streamID: streamID, trackID: nil, isContent: isContent, isActive: true, opus: nil)
    }

    @Test("A sink for all content gets each tile's frames from the first one on, and no frame of a camera")
    func standingSink() async throws {
        let tiles = await controller()
        let pictures = EventLog<PictureSink.Picture>()
        let late = EventLog<PictureSink.Picture>()
        let sink = PictureSink(pictures, of: try AttendeeID("alice#content"))
        await tiles.bind(sink, to: .content)
        // There is one frame of each, and no peer that can answer a request for another.
        await tiles.receive(try keyFrame(), receiver: 0)
        await tiles.receive(try keyFrame(), receiver: 1)
        await pictures.wait(count: 1)
        await tiles.handle(.activityChanged(.ended, receiver: 0))
        // A receiver that starts again has a new tile.
        await tiles.receive(try keyFrame(), receiver: 0)
        await pictures.wait(count: 2)
        // A sink that is bound to a present tile gets the next frames. After it is unbound, it gets none.
        await tiles.bind(PictureSink(late, of: try AttendeeID("alice")), to: .attendee)
        await tiles.unbind(sink)
        await tiles.receive(try keyFrame(), receiver: 0)
        await tiles.receive(try keyFrame(), receiver: 1)
        await late.wait(count: 1)
        await tiles.handle(.activityChanged(.ended, receiver: 0))
        await tiles.receive(try keyFrame(), receiver: 0)
        await tiles.end()
        #expect(pictures.entries.count == 2 && late.entries.count == 1)
    }

    @Test("A reader gets the current tiles, only the newest if it is slow, until the end")
    func updates() async throws {
        let tiles = await controller()
        var one = await tiles.updates.makeAsyncIterator()
        var late = await tiles.updates.makeAsyncIterator()
        #expect(await one.next(isolation: nil) == [])
        await tiles.receive(try keyFrame(), receiver: 0)
        let added = try #require(await one.next(isolation: nil)?.first)
        #expect(added.isContent && added.pauseState == .unpaused)
        await tiles.pause(tile: added.tileID)
        #expect(await one.next(isolation: nil)?.map(\.pauseState) == [.pausedByUser])
        await tiles.resume(tile: added.tileID)
        await tiles.receive(try keyFrame(), receiver: 1)
        let present = await tiles.tiles
        #expect(await late.next(isolation: nil) == present)
        #expect(present.map(\.attendeeID.rawValue) == ["alice#content", "alice"])
        #expect(await one.next(isolation: nil) == present)
        await tiles.end()
        for _ in 0..<2 { #expect(await one.next(isolation: nil)?.isEmpty != false) }
        #expect(await one.next(isolation: nil) == nil)
        var afterwards = await tiles.updates.makeAsyncIterator()
        #expect(await afterwards.next(isolation: nil) == [])
        #expect(await afterwards.next(isolation: nil) == nil)
    }

    @Test("A reader of tiles does not retain the session, and ends after it is released")
    func abandonedReader() async throws {
        var tiles: VideoTileController? = await controller()
        weak var gone: VideoTileController?
        gone = tiles
        guard let updates = await tiles?.updates else { return }
        var reader = updates.makeAsyncIterator()
        _ = await reader.next(isolation: nil)
        tiles = nil
        #expect(gone == nil)
        #expect(await reader.next(isolation: nil) == nil)
    }
}

extension VideoTileController {
    /// Passes a frame in, as a connection does.
    fileprivate func receive(_ frame: AssembledFrame, receiver index: Int) async {
        let tile = tiles.first { receiverIndex(ofTile: $0.tileID) == index }
        let known = tile.flatMap { self.receiver(ofTile: $0.tileID) }
        let taker = known ?? VideoReceiver(index: index) {}
        if let size = taker.receive(frame) { await handle(.frameSizeChanged(size, taker)) }
    }
}
