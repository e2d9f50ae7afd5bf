import Foundation
import RTCShareLocks
import RTCShareMedia
import RTCSharePeerConnection
import RTCShareSignaling
import RTCShareWireFormat
import Testing
import TestSupport

@testable import rtcshare

/// The socket of a running share, and the HTTP requests that it answers.
@Suite(.timeLimit(.minutes(1)))
struct ControlServerTests {
    private static let requests: [ControlRequest] = [
        .pause(slate: true), .pause(slate: false), .resume, .camera(.none),
        .source(.test(size: PixelSize(width: 640, height: 360), framesPerSecond: 15)),
        .light(isOn: true),
        .set(
            VideoEncodingParameters(
                maxBitrate: .kilobitsPerSecond(800), maxFramerate: 7.5, maxSize: PixelSize(width: 640, height: 360),
                contentHint: .text)),
        .set(VideoEncodingParameters(contentHint: .motion)),
        .set(VideoEncodingParameters(contentHint: .motion), automatic: [.maxBitrate]), .mute(.all), .mute(.audio),
        .unmute(.microphone),
        .unmute(.all), .unmuteSilenced, .destination(name: "main"), .lock, .unlock, .join(subgroup: "design"),
        .leave(subgroup: "a.b-c_d"), .accept(viewer: nil, answer: "v=0\r\n"), .accept(viewer: 2, answer: ""),
        .admit(viewer: 3), .kick(viewer: 0), .setApproval(isNeeded: true), .record(true), .record(false), .openPage,
    ]

    @Test("The share gets each request as the command sent it", arguments: requests)
    func roundTrip(request: ControlRequest) async throws {
        let host = try await Host()
        #expect(try await host.ask(request) == "\(request)")
        await host.end()
    }

    @Test("Links, offers and failures reach the command as the share gave them")
    func answers() async throws {
        let host = try await Host { request in
            switch request {
            case .link(let subgroup): .links([ControlLinks.Place(url: "http://a/#\(subgroup ?? "-")", reach: .network)])
            case .invite(let main, let subgroups): .offer(viewer: 2, description: "\(main) \(subgroups)")
            default: .failed(status: 66, reason: "é", remedy: "b")
            }
        }
        let client = ControlClient(path: host.path)
        let places = try await client.ask(.link(subgroup: nil), ControlLinks.self).places
        #expect(places == [ControlLinks.Place(url: "http://a/#-", reach: .network)])
        #expect(try await client.ask(.link(subgroup: nil), ControlLinks.self).links == ["http://a/#-"])
        #expect(try await client.ask(.link(subgroup: "a.b"), ControlLinks.self).links == ["http://a/#a.b"])
        let offer = try await client.ask(.invite(main: false, subgroups: ["a"]), ControlDescription.self)
        #expect(offer == ControlDescription(viewer: 2, type: .offer, sdp: "false [\"a\"]"))
        let failure = await #expect(throws: CommandFailure.self) { try await host.ask(.resume) }
        #expect(failure?.status == .inputMissing && failure?.message == "é" && failure?.remedy == "b")
        await #expect(throws: (any Error).self) { try await host.ask(.join(subgroup: "a b")) }
        await host.end()
    }

    @Test("Only its user can use the socket, and it is removed with the share")
    func privateSocket() async throws {
        let host = try await Host()
        let attributes = try FileManager.default.attributesOfItem(atPath: host.path)
        #expect((attributes[.posixPermissions] as? NSNumber)?.intValue == 0o600)
        #expect(throws: CommandFailure.self) { try ControlSocket.listen(path: host.path) }
        #expect(try await host.ask(.resume) == "resume")
        await host.end()
        #expect(!FileManager.default.fileExists(atPath: host.path))
    }

    @Test("Nothing is sent to a server that is not trusted")
    func untrustedServer() async throws {
        let asked = Locked(0)
        let host = try await Host { _ in
            asked.withLock { $0 += 1 }
            return .done(notice: nil)
        }
        for isTrusted in [false, true] {
            let client = LocalHTTPClient(path: host.path, timeout: .seconds(20)) { _ in isTrusted }
            let response = try? await client.perform("DELETE", "/v1/viewers/1", json: nil)
            #expect(response?.status == (isTrusted ? 200 : nil))
        }
        #expect(asked.withLock { $0 } == 1)
        await host.end()
    }

