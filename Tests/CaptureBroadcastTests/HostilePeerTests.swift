import Foundation
import RTCShareCSharedMemory
import RTCShareCapture
import RTCShareMedia
import TestSupport
import Testing

@testable import RTCShareCaptureBroadcast

/// The other side of a broadcast knows its token, or does not, and means no good.
@Suite(.serialized) struct HostilePeerTests {
    /// A waiting app, and its log.
    private struct App {
        let folder: SocketFolder
        let source: BroadcastSource
        let pictures = Collector()
        let log = BroadcastLog()

        init(_ endpoint: BroadcastEndpoint? = nil, in folder: SocketFolder) throws {
            self.folder = folder
            source = try BroadcastSource(
                endpoint: endpoint ?? .path(folder.path + "/app.sock"), tokens: BroadcastFixture.appTokens(),
                environment: folder.environment)
            source.add(broadcastObserver: log)
            source.add(pictures)
            try source.start()
        }

        /// A client that has shown its token and is in.
        func guest(_ transport: BroadcastTransport) throws -> RawClient {
            let client = try RawClient(source.endpoint)
            client.say(
                BroadcastFixture.greeting(BroadcastFixture.extensionToken)
                    + BroadcastMessage.hello(version: 1, transport: transport).encoded)
            let answer = BroadcastFixture.greeting(BroadcastFixture.appToken) + BroadcastMessage.welcome.encoded
            try #require(client.hear(answer.count) == answer)
            return client
        }

        /// Returns whether an honest extension is accepted and its frame arrives.
        func servesAnother(seed: Int) throws -> Bool {
            let sender = try sender()
            let broadcaster = VideoBroadcaster()
            let heard = BroadcastLog()
            sender.add(observer: heard)
            broadcaster.add(sender.video)
            try sender.start()
            defer { sender.stop() }
            guard heard.wait(for: "connected") else { return false }
            let picture = BroadcastFixture.picture(seed: seed)
            broadcaster.send(BroadcastFixture.frame(picture))
            return pictures.wait { $0.frames.last?.buffer.samples == picture.samples }
        }

        func sender(_ transport: BroadcastTransport = .sharedMemory) throws -> BroadcastSender {
            try BroadcastSender(
                endpoint: source.endpoint, tokens: BroadcastFixture.extensionTokens(), transport: transport,
                environment: folder.environment)
        }
    }

    private static var openDescriptors: Int {
        get throws { try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count }
    }

    /// A descriptor that is closed at the end of a test.
    private final class Descriptor {
        let number: Int32

        init(_ number: Int32) throws {
            try #require(number >= 0)
            self.number = number
        }

        deinit {
            close(number)
        }
    }

    @Test("Descriptors without valid frame memory are rejected and closed")
    func descriptors() throws {
        let app = try App(in: try SocketFolder())
        #expect(try app.servesAnother(seed: 0))
        var ends: [Int32] = [-1, -1]
        try #require(pipe(&ends) == 0)
        let pipe = (try Descriptor(ends[0]), try Descriptor(ends[1]))
        let event = try Descriptor(event_create())
        let tooLarge = try Descriptor(shared_memory_create((1 << 30) + 4096))
        let empty = try Descriptor(shared_memory_create(1 << 20))
        let before = try Self.openDescriptors
        let cases: [[Int32]] = [
            [], [pipe.0.number], [pipe.1.number], [event.number], [tooLarge.number], [empty.number],
            [pipe.0.number, event.number],
        ]
        for (round, passed) in cases.enumerated() {
            let client = try app.guest(.sharedMemory)
            client.say(BroadcastMessage.memory.encoded, passing: passed)
            #expect(client.hearToEnd() == [])
            #expect(try app.servesAnother(seed: round + 1))
        }
        // With messages that need no descriptor.
        let client = try app.guest(.sharedMemory)
        for _ in 0..<9 { client.say(BroadcastMessage.resumed.encoded, passing: [event.number]) }
        #expect(client.hearToEnd() == [])
        #expect(try app.servesAnother(seed: 20))
        #expect(app.log.wait(for: "finished", count: 2 * cases.count + 3))
        app.source.stop()
        #expect(try Self.openDescriptors <= before + 1)
    }

    @Test("Frame memory can be passed repeatedly and replaces the earlier one, whatever size it claims")
    func muchMemory() throws {
        let app = try App(in: try SocketFolder())
        let size = PixelSize(width: 64, height: 48)
        let client = try app.guest(.sharedMemory)
        for seed in 0..<100 {
            // The pages of a sparse gigabyte do not exist before an access.
            let sparse = try Descriptor(shared_memory_create(1 << 30))
            client.say(BroadcastMessage.memory.encoded, passing: [try Self.head(of: sparse.number).number])
            let writer = try FrameMemoryWriter(planeBytes: FrameMemoryWriter.planeBytes(size: size, format: .bgra))
            let picture = BroadcastFixture.picture(size, seed: seed)
            #expect(writer.write(BroadcastFixture.frame(picture), changes: .everything))
            client.say(BroadcastMessage.memory.encoded, passing: [writer.descriptor])
            #expect(app.pictures.wait { $0.frames.last?.buffer.samples == picture.samples })
        }
        let maps = try kernelTable("/proc/self/maps")
        #expect(maps.split(separator: "\n").filter { $0.contains("memfd:rtcshare-frames") }.count < 130)
        app.source.stop()
    }

