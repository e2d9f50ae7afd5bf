import Foundation
import RTCShareLocks
import Testing
import TestSupport

@testable import rtcshare

/// The socket where a running share is asked, and what comes in at it.
@Suite(.timeLimit(.minutes(1)))
struct ControlServerTests {
    private static let requests: [ControlRequest] = [
        .status, .stop, .pause(slate: true), .pause(slate: false), .resume, .source(spec: "test:640x360@15"),
        .set(ControlledSettings(maxBitrate: 800, maxFramerate: 7.5, width: 640, height: 360, hint: .text)),
        .set(ControlledSettings()), .mute(.all), .unmute(.microphone), .destination(name: "main"),
        .join(subgroup: "design"), .leave(subgroup: "design"), .invite(main: false, subgroups: ["design", "sales"]),
        .admit(viewer: nil, answer: "v=0\r\n"), .admit(viewer: 2, answer: ""),
    ]

    @Test("A message is one line, and reads as what was written")
    func roundTrip() throws {
        for request in Self.requests {
            let line = try ControlLine.encode(request)
            #expect(line.firstIndex(of: UInt8(ascii: "\n")) == line.count - 1)
            #expect(try ControlLine.decode(ControlRequest.self, from: line.dropLast()) == request)
        }
        for answer in [
            .done(notice: nil), .done(notice: "é\n"), .failed(status: 65, reason: "", remedy: nil),
            .offer(viewer: 2, description: "v=0\r\n"),
        ] as [ControlAnswer] {
            let line = try ControlLine.encode(answer)
            #expect(line.firstIndex(of: UInt8(ascii: "\n")) == line.count - 1)
            #expect(try ControlLine.decode(ControlAnswer.self, from: line.dropLast()) == answer)
        }
        #expect(
            try ControlLine.encode(ControlRequest.pause(slate: true)) == Array("{\"pause\":{\"slate\":true}}\n".utf8))
    }

    @Test("A request that is cut short anywhere is none")
    func requestCutShort() throws {
        for request in Self.requests {
            let line = try ControlLine.encode(request).dropLast()
            for length in 0..<line.count {
                #expect(throws: (any Error).self) {
                    try ControlLine.decode(ControlRequest.self, from: line.prefix(length))
                }
            }
        }
    }

    @Test("Only its user can use the socket, and it is gone with the share")
    func privateSocket() async throws {
        let host = try await Host()
        let attributes = try FileManager.default.attributesOfItem(atPath: host.path)
        #expect((attributes[.posixPermissions] as? NSNumber)?.intValue == 0o600)
        #expect(throws: CommandFailure.self) { try ControlSocket.listen(path: host.path) }
        #expect(try await host.ask([.resume]) == [.done(notice: "resume")])
        await host.end()
        #expect(!FileManager.default.fileExists(atPath: host.path))
    }

    @Test("Requests of one client are answered in their order")
    func requestOrder() async throws {
        let host = try await Host()
        let answers = try await host.ask([.resume, .stop, .destination(name: "main")])
        #expect(
            answers == [.done(notice: "resume"), .done(notice: "stop"), .done(notice: "destination(name: \"main\")")])
        await host.end()
    }

    @Test(
        "What is no request is told so, and the next client is served",
        arguments: [
            ("hello\n", 64), ("\n", 64), ("{}\n", 64), ("{\"reboot\":{}}\n", 64), ("\u{0}\u{1}\u{2}\n", 64),
            ("{\"pause\":{}}\n", 64), ("[[[[[[[[[[[[\n", 64), (String(repeating: "x", count: 262_145), 65),
            (String(repeating: "[", count: 262_000) + "\n", 64),
        ] as [(String, Int32)])
    func invalidRequest(text: String, status: Int32) async throws {
        let host = try await Host()
        let bytes = try await host.exchange(Array(text.utf8))
        let answer = try ControlLine.decode(ControlAnswer.self, from: bytes.dropLast())
        guard case .failed(status, _, _) = answer else { Issue.record("\(answer)"); return }
        #expect(try await host.ask([.resume]) == [.done(notice: "resume")])
        await host.end()
    }

    @Test("A client that says no more is answered what it asked")
    func halfClose() async throws {
        let host = try await Host()
        let line = try ControlLine.encode(ControlRequest.resume)
        let bytes = try await host.exchange(line, isHalfClosed: true)
        #expect(try ControlLine.decode(ControlAnswer.self, from: bytes.dropLast()) == .done(notice: "resume"))
        #expect(try await host.exchange(line.dropLast(), isHalfClosed: true).isEmpty)
        #expect(try await host.exchange([], isHalfClosed: true).isEmpty)
        await host.end()
    }

    @Test("A client that takes its time is let go, and those who are too many are turned away")
    func clientLimits() async throws {
        let host = try await Host(limits: ControlServer.Limits(patience: .milliseconds(300), clients: 2))
        let slow = try [host.connect(), host.connect()]
        // Both have their places; the third is turned away without a word.
        #expect(try await host.exchange([]).isEmpty)
        for client in slow { #expect(try await host.rest(of: client).isEmpty) }
        // Their places are free again.
        while try await host.exchange(ControlLine.encode(ControlRequest.resume), isHalfClosed: true).isEmpty {}
        await host.end()
    }

    @Test("Of a client whose last answer is on its way nothing is read, and for one that is gone nothing is done")
    func unreadAnswers() async throws {
        let asked = Locked(0)
        let host = try await Host(limits: ControlServer.Limits(patience: .milliseconds(500))) { _ in
            asked.withLock { $0 += 1 }
            return .done(notice: String(repeating: "x", count: 1000))
        }
        // A client that reads none is asked for so many until it has to.
        let line = try ControlLine.encode(ControlRequest.resume)
        _ = try await host.flood([], repeating: line)
        let answered = asked.withLock { $0 } - 1
        #expect(answered > 1)
        // Now the one that waits is the last.
        let requests = Array(repeating: line, count: answered).flatMap { $0 } + Array("hello\n".utf8)
        let taken = try await host.flood(requests, repeating: [0x20])
        #expect(asked.withLock { $0 } == 2 * answered + 1)
        #expect(taken < 4 << 20, "\(taken)")
        await host.end()
    }

    @Test("A request that takes long holds up no other client")
    func slowRequest() async throws {
        let (stream, gate) = AsyncStream.makeStream(of: Void.self)
        let host = try await Host { request in
            if request == .resume { for await _ in stream { break } }
            return .done(notice: nil)
        }
        let waiting = Task { try await host.ask([.resume]) }
        #expect(try await host.ask([.stop]) == [.done(notice: nil)])
        gate.yield()
        #expect(try await waiting.value == [.done(notice: nil)])
        await host.end()
    }

    @Test("What a share left that was killed is taken over; a file is not")
    func leftoverSocket() async throws {
        let folder = try TemporaryFolder()
        let path = folder.file("left.sock").path
        // A socket at which nobody listens any more.
        close(try ControlSocket.listen(path: path).descriptor)
        #expect(try ControlSocket(path: path).connect() == nil)
        let listening = try ControlSocket.listen(path: path)
        close(listening.descriptor)
        let file = try folder.write("precious", to: "file").path
        let failure = #expect(throws: CommandFailure.self) { try ControlSocket.listen(path: file) }
        #expect(failure?.status == .cannotCreate)
        #expect(FileManager.default.contents(atPath: file) == Data("precious".utf8))
    }

    @Test("A socket is trusted where its process is the same user's, or root's")
    func peers() throws {
        #expect(SocketPeer(user: 1000).isTrusted(by: 1000) && SocketPeer(user: 0).isTrusted(by: 1000))
        #expect(!SocketPeer(user: 65_534).isTrusted(by: 1000) && !SocketPeer(user: 1000).isTrusted(by: 0))
        let folder = try TemporaryFolder()
        let path = folder.file("own.sock").path
        let listening = try ControlSocket.listen(path: path)
        let client = try #require(try ControlSocket(path: path).connect())
        #expect(SocketPeer(of: client).user == geteuid() && SocketPeer(of: STDIN_FILENO).user == .max)
        close(client)
        close(listening.descriptor)
    }

    @Test("A path that no socket can have is said to be too long")
    func overlongPath() throws {
        let folder = try TemporaryFolder()
        let path = folder.file(String(repeating: "x", count: 80)).path
        let failure = #expect(throws: CommandFailure.self) { try ControlSocket.listen(path: path) }
        #expect(failure?.message.contains("107 are allowed") == true)
    }

    @Test(
        "A name that could be a path is none",
        arguments: ["", "-x", "a/b", "..", "a.b", "é", String(repeating: "x", count: 33)])
    func invalidName(name: String) {
        #expect(throws: CommandFailure.self) { try ControlSocket(name: name) }
    }
}

