import Foundation
import RTCShareLocks
import RTCShareMedia
import TestSupport
import Testing

@testable import RTCShareCaptureBroadcast

/// An app and an extension, joined by real sockets and real memory.
@Suite(.serialized) struct BroadcastConnectionTests {
    /// The transport and the endpoint of both sides.
    enum Way: CaseIterable, CustomStringConvertible {
        case tcpPort, memoryPort, tcpPath, memoryPath

        var transport: BroadcastTransport { self == .tcpPort || self == .tcpPath ? .tcp : .sharedMemory }
        var isPort: Bool { self == .tcpPort || self == .memoryPort }
        var description: String { "\(transport.rawValue) at a \(isPort ? "port" : "path")" }
    }

    /// The app's side.
    private struct App {
        let source: BroadcastSource
        let pictures = Collector()
        let log = BroadcastLog()

        init(_ endpoint: BroadcastEndpoint, in folder: SocketFolder) throws {
            source = try BroadcastSource(
                endpoint: endpoint, tokens: BroadcastFixture.appTokens(), environment: folder.environment)
            source.add(broadcastObserver: log)
            source.add(observer: log)
            source.add(pictures)
        }
    }

    /// The extension's side.
    private struct Extension {
        let sender: BroadcastSender
        let source = VideoBroadcaster()
        let log = BroadcastLog()

        init(
            _ endpoint: BroadcastEndpoint, _ transport: BroadcastTransport, in folder: SocketFolder,
            tokens: BroadcastTokens? = nil
        ) throws {
            sender = try BroadcastSender(
                endpoint: endpoint, tokens: tokens ?? BroadcastFixture.extensionTokens(), transport: transport,
                environment: folder.environment)
            sender.add(observer: log)
            source.add(sender.video)
        }

        func show(_ picture: PixelBuffer, damage: [PixelRectangle]? = nil) {
            source.send(BroadcastFixture.frame(picture, damage: damage))
        }
    }

    private static let size = PixelSize(width: 64, height: 48)

    private static func endpoint(_ way: Way, in folder: SocketFolder) -> BroadcastEndpoint {
        way.isPort ? .port(0) : .path(folder.path + "/app.sock")
    }

    private static func shows(_ picture: PixelBuffer) -> (Collector) -> Bool {
        { $0.frames.last?.buffer.samples == picture.samples }
    }

    @Test("The app can begin before the extension", arguments: Way.allCases)
    func acceptFirst(way: Way) throws {
        let folder = try SocketFolder()
        let app = try App(Self.endpoint(way, in: folder), in: folder)
        try app.source.start()
        #expect(app.log.wait(for: "interrupted: no capturing process has connected yet"))
        let other = try Extension(app.source.endpoint, way.transport, in: folder)
        try other.sender.start()
        #expect(other.log.wait(for: "connected"))
        #expect(app.log.wait(for: "started \(way.transport.rawValue)"))
        let picture = BroadcastFixture.picture(seed: 1)
        other.show(picture)
        #expect(app.pictures.wait(until: Self.shows(picture)))
        #expect(app.log.wait(for: "goes on"))
        #expect(!app.source.broadcaster.isMuted)
        other.sender.stop()
        app.source.stop()
    }

    @Test("The extension can begin before the app", arguments: Way.allCases)
    func connectFirst(way: Way) throws {
        let folder = try SocketFolder()
        // A port that was free a moment ago, so that both sides can be given it.
        let endpoint: BroadcastEndpoint
        if way.isPort {
            endpoint = try BroadcastListener(.port(0), environment: folder.environment).endpoint
        } else {
            endpoint = Self.endpoint(way, in: folder)
        }
        let other = try Extension(endpoint, way.transport, in: folder)
        try other.sender.start()
        #expect(other.log.wait(for: "waiting: no share listens at"))
        let app = try App(endpoint, in: folder)
        try app.source.start()
        #expect(other.log.wait(for: "connected"))
        let picture = BroadcastFixture.picture(seed: 1)
        other.show(picture)
        #expect(app.pictures.wait(until: Self.shows(picture)))
        other.sender.stop()
        app.source.stop()
    }