    /// Writes the header of one slot of 8K frames into memory, without a frame.
    private static func head(of descriptor: Int32) throws -> Descriptor {
        let memory = mmap(nil, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0)
        let start = try #require(memory)
        try #require(start != MAP_FAILED)
        shared_store32(start + FrameMemory.Head.magic, FrameMemory.magicNumber)
        shared_store32(start + FrameMemory.Head.version, FrameMemory.versionNumber)
        shared_store32(start + FrameMemory.Head.slotCount, 3)
        shared_store64(start + FrameMemory.Head.slotSize, UInt64(FrameMemory.slotSize(planeBytes: 7680 * 4320 * 4)))
        munmap(start, 4096)
        return try Descriptor(dup(descriptor))
    }

    @Test("An app that overwrites the shared memory does not trap the writer")
    func damagedByApp() throws {
        let size = PixelSize(width: 64, height: 48)
        let writer = try FrameMemoryWriter(planeBytes: FrameMemoryWriter.planeBytes(size: size, format: .bgra))
        let memory = try FrameMemory(mapping: writer.descriptor)
        defer { memory.unmap() }
        var written = 0
        for start in [memory.start] + (0..<memory.slotCount).map(memory.slot) {
            for offset in stride(from: 0, to: 128, by: 4) {
                for value in [0, 1, 0x7FFF_FFFF, 0xFFFF_FFFF] as [UInt32] {
                    let word = shared_load32(start + offset)
                    shared_store32(start + offset, value)
                    let picture = BroadcastFixture.picture(size, seed: offset)
                    if writer.write(BroadcastFixture.frame(picture), changes: .everything) { written += 1 }
                    shared_store32(start + offset, word)
                }
            }
        }
        #expect(written > 0)
    }

    @Test("Silent connections do not block others, and the longest silent one is closed")
    func silence() throws {
        for endpoint in [nil, BroadcastEndpoint.port(0)] {
            let app = try App(endpoint, in: try SocketFolder())
            let silent = try (0..<12).map { _ in try RawClient(app.source.endpoint) }
            let guest = try app.guest(.tcp)
            // Of 13, eight may wait at a time.
            #expect(silent.map(\.isHungUpOn) == (0..<12).map { $0 < 5 })
            app.source.stop()
            withExtendedLifetime(guest) {}
        }
    }

    @Test("A connection with a valid token is not closed for silent ones, whatever their number")
    func silenceBesideToken() throws {
        let app = try App(in: try SocketFolder())
        let known = try RawClient(app.source.endpoint)
        known.say(BroadcastFixture.greeting(BroadcastFixture.extensionToken))
        let greeting = BroadcastFixture.greeting(BroadcastFixture.appToken)
        #expect(known.hear(greeting.count) == greeting)
        // Each of these is accepted, and the last one is served after the connections that they displace are closed.
        let silent = try (0..<40).map { _ in try RawClient(app.source.endpoint) }
        let last = try RawClient(app.source.endpoint)
        last.say(BroadcastFixture.greeting(BroadcastFixture.extensionToken))
        #expect(last.hear(greeting.count) == greeting)
        #expect(silent.prefix(30).allSatisfy(\.isHungUpOn) && !known.isHungUpOn)
        known.say(BroadcastMessage.hello(version: 1, transport: .tcp).encoded)
        #expect(known.hear(BroadcastMessage.welcome.encoded.count) == BroadcastMessage.welcome.encoded)
        app.source.stop()
        withExtendedLifetime(last) {}
    }

    @Test("The number of silent connections with valid tokens is limited")
    func silenceAfterToken() throws {
        let app = try App(in: try SocketFolder())
        let greeting = BroadcastFixture.greeting(BroadcastFixture.appToken)
        let known = try (0..<20).map { _ in
            let client = try RawClient(app.source.endpoint)
            client.say(BroadcastFixture.greeting(BroadcastFixture.extensionToken))
            return client
        }
        // The first eight are accepted, and no other one before one of them has ended.
        #expect(known.prefix(8).allSatisfy { $0.hear(greeting.count) == greeting })
        #expect(known.dropFirst(8).allSatisfy { $0.hearToEnd() == [] })
        #expect(!known.prefix(8).contains { $0.isHungUpOn })
        app.source.stop()
    }