/// A server in a folder of its own, which answers with what it was asked.
private final class Host: Sendable {
    let path: String
    private let folder: TemporaryFolder
    private let server: ControlServer

    init(
        limits: ControlServer.Limits = ControlServer.Limits(),
        respond: @escaping ControlServer.Respond = { .done(notice: "\($0)") }
    ) async throws {
        folder = try TemporaryFolder()
        path = folder.file("share.sock").path
        server = try await ControlServer.start(try ControlSocket.listen(path: path), limits: limits, respond: respond)
    }

    func end() async { await server.close() }

    func connect() throws -> Int32 { try #require(try ControlSocket(path: path).connect()) }

    /// Asks over one connection.
    func ask(_ requests: [ControlRequest]) async throws -> [ControlAnswer] {
        let bytes = try await exchange(try requests.flatMap { try ControlLine.encode($0) }, lines: requests.count)
        return try bytes.split(separator: UInt8(ascii: "\n")).map {
            try ControlLine.decode(ControlAnswer.self, from: $0)
        }
    }

    /// Sends `bytes`, and returns what comes: up to the end, or to so many lines.
    func exchange(
        _ bytes: some Collection<UInt8>, isHalfClosed: Bool = false, lines: Int = .max
    ) async throws -> [UInt8] {
        let (client, bytes) = (try connect(), Array(bytes))
        return await Self.blocking {
            var rest = bytes[...]
            while !rest.isEmpty {
                let count = rest.withUnsafeBytes { send(client, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
                // A server that has heard enough does not listen to the rest.
                if count <= 0 { break }
                rest = rest.dropFirst(count)
            }
            if isHalfClosed { shutdown(client, Int32(SHUT_WR)) }
            return Self.read(client, lines: lines)
        }
    }

    /// Sends `bytes`, and `unit` again and again, without reading; how much was taken before the server ended it, up to a
    /// bound.
    func flood(_ bytes: [UInt8], repeating unit: [UInt8]) async throws -> Int {
        let client = try connect()
        let chunk = Array(repeating: unit, count: (1 << 16) / unit.count).flatMap { $0 }
        return await Self.blocking {
            defer { close(client) }
            var (rest, taken) = (bytes[...], 0)
            while taken < 64 << 20 {
                if rest.isEmpty { rest = chunk[...] }
                let count = rest.withUnsafeBytes { send(client, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
                if count <= 0 { break }
                rest = rest.dropFirst(count)
                taken += count
            }
            return taken
        }
    }

    /// What still comes to a client.
    func rest(of client: Int32) async throws -> [UInt8] {
        await Self.blocking { Self.read(client, lines: .max) }
    }

    /// Reads, and closes.
    private static func read(_ client: Int32, lines: Int) -> [UInt8] {
        var received: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 4096)
        while received.count(where: { $0 == UInt8(ascii: "\n") }) < lines {
            let count = Glibc.read(client, &buffer, buffer.count)
            guard count > 0 else { break }
            received += buffer[..<count]
        }
        close(client)
        return received
    }

    /// Waits on a thread of its own.
    private static func blocking<Result: Sendable>(_ body: @escaping @Sendable () -> Result) async -> Result {
        await withCheckedContinuation { continuation in
            DispatchQueue.global().async { continuation.resume(returning: body()) }
        }
    }
}
