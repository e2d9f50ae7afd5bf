import Foundation
import NIOCore
import NIOPosix
import RTCShareMedia
import RTCSharePeerConnection
import RTCShareRTP
import RTCShareSDP
import RTCShareVideoCoding
import RTCShareWireFormat
import TestSupport
import Testing

@testable import RTCShareStreams
@testable import RTCShareTransport

/// From a track's frames to the peers' packets.
@Suite(.timeLimit(.minutes(1))) struct VideoSendStreamTests {
    private static let content = LocalIdentity.MediaKind.video(streamID: "alice#content", isContent: true)

    private static func grey(_ width: Int, _ height: Int, luma: UInt8 = 128) -> VideoFrame {
        let buffer = PixelBuffer(size: PixelSize(width: width, height: height), format: .i420) { planes, _ in
            for (plane, value) in zip(planes, [luma, 128, 128]) {
                plane.initializeMemory(as: UInt8.self, repeating: value)
            }
        }
        return VideoFrame(buffer: buffer, timestamp: .nanoseconds(MonotonicClock.now.nanoseconds))
    }

    private static func stream(home: HomeLoop = HomeLoop()) throws -> VideoSendStream {
        try VideoSendStream(settings: .init(bitrate: .kilobitsPerSecond(300)), home: home)
    }

    @Test("A frame of a replaced source reaches no viewer, and the next frame is a key frame")
    func frameOfReplacedSource() async throws {
        let pair = try await ConnectedPair([Self.content])
        let stream = try Self.stream()
        stream.attach(pair.sender, media: 0)
        let source = PushVideoSource()
        let replaced = VideoTrack(id: "replaced", source: PushVideoSource())
        stream.replaceTrack(with: replaced)
        stream.replaceTrack(with: VideoTrack(id: "track", source: source))
        func encoded(isKeyFrame: Bool) -> EncodedVideoFrame {
            EncodedVideoFrame(
                data: Loopback.frame(isKeyFrame: isKeyFrame, number: 1).bytes, format: .vp8, isKeyFrame: isKeyFrame,
                size: PixelSize(width: 1280, height: 720), timestamp: .nanoseconds(MonotonicClock.now.nanoseconds))
        }
        // They were encoded before, and arrive now.
        await stream.send(encoded(isKeyFrame: true), by: 0, of: replaced)
        source.capture(Self.grey(64, 64))
        #expect(await pair.frames { _ in true }.map { $0.size?.width } == [64])
        await stream.send(encoded(isKeyFrame: false), by: 0, of: replaced)
        #expect(await pair.frames { $0.isKeyFrame }.last?.size?.width == 64)
        stream.stop()
        await pair.close()
    }

    @Test(
        "A viewer that is added inactive gets its first frame when it is active, whichever the home event loop",
        arguments: [true, false])
    func inactiveViewer(sharesLoop: Bool) async throws {
        let (other, viewer) = (try await ConnectedPair([Self.content]), try await ConnectedPair([Self.content]))
        let stream = try Self.stream(home: HomeLoop(of: viewer.sender, isOwn: sharesLoop))
        stream.attach(other.sender, media: 0)
        stream.addFromOutside(stream.makeSender(over: viewer.sender, media: [0]), isActive: false)
        stream.attach(viewer.sender, media: 0)
        let source = PushVideoSource()
        stream.replaceTrack(with: VideoTrack(id: "track", source: source))
        source.capture(Self.grey(64, 64))
        #expect(await other.frames { _ in true }.first?.isKeyFrame == true)
        #expect(await viewer.sender.stats().outboundRTP[0]?.video?.framesSent ?? 0 == 0)
        stream.setActive([ObjectIdentifier(other.sender), ObjectIdentifier(viewer.sender)], adding: true)
        #expect(await viewer.frames { _ in true }.first?.isKeyFrame == true)
        stream.setActive([], adding: false)
        await waitUntil { !stream.hasViewer }
        stream.stop()
        await other.close()
        await viewer.close()
    }

    @Test("A viewer that is added inactive is sent nothing, however busy the home event loop is")
    func heldBackFirst() async throws {
        let pair = try await ConnectedPair([Self.content])
        let loops = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        let home = HomeLoop(eventLoop: loops.next())
        let stream = try Self.stream(home: home)
        stream.replaceTrack(with: VideoTrack(id: "track", source: PushVideoSource()))
        let logged = pair.senders[0]
        logged.setSending(false)
        #expect(await !pair.sender.isSending)
        // The home loop does nothing. A connection reports a target each time that it begins to send.
        let isFree = DispatchSemaphore(value: 0)
        home.eventLoop.execute { isFree.wait() }
        let (begin, end) = (-1.0, -2.0)
        logged.receive(.lossReported(begin))
        stream.addFromOutside(stream.makeSender(over: pair.sender, media: [0]), isActive: false)
        #expect(await !pair.sender.isSending)
        logged.receive(.lossReported(end))
        isFree.signal()
        var isAdding = false
        for await (feedback, _) in pair.feedback.stream {
            switch feedback {
            case .lossReported(begin): isAdding = true
            case .lossReported(end): isAdding = false
            case .target: #expect(!isAdding)
            default: continue
            }
            if case .lossReported(end) = feedback { break }
        }
        stream.setActive([ObjectIdentifier(pair.sender)], adding: true)
        await waitUntil { await pair.sender.isSending }
        stream.stop()
        _ = await stream.settings
        await pair.close()
        try await loops.shutdownGracefully()
    }

    @Test("A sender whose connection ends while it is added does not stay in the stream")
    func endedWhileAdded() async throws {
        let connection = try await Loopback.open(as: .offerer)
        let stream = try Self.stream(home: HomeLoop(of: connection))
        let sender = stream.makeSender(over: connection, media: [0])
        stream.addFromOutside(sender, isActive: true)
        #expect(await stream.statistics(of: connection).count == 1)
        stream.remove(connection)
        // On the home event loop the end is processed at once, and earlier calls of the owner wait in the queue.
        try await connection.eventLoop.submit {
            stream.addFromOutside(sender, isActive: true)
            sender.receive(.ended)
        }.get()
        #expect(await stream.statistics(of: connection).isEmpty)
        #expect(stream.sender(on: connection) == nil)
        stream.stop()
        await connection.close()
    }

    @Test(
        "An offer after a track was set or removed reflects that, whichever the home event loop",
        arguments: [true, false])
    func direction(sharesLoop: Bool) async throws {
        let pair = try await ConnectedPair([Self.content])
        let stream = try Self.stream(home: HomeLoop(of: pair.sender, isOwn: sharesLoop))
        stream.attach(pair.sender, media: 0)
        let track = VideoTrack(id: "track", source: PushVideoSource())
        for _ in 0..<10 {
            stream.replaceTrack(with: track)
            #expect(try await pair.sender.makeOffer().description.contains("a=sendonly"))
            stream.replaceTrack(with: nil)
            #expect(try await pair.sender.makeOffer().description.contains("a=inactive"))
        }
        stream.stop()
        await pair.close()
    }

    @Test("The next offer has the codecs in the owner's order, and with none that of the connection")
    func codecPreferences() async throws {
        var configuration = Connection.Configuration()
        configuration.addresses = [Loopback.v4]
        configuration.videoFormats = [.vp8, .av1, .h264]
        let identity = try LocalIdentity(media: [Self.content])
        let connection = try await Connection(as: .offerer, identity: identity, configuration: configuration)
        let stream = try VideoSendStream(
            settings: .init(bitrate: .kilobitsPerSecond(300)), codecs: [.vp8, .h264, .av1])
        func offered() async throws -> [String] {
            try await connection.makeOffer().media[0].rtpMaps().map(\.encodingName)
                .filter { !["rtx", "red", "ulpfec"].contains($0) }
        }
        #expect(try await offered() == ["VP8", "AV1", "H264"])
        try await connection.open(Self.content, of: stream)
        #expect(try await offered() == ["VP8", "H264", "AV1"])
        stream.setCodecs([.h264, .vp8, .av1])
        #expect(try await offered() == ["H264", "VP8", "AV1"])
        stream.setCodecs(nil)
        #expect(try await offered() == ["VP8", "AV1", "H264"])
        stream.stop()
        await connection.close()
    }

    @Test("No frame of a replaced track is sent, and each track begins once")
    func replacedTrack() async throws {
        let pair = try await ConnectedPair([Self.content])
        let stream = try Self.stream()
        stream.attach(pair.sender, media: 0)
        let sources = (0..<4).map { _ in PushVideoSource() }
        let tracks = sources.enumerated().map { VideoTrack(id: "track-\($0)", source: $1) }
        var events = stream.events.makeAsyncIterator()
        guard case .audienceChanged? = await events.next() else {
            Issue.record("nothing was told of a viewer")
            return
        }
        #expect(stream.hasViewer && !stream.isRefused)
        for (number, track) in tracks.enumerated() {
            let (width, height) = (64 + 32 * number, 64)
            stream.replaceTrack(with: track)
            // The old source continues and a key frame is requested, but neither shows the old source.
            for source in sources[..<number] { source.capture(Self.grey(32, 32)) }
            stream.requestKeyFrame(for: pair.sender)
            sources[number].capture(Self.grey(width, height))
            guard case .began(let begun)? = await events.next() else {
                Issue.record("track \(number) did not begin")
                break
            }
            #expect(begun === track && stream.track === track)
            let frames = await pair.frames { $0.size.map { $0.width == width } ?? false }
            // What comes between is the track before, sharpened and repeated, begun before this one was set.
            #expect(frames.compactMap(\.size).allSatisfy { $0.width == width || $0.width == width - 32 })
            await waitUntil { sources.map(\.broadcaster.hasSinks) == (0..<4).map { $0 == number } }
            if number == 3 {
                for _ in 0..<3 { sources[number].capture(Self.grey(width, height, luma: 90)) }
            }
        }
        stream.replaceTrack(with: nil)
        #expect(stream.track == nil)
        stream.stop()
        stream.stop()
        // Nothing else happened: one beginning a track.
        while let event = await events.next() { Issue.record("\(event)") }
        stream.replaceTrack(with: tracks[0])
        #expect(!sources[0].broadcaster.hasSinks)
        await pair.close()
    }

    @Test("A muted or failed track has no effect on the next one")
    func mutedOrFailedTrack() async throws {
        struct Failure: Error {}
        let pair = try await ConnectedPair([Self.content])
        let stream = try Self.stream()
        stream.attach(pair.sender, media: 0)
        let (one, other) = (PushVideoSource(), PushVideoSource())
        let muted = VideoTrack(id: "muted", source: one)
        muted.isPaused = true
        stream.replaceTrack(with: muted)
        one.capture(Self.grey(64, 64))
        stream.replaceTrack(with: VideoTrack(id: "other", source: other))
        one.end(error: Failure())
        other.capture(Self.grey(96, 64))
        let frames = await pair.frames { $0.isKeyFrame }
        #expect(frames.map { $0.size?.width } == [96])
        other.end(error: Failure())
        var endings = 0
        for await event in stream.events {
            guard case .ended(_, let error) = event else { continue }
            #expect(error is Failure)
            endings += 1
            stream.stop()
        }
        #expect(endings == 1)
        await pair.close()
    }

    @Test("The strictest peer's limits hold for all peers of its encoding until it is detached")
    func strictestPeer() async throws {
        let pair = try await ConnectedPair([Self.content])
        let other = try await Loopback.open(as: .offerer)
        let stream = try Self.stream()
        var limits = SendingLimits()
        limits.maximumMacroblocks = 300
        stream.attach(pair.sender, media: 0, limits: limits)
        limits.maximumMacroblocks = 260
        limits.maximumBitrate = .kilobitsPerSecond(50)
        limits.acceptsOrientation = false
        stream.attach(other, media: 0, limits: limits)
        let source = PushVideoSource()
        stream.replaceTrack(with: VideoTrack(id: "track", source: source))
        let picture = Self.grey(640, 480)
        source.capture(VideoFrame(buffer: picture.buffer, timestamp: picture.timestamp, rotation: .quarter))
        // 260 macroblocks, turned upright for the one that can't turn it.
        var frame = try #require(await pair.frames { $0.isKeyFrame }.last)
        #expect(frame.size.map { $0.width * $0.height <= 260 * 256 && $0.width < $0.height } == true)
        #expect(frame.quarterTurns == 0)
        let area = frame.size.map { $0.width * $0.height } ?? 0
        stream.detach(other)
        // 300 macroblocks, lying on its side.
        frame = try #require(await pair.frames { $0.size.map { $0.width * $0.height > area } ?? false }.last)
        #expect(frame.size.map { $0.width * $0.height <= 300 * 256 && $0.width > $0.height } == true)
        #expect(frame.quarterTurns == 1)
        // The peers' limits do not change the program's settings.
        #expect(await stream.settings.bitrate == .kilobitsPerSecond(300))
        stream.update { $0.maximumSize = PixelSize(width: 64, height: 64) }
        frame = try #require(await pair.frames { $0.size.map { max($0.width, $0.height) <= 64 } ?? false }.last)
        #expect(frame.isKeyFrame)
        stream.stop()
        await pair.close()
        await other.close()
    }

    @Test(
        "A peer whose description permits next to nothing has its own encoding and slows no other",
        arguments: [false, true])
    func ownEncode(
        isChanged: Bool
    ) async throws {
        let (usual, small) = (try await ConnectedPair([Self.content]), try await ConnectedPair([Self.content]))
        let stream = try Self.stream()
        stream.attach(usual.sender, media: 0)
        var limits = SendingLimits()
        limits.maximumMacroblocks = 48
        limits.maximumFramesPerSecond = 0.1
        // In its first description, or in a later one.
        if isChanged { stream.attach(small.sender, media: 0) }
        stream.attach(small.sender, media: 0, limits: limits)
        let source = PushVideoSource()
        stream.replaceTrack(with: VideoTrack(id: "track", source: source))
        source.capture(Self.grey(640, 480))
        let frame = try #require(await usual.frames { $0.isKeyFrame }.last)
        #expect(frame.size.map { $0.width == 640 && $0.height == 480 } == true)
        let first = try #require(await small.frames { $0.isKeyFrame && $0.size.map { $0.width < 320 } == true }.last)
        #expect(first.size.map { $0.width * $0.height <= 48 * 256 } == true)
        stream.stop()
        await usual.close()
        await small.close()
    }

    @Test("A separated viewer that remains alone is sent the next track, and its encoding ends without viewers")
    func leftAlone() async throws {
        let (usual, small) = (try await ConnectedPair([Self.content]), try await ConnectedPair([Self.content]))
        let stream = try Self.stream()
        var limits = SendingLimits()
        limits.maximumMacroblocks = 48
        stream.attach(usual.sender, media: 0)
        stream.attach(small.sender, media: 0, limits: limits)
        #expect(await stream.encodingCount == 2)
        let (one, other) = (PushVideoSource(), PushVideoSource())
        stream.replaceTrack(with: VideoTrack(id: "one", source: one))
        one.capture(Self.grey(640, 480))
        for pair in [usual, small] { #expect(await pair.frames { _ in true }.first?.isKeyFrame == true) }
        stream.detach(usual.sender)
        let next = VideoTrack(id: "other", source: other)
        stream.replaceTrack(with: next)
        other.capture(Self.grey(96, 64))
        #expect(await small.frames { $0.size?.width == 96 }.last?.isKeyFrame == true)
        var begun: [VideoTrack] = []
        for await event in stream.events {
            if case .began(let track) = event { begun.append(track) }
            if begun.last === next { break }
        }
        #expect(begun.count == 2)
        // It goes up after a while, with a key frame that is newer than the last frame that it was sent.
        let sender = small.sender
        let answering = Task {
            for await (feedback, _) in small.feedback.stream {
                if case .keyFrameRequested = feedback { stream.requestKeyFrame(for: sender) }
            }
        }
        while await stream.encodingCount > 1 { _ = await small.frames { _ in true } }
        other.capture(Self.grey(128, 64))
        #expect(await small.frames { $0.size?.width == 128 }.last != nil)
        answering.cancel()
        stream.detach(small.sender)
        #expect(await stream.encodingCount == 1)
        stream.stop()
        await usual.close()
        await small.close()
    }

    @Test("A viewer that keeps requesting key frames of a shared encoding waits longer for each")
    func keyFrameRequests() async throws {
        let (usual, asking) = (try await ConnectedPair([Self.content]), try await ConnectedPair([Self.content]))
        let stream = try Self.stream()
        for pair in [usual, asking] { stream.attach(pair.sender, media: 0) }
        let source = PushVideoSource()
        stream.replaceTrack(with: VideoTrack(id: "track", source: source))
        source.capture(Self.grey(64, 64))
        _ = await usual.frames { $0.isKeyFrame }
        let begin = ContinuousClock.now
        for _ in 0..<4 {
            stream.requestKeyFrame(for: asking.sender)
            _ = await usual.frames { $0.isKeyFrame }
        }
        // At once, and after 300, 600 and 1200 ms.
        #expect(ContinuousClock.now - begin >= .milliseconds(2000))
        // As the only viewer it affects no other, and each request is answered at once. With increasing intervals it
        // would take minutes.
        stream.detach(usual.sender)
        for _ in 0..<5 { _ = await asking.frames { $0.isKeyFrame } }
        for _ in 0..<10 {
            stream.requestKeyFrame(for: asking.sender)
            _ = await asking.frames { $0.isKeyFrame }
        }
        stream.stop()
        await usual.close()
        await asking.close()
    }

    @Test("A new viewer begins with a key frame, and other viewers get no additional frame")
    func latecomer() async throws {
        let (first, second) = (try await ConnectedPair([Self.content]), try await ConnectedPair([Self.content]))
        let stream = try Self.stream()
        stream.attach(first.sender, media: 0)
        let source = PushVideoSource()
        stream.replaceTrack(with: VideoTrack(id: "track", source: source))
        source.capture(Self.grey(64, 64))
        _ = await first.frames { $0.isKeyFrame }
        source.capture(Self.grey(64, 64, luma: 90))
        stream.attach(second.sender, media: 0)
        source.capture(Self.grey(64, 64, luma: 200))
        #expect(await second.frames { _ in true }.first?.isKeyFrame == true)
        // Nothing went there that could not be shown.
        #expect(await second.sender.stats().outboundRTP[0]?.video?.pliCount == 0)
        stream.stop()
        await first.close()
        await second.close()
    }

    /// Returns the target bitrate of the encoder.
    private static func rate(_ stream: VideoSendStream, of connection: Connection? = nil) async -> Double? {
        let statistics =
            if let connection { await stream.statistics(of: connection).first } else { await stream.statistics() }
        return (statistics?.targetBitrate.bitsPerSecond).map { Double($0) }
    }

    @Test("The least bitrate of the connections is respected until that connection is detached")
    func pathBitrate() async throws {
        let (one, other) = (try await Loopback.open(as: .offerer), try await Loopback.open(as: .offerer))
        let stream = try Self.stream()
        stream.attach(one, media: 0)
        #expect(await Self.rate(stream) == 300_000)
        stream.keep(to: BitrateTarget(bitrate: .kilobitsPerSecond(900)), of: one)
        #expect(await Self.rate(stream) == 300_000)
        stream.keep(to: BitrateTarget(bitrate: .kilobitsPerSecond(200)), of: one)
        #expect(await Self.rate(stream) == 200_000)
        stream.attach(other, media: 0)
        stream.keep(to: BitrateTarget(bitrate: .kilobitsPerSecond(80)), of: other)
        #expect(await Self.rate(stream) == 80_000)
        stream.keep(to: BitrateTarget(bitrate: .kilobitsPerSecond(250)), of: other)
        #expect(await Self.rate(stream) == 200_000)
        stream.keep(to: BitrateTarget(bitrate: .zero), of: other)
        #expect(await Self.rate(stream) == 0)
        stream.detach(other)
        #expect(await Self.rate(stream) == 200_000)
        stream.detach(one)
        #expect(await Self.rate(stream) == 300_000)
        #expect(await stream.settings.bitrate == .kilobitsPerSecond(300))
        stream.stop()
        await one.close()
        await other.close()
    }

    @Test("Bitrates of a large room that change shortly after each other are applied together")
    func largeRoom() async throws {
        var viewers: [Connection] = []
        for _ in 0..<17 { viewers.append(try await Loopback.open(as: .offerer)) }
        let stream = try Self.stream()
        for viewer in viewers { stream.attach(viewer, media: 0) }
        for (place, viewer) in viewers.enumerated() {
            stream.keep(to: BitrateTarget(bitrate: .kilobitsPerSecond(120 + place)), of: viewer)
        }
        await waitUntil { await Self.rate(stream) == 120_000 }
        #expect(await Self.rate(stream) == 120_000)
        // After the first report, a later one has an effect too.
        stream.keep(to: BitrateTarget(bitrate: .kilobitsPerSecond(90)), of: viewers[16])
        await waitUntil { await Self.rate(stream) == 90_000 }
        #expect(await Self.rate(stream) == 90_000)
        stream.stop()
        for viewer in viewers { await viewer.close() }
    }

    @Test("A full queue of one connection delays encoding until it has room or is detached")
    func fullQueue() async throws {
        let pair = try await ConnectedPair([Self.content])
        let other = try await Loopback.open(as: .offerer)
        let stream = try Self.stream()
        stream.attach(pair.sender, media: 0)
        stream.attach(other, media: 0)
        let full = BitrateTarget(bitrate: .kilobitsPerSecond(300), isQueueFull: true)
        stream.keep(to: full, of: pair.sender)
        stream.keep(to: full, of: other)
        let source = PushVideoSource()
        stream.replaceTrack(with: VideoTrack(id: "track", source: source))
        await waitUntil { source.broadcaster.hasSinks }
        for width in [64, 96, 128, 160] { source.capture(Self.grey(width, 64)) }
        stream.keep(to: BitrateTarget(bitrate: .kilobitsPerSecond(300)), of: pair.sender)
        stream.detach(other)
        #expect(await pair.frames { $0.isKeyFrame }.map { $0.size?.width } == [160])
        stream.stop()
        await pair.close()
        await other.close()
    }

    @Test("A slow route gets its own encoding, without a gap and in one sequence of frames")
    func poorPath() async throws {
        let (good, poor) = (try await ConnectedPair([Self.content]), try await ConnectedPair([Self.content]))
        let stream = try Self.stream()
        stream.update { $0.bitrate = .kilobitsPerSecond(2000) }
        for (pair, rate) in [(good, 2000), (poor, 200)] {
            stream.attach(pair.sender, media: 0)
            stream.keep(to: BitrateTarget(bitrate: .kilobitsPerSecond(rate)), of: pair.sender)
        }
        let source = PushVideoSource()
        stream.replaceTrack(with: VideoTrack(id: "track", source: source))
        // Frames continue until each viewer has its own encoding.
        var count = 0
        func rates() async -> [Double?] {
            [await Self.rate(stream, of: good.sender), await Self.rate(stream, of: poor.sender)]
        }
        while await rates() != [2_000_000, 200_000] {
            source.capture(Self.grey(64, 64, luma: UInt8(16 + count % 200)))
            count += 1
            try await Task.sleep(for: .milliseconds(20))
        }
        for index in 0..<20 {
            source.capture(Self.grey(64, 64, luma: UInt8(16 + (count + index) % 200)))
            try await Task.sleep(for: .milliseconds(20))
        }
        // A last one of its own look, for both.
        source.capture(Self.grey(64, 64, luma: 240))
        stream.requestKeyFrame(for: poor.sender)
        var keyFrames: [Int] = []
        for pair in [good, poor] {
            let decoder = try VP8Decoder()
            var last: PictureNumber?
            var luma: UInt8 = 0
            let frames = await pair.frames { frame in
                let picture = try? decoder.decode(frame.data)
                luma = picture?.withPlanes { $0.planes[0][0] } ?? 0
                return luma > 236
            }
            for frame in frames {
                if let one = last?.value, let next = frame.pictureID?.value {
                    #expect(next == (one + 1) & 0x7FFF)
                }
                last = frame.pictureID
            }
            keyFrames.append(frames.count(where: \.isKeyFrame))
        }
        #expect(keyFrames[0] == 1 && keyFrames[1] >= 2, "\(keyFrames)")
        stream.stop()
        await good.close()
        await poor.close()
    }

    @Test("A viewer with a full queue is withheld and rejoins with a key frame")
    func viewerLeftOut() async throws {
        let (good, slow) = (try await ConnectedPair([Self.content]), try await ConnectedPair([Self.content]))
        let stream = try Self.stream()
        let rate = DataRate.kilobitsPerSecond(300)
        for pair in [good, slow] {
            stream.attach(pair.sender, media: 0)
            stream.keep(to: BitrateTarget(bitrate: rate), of: pair.sender)
        }
        let source = PushVideoSource()
        stream.replaceTrack(with: VideoTrack(id: "track", source: source))
        source.capture(Self.grey(64, 64))
        for pair in [good, slow] { #expect(await pair.frames { _ in true }.first?.isKeyFrame == true) }
        stream.keep(to: BitrateTarget(bitrate: rate, isQueueFull: true), of: slow.sender)
        source.capture(Self.grey(96, 64))
        #expect(await good.frames { $0.size?.width == 96 }.last?.isKeyFrame == true)
        stream.keep(to: BitrateTarget(bitrate: rate), of: slow.sender)
        source.capture(Self.grey(128, 64))
        let missed = await slow.frames { $0.size?.width == 128 }
        #expect(missed.filter { $0.isKeyFrame }.compactMap { $0.size?.width } != [96])
        #expect(missed.last?.isKeyFrame == true)
        stream.stop()
        await good.close()
        await slow.close()
    }

    @Test("A viewer with a full queue that delayed encoding is withheld when another viewer is added")
    func heldThenLeftOut() async throws {
        let (good, slow) = (try await ConnectedPair([Self.content]), try await ConnectedPair([Self.content]))
        let stream = try Self.stream()
        let rate = DataRate.kilobitsPerSecond(300)
        stream.attach(slow.sender, media: 0)
        stream.keep(to: BitrateTarget(bitrate: rate, isQueueFull: true), of: slow.sender)
        stream.attach(good.sender, media: 0)
        let source = PushVideoSource()
        stream.replaceTrack(with: VideoTrack(id: "track", source: source))
        for width in [96, 128] {
            source.capture(Self.grey(width, 64))
            #expect(await good.frames { $0.size?.width == width }.last?.isKeyFrame == true)
        }
        stream.keep(to: BitrateTarget(bitrate: rate), of: slow.sender)
        source.capture(Self.grey(160, 64))
        let widths = await slow.frames { $0.size?.width == 160 }.compactMap { $0.size?.width }
        #expect(widths.last == 160 && !widths.contains(96))
        stream.stop()
        await good.close()
        await slow.close()
    }

    @Test("A frame that no route has room for counts as the track's first frame")
    func pictureWithoutPath() async throws {
        let pair = try await ConnectedPair([Self.content])
        let stream = try Self.stream()
        stream.attach(pair.sender, media: 0)
        let rate = DataRate.kilobitsPerSecond(300)
        stream.keep(to: BitrateTarget(bitrate: rate, isQueueFull: true), of: pair.sender)
        let source = PushVideoSource()
        stream.replaceTrack(with: VideoTrack(id: "track", source: source))
        #expect(await !stream.hasPicture)
        source.capture(Self.grey(64, 64))
        await waitUntil { await stream.hasPicture }
        #expect(await stream.hasPicture)
        stream.replaceTrack(with: VideoTrack(id: "next", source: PushVideoSource()))
        #expect(await !stream.hasPicture)
        stream.stop()
        await pair.close()
    }

    @Test("Nothing is encoded while the track is muted, and then the newest frame is sent")
    func mute() async throws {
        let pair = try await ConnectedPair([Self.content])
        let stream = try Self.stream()
        stream.attach(pair.sender, media: 0)
        let source = PushVideoSource()
        let track = VideoTrack(id: "track", source: source)
        stream.replaceTrack(with: track)
        source.capture(Self.grey(64, 64))
        _ = await pair.frames { $0.isKeyFrame }
        track.isPaused = true
        await waitUntil { await stream.statistics()?.encoder.qualityLimitationReason == .other }
        for width in [96, 128] { source.capture(Self.grey(width, 64)) }
        track.isPaused = false
        let widths = await pair.frames { $0.size?.width == 128 }.compactMap { $0.size?.width }
        #expect(!widths.contains(96))
        #expect(await stream.statistics()?.encoder.qualityLimitationReason != .other)
        stream.stop()
        await pair.close()
    }

    @Test("A track that was muted before the first viewer sends its last frame to new viewers")
    func mutedBefore() async throws {
        let pair = try await ConnectedPair([Self.content])
        let stream = try Self.stream()
        let source = PushVideoSource()
        let track = VideoTrack(id: "track", source: source)
        track.isPaused = true
        stream.replaceTrack(with: track)
        stream.attach(pair.sender, media: 0)
        #expect(await pair.target { $0 > .zero } != nil)
        stream.stop()
        await pair.close()
    }

    @Test("A stream's demand is nothing without a track or while muted, and at most the peer's limit")
    func wantedBitrate()
        async throws
    {
        let pair = try await ConnectedPair([Self.content])
        let stream = try Self.stream()
        stream.update { $0.bitrate = .kilobitsPerSecond(100) }
        stream.attach(pair.sender, media: 0)
        var bitrate = try #require(await pair.target { $0 == .zero })
        #expect(bitrate == .zero)
        let track = VideoTrack(id: "track", source: PushVideoSource())
        stream.replaceTrack(with: track)
        bitrate = try #require(await pair.target { $0 > .zero })
        #expect(bitrate <= .kilobitsPerSecond(100))
        track.isPaused = true
        bitrate = try #require(await pair.target { $0 == .zero })
        #expect(bitrate == .zero)
        track.isPaused = false
        bitrate = try #require(await pair.target { $0 > .kilobitsPerSecond(90) })
        #expect(bitrate <= .kilobitsPerSecond(100))
        var limits = SendingLimits()
        limits.maximumBitrate = .kilobitsPerSecond(60)
        stream.keep(to: limits, of: pair.sender)
        bitrate = try #require(await pair.target { $0 <= .kilobitsPerSecond(60) })
        #expect(bitrate > .kilobitsPerSecond(50))
        stream.update { $0.bitrate = .kilobitsPerSecond(40) }
        bitrate = try #require(await pair.target { $0 <= .kilobitsPerSecond(40) })
        #expect(bitrate > .kilobitsPerSecond(30))
        stream.replaceTrack(with: nil)
        await waitUntil { await pair.sender.targetBitrate(media: 0) == nil }
        stream.stop()
        await pair.close()
    }
}

extension Connection {
    /// Returns the target bitrate of a medium. Nil if it is not sent.
    fileprivate func targetBitrate(media: Int) -> BitrateTarget? { peer.targetBitrate(media: media) }

    /// Whether the first media is sent.
    fileprivate var isSending: Bool { peer.isSending(media: 0) }
}

extension Connection {
    /// Opens a sender for a stream.
    fileprivate func open(_ kind: LocalIdentity.MediaKind, of stream: VideoSendStream) throws {
        try stream.open(kind, atMost: 1, isActive: true, on: self)
    }
}