    @Test("Overlapping damage counts as the whole frame")
    func overlappingParts() throws {
        let size = PixelSize(width: 64, height: 48)
        let writer = try FrameMemoryWriter(planeBytes: FrameMemoryWriter.planeBytes(size: size, format: .bgra))
        let reader = try FrameMemoryReader(mapping: writer.descriptor)
        func take(_ parts: [PixelRectangle], seed: Int) throws -> VideoFrame? {
            #expect(
                writer.write(
                    BroadcastFixture.frame(BroadcastFixture.picture(size, seed: seed)),
                    changes: ChangedParts(parts: parts)))
            return try reader.take()
        }
        _ = try take([], seed: 0)
        let half = PixelSize(width: 64, height: 24)
        let halves = [PixelRectangle(x: 0, y: 0, size: half), PixelRectangle(x: 0, y: 24, size: half)]
        #expect(try take(halves, seed: 1)?.damage == halves)
        let more = halves + [PixelRectangle(x: 0, y: 12, size: half)]
        #expect(try #require(try take(more, seed: 2)).damage == nil)
    }

    @Test("An app that is killed before it reads the token is not reported as a wrong token")
    func killedBeforeTheToken() throws {
        for isPort in [false, true] {
            let folder = try SocketFolder()
            let heard = BroadcastLog()
            var listener: BroadcastListener? = try BroadcastListener(
                isPort ? .port(0) : .path(folder.path + "/app.sock"), environment: folder.environment)
            let endpoint = try #require(listener).endpoint
            let sender = try BroadcastSender(
                endpoint: endpoint, tokens: BroadcastFixture.extensionTokens(), environment: folder.environment)
            sender.add(observer: heard)
            try sender.start()
            for _ in 0..<5 {
                var readiness = Readiness()
                let waiting = try #require(listener?.descriptors.first)
                readiness.add(waiting)
                readiness.wait(until: monotonicNow() + .seconds(10))
                let accepted = try BroadcastListener.accept(at: waiting)
                let socket = try #require(accepted)
                readiness.removeAll()
                readiness.add(socket.descriptor)
                // The token was sent, and is not read.
                readiness.wait(until: monotonicNow() + .seconds(10))
                withExtendedLifetime(socket) {}
            }
            listener = nil
            let app = try App(endpoint, in: folder)
            #expect(heard.wait(for: "connected"))
            sender.stop()
            app.source.stop()
        }
    }

    @Test("A directory that others can write to is used by neither side")
    func foreignFolder() throws {
        let folder = try SocketFolder()
        let shared = folder.path + "/rtcshare"
        try FileManager.default.createDirectory(
            atPath: shared, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
        try #require(chmod(shared, 0o777) == 0)
        #expect(throws: BroadcastError.self) { try App(.port(0), in: folder) }
        let sender = try BroadcastSender(
            endpoint: .port(1024), tokens: BroadcastFixture.extensionTokens(), transport: .sharedMemory,
            environment: folder.environment)
        let heard = BroadcastLog()
        sender.add(observer: heard)
        try sender.start()
        #expect(
            heard.wait(
                for:
                    "ended: the capture failed: the directory of \(shared)/broadcast-1024.sock belongs to another user"
            )
        )
        // A symbolic link is not accepted as a directory.
        try FileManager.default.removeItem(atPath: shared)
        try FileManager.default.createSymbolicLink(atPath: shared, withDestinationPath: "/tmp")
        #expect(throws: BroadcastError.self) { try App(.port(0), in: folder) }
    }

    @Test("Audio of any valid length and number of channels is sent, and other audio is dropped without an error")
    func longSound() throws {
        let app = try App(in: try SocketFolder())
        let collector = SoundCollector()
        app.source.sound.add(collector)
        try app.source.sound.start()
        let sender = try app.sender(.tcp)
        let heard = BroadcastLog()
        sender.add(observer: heard)
        try sender.start()
        #expect(heard.wait(for: "connected"))
        let second = (0..<300_000).map { Float($0 % 1000) / 1000 }
        sender.audio.receive(AudioFrame(samples: second, channels: 3, sampleRate: 48_000, timestamp: .seconds(1)))
        sender.audio.receive(AudioFrame(samples: [1, 1], channels: 1, sampleRate: 100, timestamp: .seconds(2)))
        sender.audio.receive(
            AudioFrame(
                samples: Array(repeating: 0.5, count: 20), channels: 20, sampleRate: 8000, timestamp: .seconds(3)))
        #expect(collector.wait { $0.frames.last?.sampleRate == 8000 })
        let parts = collector.frames.dropLast()
        #expect(parts.flatMap(\.samples) == second && parts.allSatisfy { $0.channels == 3 && $0.sampleRate == 48_000 })
        for (part, next) in zip(parts, parts.dropFirst()) {
            #expect(abs(part.timestamp + part.duration - next.timestamp) < .microseconds(1))
        }
        #expect(collector.frames.last?.channels == 8)
        #expect(!heard.all.contains { $0.hasPrefix("waiting") })
        sender.stop()
        app.source.stop()
    }
}

private func abs(_ duration: Duration) -> Duration { duration < .zero ? .zero - duration : duration }