    @Test("Each side can be stopped while it waits", arguments: Way.allCases)
    func cancel(way: Way) throws {
        let folder = try SocketFolder()
        let app = try App(Self.endpoint(way, in: folder), in: folder)
        try app.source.start()
        app.source.stop()
        #expect(app.log.wait(for: "stopped"))
        // The connection is not accepted now, though the socket still listens.
        let other = try Extension(app.source.endpoint, way.transport, in: folder)
        try other.sender.start()
        other.sender.stop()
        #expect(other.log.wait(for: "ended"))
        let nowhere = try Extension(.path(folder.path + "/nobody.sock"), way.transport, in: folder)
        try nowhere.sender.start()
        #expect(nowhere.log.wait(for: "waiting"))
        nowhere.sender.stop()
        #expect(nowhere.log.all.last == "ended")
    }

    @Test("Frames, their damage and the other messages arrive in order", arguments: Way.allCases)
    func pictures(way: Way) throws {
        let folder = try SocketFolder()
        let app = try App(Self.endpoint(way, in: folder), in: folder)
        let (sound, voice) = (SoundCollector(), SoundCollector())
        app.source.sound.add(sound)
        app.source.microphone.add(voice)
        try app.source.sound.start()
        try app.source.microphone.start()
        try app.source.start()
        let other = try Extension(app.source.endpoint, way.transport, in: folder)
        try other.sender.start()
        #expect(other.log.wait(for: "connected"))
        var shown = BroadcastFixture.picture(Self.size, format: .i420, seed: 0)
        other.show(shown)
        #expect(app.pictures.wait(until: Self.shows(shown)))
        for round in 1...30 {
            let part = PixelRectangle(x: 2 * (round % 20), y: 4, size: PixelSize(width: 7, height: 5))
            shown = BroadcastFixture.picture(
                shown, with: part, of: BroadcastFixture.picture(Self.size, format: .i420, seed: round))
            // Chroma has half the resolution, so a little more is damaged.
            other.show(shown, damage: [part])
            #expect(app.pictures.wait(until: Self.shows(shown)))
            let damage = try #require(app.pictures.frames.last?.damage)
            #expect(damage.contains { $0.intersection(part) == part } && damage.allSatisfy { $0.size.area < 200 })
        }
        let block = AudioFrame(samples: [0.25, -0.25, 1, 0], channels: 2, sampleRate: 48_000, timestamp: .seconds(3))
        other.sender.audio.receive(block)
        let word = AudioFrame(samples: [0.5, -0.5], channels: 1, sampleRate: 48_000, timestamp: .seconds(3))
        other.sender.microphone.receive(word)
        #expect(sound.wait { !$0.frames.isEmpty } && voice.wait { !$0.frames.isEmpty })
        #expect(sound.frames == [block] && voice.frames == [word])
        other.source.contentHint = .text
        other.sender.captureObserver.captureWasInterrupted(by: .minimized)
        #expect(app.log.wait(for: "interrupted: the window is minimized"))
        #expect(app.source.broadcaster.isMuted && app.source.contentHint == .text)
        other.sender.captureObserver.captureInterruptionDidEnd(.minimized)
        #expect(app.log.wait(for: "goes on: the window is minimized"))
        #expect(!app.source.broadcaster.isMuted)
        let larger = BroadcastFixture.picture(PixelSize(width: 200, height: 120), seed: 5)
        other.show(larger, damage: [])
        #expect(app.pictures.wait(until: Self.shows(larger)))
        #expect(app.pictures.frames.last?.damage == nil)
        other.sender.stop()
        app.source.stop()
    }

    @Test("A muted source pauses the share, with its reason if it has one")
    func mute() throws {
        let folder = try SocketFolder()
        let app = try App(.port(0), in: folder)
        try app.source.start()
        let other = try Extension(app.source.endpoint, .tcp, in: folder)
        other.source.isMuted = true
        try other.sender.start()
        let words = "the source sends no frames"
        #expect(app.log.wait(for: "interrupted: \(words)"))
        #expect(app.source.broadcaster.isMuted)
        other.source.isMuted = false
        #expect(app.log.wait(for: "goes on: \(words)"))
        #expect(!app.source.broadcaster.isMuted)
        other.sender.captureObserver.captureWasInterrupted(by: .minimized)
        #expect(app.log.wait(for: "interrupted: the window is minimized"))
        other.source.isMuted = true
        other.source.isMuted = false
        other.sender.captureObserver.captureInterruptionDidEnd(.minimized)
        #expect(app.log.wait(for: "goes on: the window is minimized"))
        #expect(app.log.all.count { $0.hasPrefix("interrupted: \(words)") } == 1)
        #expect(!app.source.broadcaster.isMuted)
        other.sender.stop()
        app.source.stop()
    }