    @Test("Requests of one client are answered in their order")
    func requestOrder() async throws {
        let host = try await Host()
        let requests = (1...3).map { Host.text("DELETE", "/v1/viewers/\($0)") }.joined()
        let text = try await host.exchange(requests + Host.text("PUT", "/v1/subgroups/a", more: "Connection: close"))
        let notices = text.matches(of: /"notice":"([^}]*)"/).map { String($0.1) }
        let expected = (1...3).map { "kick(viewer: \($0))" } + [#"join(subgroup: \"a\")"#]
        #expect(notices == expected, "\(text)")
        await host.end()
    }

    @Test(
        "A request that the share does not take has a problem for an answer, and the next one is answered",
        arguments: [
            ("GET", "/v1/nothing", nil, 404), ("GET", "/", nil, 404), ("GET", "/v1/share/", nil, 404),
            ("GET", "/v1/links?group=a", nil, 400), ("GET", "/v1/links?subgroup=main", nil, 422),
            ("PUT", "/v1/share", "{}", 405), ("OPTIONS", "/v1/viewers/2", nil, 405),
            ("PATCH", "/v1/share", nil, 415), ("PATCH", "/v1/share", "", 400), ("PATCH", "/v1/share", "{", 400),
            ("PATCH", "/v1/share", "[]", 400), ("PATCH", "/v1/share", "{}", 422),
            ("PATCH", "/v1/share", #"{"isPaused":1}"#, 400), ("PATCH", "/v1/share", #"{"isPaused":true,"a":1}"#, 400),
            ("PATCH", "/v1/share", #"{"isPaused":true,"source":null}"#, 400),
            ("PATCH", "/v1/share", #"{"isPaused":true,"isLocked":true}"#, 422),
            ("PATCH", "/v1/share", #"{"isPaused":false,"isSlateShown":true}"#, 422),
            ("PATCH", "/v1/share", #"{"isSlateShown":true}"#, 422),
            ("PATCH", "/v1/share", #"{"camera":{"spec":"none","isLightOn":true}}"#, 422),
            ("PATCH", "/v1/share", #"{"isAudioMuted":true,"isMicrophoneMuted":false}"#, 422),
            ("PATCH", "/v1/share", #"{"isAudioMuted":true,"isMuted":true}"#, 422),
            ("PATCH", "/v1/share", #"{"maxBitrate":9223372036854775807}"#, 422),
            ("PATCH", "/v1/share", #"{"maxBitrate":1e999}"#, 400), ("PATCH", "/v1/share", #"{"maxFramerate":-1}"#, 422),
            ("PATCH", "/v1/share", #"{"maxWidth":640}"#, 422),
            ("PATCH", "/v1/share", #"{"maxWidth":-9223372036854775808,"maxHeight":1}"#, 422),
            ("PATCH", "/v1/share", String(repeating: "[", count: 1000), 400),
            ("POST", "/v1/answers", #"{"type":"offer","sdp":""}"#, 422),
            ("DELETE", "/v1/viewers/99999999999999999999", nil, 422), ("PATCH", "/v1/viewers/2", "{}", 400),
            ("PATCH", "/v1/viewers/2", #"{"isAdmitted":false}"#, 422),
        ] as [(String, String, String?, Int)])
    func invalidRequest(method: String, path: String, body: String?, status: Int) async throws {
        let asked = Locked(0)
        let host = try await Host { request in
            if request != .resume { asked.withLock { $0 += 1 } }
            return .done(notice: "\(request)")
        }
        let text = try await host.exchange(Host.text(method, path, json: body, more: "Connection: close"))
        #expect(text.hasPrefix("HTTP/1.1 \(status) ") && text.contains("application/problem+json"), "\(text)")
        #expect(text.contains(#""exitStatus":64"#) && text.contains(#""detail":""#), "\(text)")
        #expect(asked.withLock { $0 } == 0)
        #expect(try await host.ask(.resume) == "resume")
        await host.end()
    }

    @Test(
        "A host that is not this machine is refused, and a text that is not a request",
        arguments: [
            ("GET /v1/share HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n\r\n", "HTTP/1.1 421 "),
            ("GET /v1/share HTTP/1.1\r\nConnection: close\r\n\r\n", "HTTP/1.1 421 "),
            ("GET /../x HTTP/1.1\r\nHost: localhost\r\n\r\n", "HTTP/1.1 400 "),
            (#"{"status":{}}"# + "\n", "HTTP/1.1 400 "),
            ("POST /v1/answers HTTP/1.1\r\nHost: localhost\r\nContent-Length: 300000\r\n\r\n", "HTTP/1.1 413 "),
        ])
    func refusedRequest(text: String, beginning: String) async throws {
        let host = try await Host { _ in
            Issue.record("asked"); return .done(notice: nil)
        }
        let answer = try await host.exchange(text)
        #expect(answer.hasPrefix(beginning), "\(answer)")
        await host.end()
    }

    @Test("A request without an end is refused, and the next one is answered")
    func overlongRequest() async throws {
        let host = try await Host()
        let answer = try await host.exchange("GET /" + String(repeating: "x", count: 300_000))
        #expect(answer.isEmpty || answer.hasPrefix("HTTP/1.1 4"), "\(answer)")
        #expect(try await host.ask(.resume) == "resume")
        await host.end()
    }

    @Test("An idle client makes room for another, and one that watches does not")
    func clientLimits() async throws {
        var limits = HTTPServer.Limits.ownPrograms
        limits.connections = 2
        let host = try await Host(limits: limits) { _ in .status(Host.share) }
        let share = Host.text("GET", "/v1/share")
        let idle = try [await host.connect(sending: share), await host.connect(sending: share)]
        let events = Host.text("GET", "/v1/share/events")
        let first = try await host.connect(sending: events)
        #expect(await Host.isClosed(idle[0]))
        let second = try await host.connect(sending: events)
        #expect(await Host.isClosed(idle[1]))
        #expect(try await host.exchange(share).isEmpty)
        for client in idle + [first, second] { close(client) }
        await host.end()
    }

    @Test("Programs that watch the share leave room for requests")
    func watchers() async throws {
        let host = try await Host { $0 == .status ? .status(Host.share) : .done(notice: "\($0)") }
        let events = Host.text("GET", "/v1/share/events")
        var watching: [CInt] = []
        for _ in 0..<8 { watching.append(try await host.connect(sending: events)) }
        let refused = try await host.exchange(Host.text("GET", "/v1/share/events", more: "Connection: close"))
        #expect(refused.hasPrefix("HTTP/1.1 503 ") && refused.contains("8 programs watch this share already"))
        #expect(try await host.ask(.resume) == "resume")
        for client in watching { close(client) }
        var isAdmitted = false
        while !isAdmitted { isAdmitted = try await host.beginning(of: events).hasPrefix("HTTP/1.1 200 ") }
        await host.end()
    }

    @Test("A request that is not understood names its member")
    func member() async throws {
        let host = try await Host()
        for (body, member) in [
            (#"{"isPaused":true,"a":1}"#, "a"), (#"{"camera":{"spec":"none","b":{"c":1}}}"#, "camera.b"),
            (#"{"isPaused":1}"#, "isPaused"), (#"{"isPaused":true,"source":null}"#, "source"),
        ] {
            let text = try await host.exchange(Host.text("PATCH", "/v1/share", json: body, more: "Connection: close"))
            #expect(text.contains("its member \(member) is "), "\(text)")
        }
        await host.end()
    }

    @Test("A request that takes long delays no other client")
    func slowRequest() async throws {
        let (stream, gate) = AsyncStream.makeStream(of: Void.self)
        let host = try await Host { request in
            if request == .resume { for await _ in stream { break } }
            return .done(notice: "done")
        }
        let waiting = Task { try await host.ask(.resume) }
        #expect(try await host.ask(.lock) == "done")
        gate.yield()
        #expect(try await waiting.value == "done")
        await host.end()
    }

    @Test("The end of the share answers a stop, and ends the events")
    func end() async throws {
        let (stops, stopped) = AsyncStream.makeStream(of: Void.self)
        let hasEnded = Locked(false)
        let host = try await Host { request in
            if request == .stop { stopped.yield() }
            return request == .stop ? .done(notice: "stopped") : .status(Host.share)
        }
        let stopping = Task {
            let notice = try await host.ask(.stop)
            #expect(hasEnded.withLock { $0 })
            return notice
        }
        var states = ControlClient(path: host.path).states().makeAsyncIterator()
        #expect(try await states.next() == Host.share)
        for await _ in stops { break }
        hasEnded.withLock { $0 = true }
        await host.end()
        #expect(try await stopping.value == "stopped")
        while let state = try await states.next() { #expect(state == Host.share) }
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

/// A server in a folder of its own, which answers with the request.
private final class Host: Sendable {
    static let share = ControlledShare(
        name: "share", pid: 1, attendee: "alice", state: .paused, source: "test", interruption: nil, framesPerSecond: 0,
        bitrate: 0, maxBitrate: 1, maxFramerate: 1, hint: nil, isSlateShown: false, isAudioMuted: false,
        isMicrophoneMuted: false, destination: "main", subgroups: [],
        viewers: [
            ControlledShare.Viewer(
                id: 1, state: .connected, isWaiting: false, groups: ["main"],
                since: Date(timeIntervalSince1970: 1_700_000_000))
        ], uptime: 1)

    let path: String
    private let folder: TemporaryFolder
    private let server: ControlServer

    init(
        limits: HTTPServer.Limits = .ownPrograms,
        respond: @escaping ControlResponder.Answer = { .done(notice: "\($0)") }
    ) async throws {
        folder = try TemporaryFolder()
        path = folder.file("share.sock").path
        server = try await ControlServer.start(
            try ControlSocket.listen(path: path), limits: limits, answering: ControlResponder(respond))
    }

    func end() async { await server.close() }

    func ask(_ request: ControlRequest) async throws -> String? {
        try await ControlClient(path: path).ask(request, ControlNotice.self).notice
    }

    /// A request as text.
    static func text(_ method: String, _ path: String, json body: String? = nil, more: String? = nil) -> String {
        var head = "\(method) \(path) HTTP/1.1\r\nHost: localhost\r\n"
        if let body { head += "Content-Type: application/json\r\nContent-Length: \(body.utf8.count)\r\n" }
        if let more { head += more + "\r\n" }
        return head + "\r\n" + (body ?? "")
    }

    private func connect() throws -> Int32 { try #require(try ControlSocket(path: path).connect()) }

    /// A client that has sent a request, and got a state in return.
    func connect(sending request: String) async throws -> Int32 {
        let client = try connect()
        return await Self.blocking {
            Self.write(client, request)
            var received = ""
            while !received.contains("viewers") {
                guard let piece = Self.read(client) else { break }
                received += piece
            }
            return client
        }
    }

    /// Sends a text, and returns everything that comes until the server closes the connection.
    func exchange(_ text: String) async throws -> String {
        let client = try connect()
        return await Self.blocking {
            Self.write(client, text)
            var received = ""
            while let piece = Self.read(client) { received += piece }
            close(client)
            return received
        }
    }

    /// Sends a request, and returns the beginning of the response.
    func beginning(of request: String) async throws -> String {
        let client = try connect()
        return await Self.blocking {
            Self.write(client, request)
            defer { close(client) }
            return Self.read(client) ?? ""
        }
    }

    /// Waits until the server closes the connection; false if it sends something before.
    static func isClosed(_ client: Int32) async -> Bool { await blocking { read(client) == nil } }

    private static func write(_ client: Int32, _ text: String) {
        var rest = Array(text.utf8)[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { send(client, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
            // A server that refuses a request does not take the rest of it.
            if count <= 0 { return }
            rest = rest.dropFirst(count)
        }
    }

    private static func read(_ client: Int32) -> String? {
        var buffer = [UInt8](repeating: 0, count: 4096)
        let count = Glibc.read(client, &buffer, buffer.count)
        return count > 0 ? String(decoding: buffer[..<count], as: UTF8.self) : nil
    }

    /// Waits on a thread of its own.
    private static func blocking<Result: Sendable>(_ body: @escaping @Sendable () -> Result) async -> Result {
        await withCheckedContinuation { continuation in
            Thread.detachNewThread { continuation.resume(returning: body()) }
        }
    }
}