    @Test("A sink that is added later gets the current frame", arguments: Way.allCases)
    func laterSink(way: Way) throws {
        let folder = try SocketFolder()
        let app = try App(Self.endpoint(way, in: folder), in: folder)
        try app.source.start()
        let other = try Extension(app.source.endpoint, way.transport, in: folder)
        try other.sender.start()
        #expect(other.log.wait(for: "connected"))
        let picture = BroadcastFixture.picture(seed: 1)
        other.show(picture)
        #expect(app.pictures.wait(until: Self.shows(picture)))
        let late = LateSink()
        app.source.add(late)
        #expect(late.collector.wait(until: Self.shows(picture)))
        other.sender.stop()
        app.source.stop()
    }

    @Test("The extension's end pauses the share, and another extension continues it", arguments: Way.allCases)
    func extensionRestarts(way: Way) throws {
        let folder = try SocketFolder()
        let app = try App(Self.endpoint(way, in: folder), in: folder)
        try app.source.start()
        for round in 1...5 {
            let other = try Extension(app.source.endpoint, way.transport, in: folder)
            try other.sender.start()
            #expect(other.log.wait(for: "connected"))
            let picture = BroadcastFixture.picture(seed: round)
            other.show(picture)
            #expect(app.pictures.wait(until: Self.shows(picture)))
            other.sender.stop()
            #expect(app.log.wait(for: "interrupted: the capturing process left", count: round))
            #expect(app.source.broadcaster.isMuted)
        }
        app.source.stop()
    }

    @Test("A window beyond the screen is shown again after its process reconnects", arguments: Way.allCases)
    func movedOffScreen(way: Way) throws {
        let folder = try SocketFolder()
        let app = try App(Self.endpoint(way, in: folder), in: folder)
        try app.source.start()
        for round in 1...2 {
            let other = try Extension(app.source.endpoint, way.transport, in: folder)
            try other.sender.start()
            #expect(other.log.wait(for: "connected"))
            other.sender.captureObserver.captureWasInterrupted(by: .movedOffScreen)
            #expect(app.log.wait(for: "interrupted: the window was moved off the screen", count: round))
            let picture = BroadcastFixture.picture(seed: round)
            other.show(picture)
            #expect(app.pictures.wait(until: Self.shows(picture)))
            #expect(!app.source.broadcaster.isMuted)
            other.sender.stop()
            #expect(app.log.wait(for: "interrupted: the capturing process left", count: round))
        }
        app.source.stop()
    }

    @Test(
        "An extension that ended with its app connects to the next app when it is started again",
        arguments: Way.allCases)
    func appRestarts(way: Way) throws {
        let folder = try SocketFolder()
        var app: App? = try App(Self.endpoint(way, in: folder), in: folder)
        let endpoint = try #require(app?.source.endpoint)
        try app?.source.start()
        let other = try Extension(endpoint, way.transport, in: folder)
        try other.sender.start()
        #expect(other.log.wait(for: "connected"))
        let picture = BroadcastFixture.picture(seed: 7)
        other.show(picture)
        if let app { #expect(app.pictures.wait(until: Self.shows(picture))) }
        app?.source.stop()
        #expect(other.log.wait(for: "ended"))
        // The extension ended because the share is over. When it is started again, it finds the next app.
        app = nil
        try other.sender.start()
        let next = try App(endpoint, in: folder)
        try next.source.start()
        #expect(other.log.wait(for: "connected", count: 2))
        // An unchanged source delivers no other frame.
        #expect(next.pictures.wait(until: Self.shows(picture)))
        other.sender.stop()
        next.source.stop()
    }

    @Test("The end of the extension's source ends the share after the last frame", arguments: Way.allCases)
    func sourceEnds(way: Way) throws {
        for error in [nil, CaptureSourceError(.systemFailure, "the display was lost")] {
            let folder = try SocketFolder()
            let app = try App(Self.endpoint(way, in: folder), in: folder)
            try app.source.start()
            let other = try Extension(app.source.endpoint, way.transport, in: folder)
            try other.sender.start()
            #expect(other.log.wait(for: "connected"))
            let picture = BroadcastFixture.picture(seed: 9)
            other.show(picture)
            other.source.end(error: error)
            #expect(other.log.wait(for: "ended"))
            let end =
                error == nil
                ? "stopped"
                : "source failed: the capture failed: the source of the capturing process ended (the display was lost)"
            #expect(app.log.wait(for: end))
            #expect(Self.shows(picture)(app.pictures))
        }
    }

    @Test("A second extension is rejected, and the first continues", arguments: Way.allCases)
    func secondClient(way: Way) throws {
        let folder = try SocketFolder()
        let app = try App(Self.endpoint(way, in: folder), in: folder)
        try app.source.start()
        let first = try Extension(app.source.endpoint, way.transport, in: folder)
        try first.sender.start()
        #expect(first.log.wait(for: "connected"))
        let second = try Extension(app.source.endpoint, way.transport, in: folder)
        try second.sender.start()
        #expect(
            second.log.wait(
                for: "ended: the capture failed: the share refused this process, because another capturing process is "
                    + "connected"
            ))
        #expect(app.log.wait(for: "failed: the capture failed: another capturing process is connected"))
        let picture = BroadcastFixture.picture(seed: 3)
        first.show(picture)
        #expect(app.pictures.wait(until: Self.shows(picture)))
        first.sender.stop()
        app.source.stop()
    }

    @Test("A wrong token is rejected on either side and never shown", arguments: Way.allCases)
    func wrongTokens(way: Way) throws {
        let folder = try SocketFolder()
        let app = try App(Self.endpoint(way, in: folder), in: folder)
        try app.source.start()
        let secret = Array("quite another token, yes".utf8)
        let stranger = try Extension(
            app.source.endpoint, way.transport, in: folder,
            tokens: BroadcastTokens(mine: secret, peers: BroadcastFixture.appToken))
        try stranger.sender.start()
        #expect(stranger.log.wait(for: "ended: wrong token: the share expects another token"))
        #expect(app.log.wait(for: "failed: wrong token: it showed another token", count: 3))
        let doubter = try Extension(
            app.source.endpoint, way.transport, in: folder,
            tokens: BroadcastTokens(mine: BroadcastFixture.extensionToken, peers: secret.dropLast(4)))
        try doubter.sender.start()
        #expect(doubter.log.wait(for: "ended: wrong token: the share showed another token"))
        for line in app.log.all + stranger.log.all + doubter.log.all {
            #expect(
                !line.contains("quite another") && !line.contains("the app's own") && !line.contains("what the ext"))
        }
        let friend = try Extension(app.source.endpoint, way.transport, in: folder)
        try friend.sender.start()
        #expect(friend.log.wait(for: "connected"))
        friend.sender.stop()
        app.source.stop()
    }

    @Test("Garbage, silence, floods and early ends do not block other connections", arguments: Way.allCases)
    func strangers(way: Way) throws {
        let folder = try SocketFolder()
        let app = try App(Self.endpoint(way, in: folder), in: folder)
        try app.source.start()
        // Silent connections that stay. More than the limit would block others until they are closed.
        let silent = try (0..<5).map { _ in try RawClient(app.source.endpoint) }
        try RawClient(app.source.endpoint).finishSaying()
        try RawClient(app.source.endpoint).say([0])
        let garbage = try RawClient(app.source.endpoint)
        garbage.say((0..<4096).map { UInt8(truncatingIfNeeded: $0 &* 73) })
        #expect(garbage.hearToEnd() == [])
        let hello = BroadcastMessage.hello(version: 1, transport: .tcp).encoded
        for bytes in [
            // An unknown message, a frame before the hello, a body that is too long, and a hello of another version.
            [200, 0, 0, 0], BroadcastMessage.picture(BroadcastMessageTests.picture).encoded, [3, 0xFF, 0xFF, 0xFF],
            Array(hello.prefix(13)) + [9, 0], hello + [9, 0, 0, 0], hello + hello,
            hello + BroadcastMessage.consumed.encoded,
            hello + BroadcastMessage.memory.encoded,
        ] {
            let client = try RawClient(app.source.endpoint)
            client.say(BroadcastFixture.greeting(BroadcastFixture.extensionToken) + bytes)
            #expect(try #require(client.hearToEnd()).starts(with: BroadcastFixture.greeting(BroadcastFixture.appToken)))
        }
        let friend = try Extension(app.source.endpoint, way.transport, in: folder)
        try friend.sender.start()
        #expect(friend.log.wait(for: "connected"))
        let picture = BroadcastFixture.picture(seed: 3)
        friend.show(picture)
        #expect(app.pictures.wait(until: Self.shows(picture)))
        friend.sender.stop()
        app.source.stop()
        withExtendedLifetime(silent) {}
    }

    @Test("A handshake and a frame that arrive byte by byte are read", arguments: [Way.tcpPort, .tcpPath])
    func byteByByte(way: Way) throws {
        let folder = try SocketFolder()
        let app = try App(Self.endpoint(way, in: folder), in: folder)
        try app.source.start()
        let picture = BroadcastFixture.picture(PixelSize(width: 6, height: 4), seed: 4)
        let description = PictureDescription(
            timestamp: .zero, rotation: .upright, format: .bgra, size: picture.size,
            strides: picture.withPlanes { $0.strides }, parts: nil)
        let client = try RawClient(app.source.endpoint)
        let pixels = picture.withPlanes { Array($0.planes[0].prefix(description.byteCount(ofPlane: 0))) }
        let bytes =
            BroadcastFixture.greeting(BroadcastFixture.extensionToken)
            + BroadcastMessage.hello(version: 1, transport: .tcp).encoded
            + BroadcastMessage.picture(description).encoded + pixels
        for byte in bytes { client.say([byte]) }
        #expect(app.pictures.wait(until: Self.shows(picture)))
        let answers =
            BroadcastFixture.greeting(BroadcastFixture.appToken) + BroadcastMessage.welcome.encoded
            + BroadcastMessage.consumed.encoded
        #expect(client.hear(answers.count) == answers)
        app.source.stop()
        #expect(client.hearToEnd() == BroadcastMessage.ended.encoded)
    }

    @Test("Unwanted frames wait at the extension, and their damage is kept")
    func newestWaits() throws {
        let folder = try SocketFolder()
        let app = try App(.port(0), in: folder)
        let busy = BusySink()
        app.source.remove(app.pictures)
        app.source.add(busy)
        try app.source.start()
        let other = try Extension(app.source.endpoint, .tcp, in: folder)
        try other.sender.start()
        #expect(other.log.wait(for: "connected"))
        #expect(other.sender.video.demand == .picture)
        var shown = BroadcastFixture.picture(Self.size, seed: 0)
        other.show(shown)
        #expect(busy.collector.wait(until: Self.shows(shown)))
        busy.isBusy = true
        // One is on its way, of the others the newest stays; each changes a column of its own.
        for number in 0..<20 {
            let part = PixelRectangle(x: number, y: 0, size: PixelSize(width: 1, height: 48))
            shown = BroadcastFixture.picture(
                shown, with: part, of: BroadcastFixture.picture(Self.size, seed: 50 + number))
            other.show(shown, damage: [part])
        }
        let before = busy.collector.frames.count
        busy.isBusy = false
        #expect(busy.collector.wait(until: Self.shows(shown)))
        #expect(busy.collector.frames.count <= before + 2)
        #expect(other.sender.framesDropped >= 18)
        other.sender.stop()
        app.source.stop()
    }

    @Test("The extension drops no frame of 1080p in shared memory if the app reads every other one")
    func everyOther() throws {
        let folder = try SocketFolder()
        let app = try App(.port(0), in: folder)
        let sink = EveryOtherSink()
        app.source.remove(app.pictures)
        app.source.add(sink)
        try app.source.start()
        let other = try Extension(app.source.endpoint, .sharedMemory, in: folder)
        try other.sender.start()
        #expect(other.log.wait(for: "connected"))
        for pair in 0..<30 {
            for value in [2 * pair + 1, 2 * pair + 2] {
                other.show(
                    PixelBuffer(size: PixelSize(width: 1920, height: 1080), format: .i420) { planes, _ in
                        for plane in planes { plane.initializeMemory(as: UInt8.self, repeating: UInt8(value)) }
                    })
                // It has left for the memory once the next is of use.
                while other.sender.video.demand == .nothing { sched_yield() }
            }
            #expect(sink.read(upTo: UInt8(2 * pair + 2)))
        }
        #expect(other.sender.framesDropped == 0)
        #expect(sink.values.count >= 30 && sink.values == sink.values.sorted())
        other.sender.stop()
        app.source.stop()
    }

    @Test("An app that can't listen fails with a reason and a remedy")
    func listening() throws {
        let folder = try SocketFolder()
        let app = try App(.port(0), in: folder)
        guard case .port(let port) = app.source.endpoint else {
            Issue.record("no port")
            return
        }
        #expect(
            throws: BroadcastError.listen(
                "another program uses port \(port) of 127.0.0.1", remedy: "choose another port, for both processes")
        ) { try App(.port(port), in: folder) }
        let path = folder.path + "/app.sock"
        let other = try App(.path(path), in: folder)
        #expect(
            throws: BroadcastError.listen(
                "another share uses \(path), or it is not a socket", remedy: "choose another path")
        ) {
            try App(.path(path), in: folder)
        }
        withExtendedLifetime(other) {}
        let file = folder.path + "/file"
        #expect(FileManager.default.createFile(atPath: file, contents: Data("mine".utf8)))
        #expect(throws: BroadcastError.self) { try App(.path(file), in: folder) }
        #expect(FileManager.default.contents(atPath: file) == Data("mine".utf8))
        let long = folder.path + "/" + String(repeating: "x", count: 107)
        for path in [long, "", "a\u{0}b"] {
            #expect(throws: BroadcastError.self) { try App(.path(path), in: folder) }
            #expect(throws: BroadcastError.self) { try Extension(.path(path), .tcp, in: folder) }
        }
        #expect(throws: BroadcastError.self) { try App(.path(folder.path + "/nowhere/app.sock"), in: folder) }
    }

    @Test("A socket is private to its owner, and one that a killed share left is replaced")
    func sockets() throws {
        let folder = try SocketFolder()
        let path = folder.path + "/app.sock"
        let app = try App(.path(path), in: folder)
        var status = stat()
        #expect(lstat(path, &status) == 0 && status.st_mode & 0o777 == 0o600)
        // The socket that a killed process leaves, on which no process listens.
        let left = folder.path + "/left.sock"
        let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        var address = try SocketAddress.path(left)
        #expect(address.with { bind(descriptor, $0, $1) } == 0)
        close(descriptor)
        let next = try App(.path(left), in: folder)
        withExtendedLifetime((app, next)) {}
    }

    @Test("Tokens are too long to guess and never shown")
    func tokens() throws {
        #expect(throws: BroadcastError.self) { try BroadcastTokens(mine: "short".utf8, peers: "long enough".utf8) }
        #expect(throws: BroadcastError.self) {
            try BroadcastTokens(mine: "long enough".utf8, peers: String(repeating: "x", count: 513).utf8)
        }
        let tokens = try BroadcastTokens(mine: "mine, mine".utf8, peers: "yours, yours".utf8)
        #expect(tokens.accepts(Array("yours, yours".utf8)) && !tokens.accepts(Array("mine, mine".utf8)))
        var dumped = ""
        dump(tokens, to: &dumped)
        #expect(!"\(tokens)\(dumped)".contains("mine"))
    }
}

/// A collector whose demand is the current frame until it has one, like an encoder.
private final class LateSink: VideoSink {
    let collector = Collector()

    func receive(_ frame: VideoFrame) { collector.receive(frame) }
    var demand: FrameDemand { collector.frames.isEmpty ? .picture : .changes }
}

/// A sink with demand only while a test reads a frame. It records the first sample of each frame, and whether the frame
/// is whole.
private final class EveryOtherSink: VideoSink {
    private struct State {
        var values: [UInt8] = []
        var isReading = false
    }

    private let state = Locked(State())
    private let changed = DispatchSemaphore(value: 0)

    var values: [UInt8] { state.withLock { $0.values } }
    var demand: FrameDemand { state.withLock { $0.isReading } ? .changes : .nothing }

    func receive(_ frame: VideoFrame) {
        // The slate without a connected extension.
        guard frame.size.width == 1920 else { return }
        let value = frame.buffer.withPlanes { set in
            let (first, last) = (set.planes[0].first ?? 0, set.planes[2].last ?? 0)
            return first == last ? first : 255
        }
        state.withLock { $0.values.append(value) }
        changed.signal()
    }

    /// Takes frames until that of `value` has arrived. Returns false after ten seconds.
    func read(upTo value: UInt8) -> Bool {
        state.withLock { $0.isReading = true }
        defer { state.withLock { $0.isReading = false } }
        while values.last != value {
            guard changed.wait(timeout: .now() + 10) == .success else { return false }
        }
        return true
    }
}
