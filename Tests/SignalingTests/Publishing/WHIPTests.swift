import Logging
import NIOHTTP1
import RTCShareContentShare
import RTCSharePeerConnection
import RTCShareSDP
import TestSupport
import Testing

@testable import RTCShareSignaling

/// Servers as they are: their deviations from RFC 9725 were read in their sources.
@Suite("Publishing at a WHIP server", .timeLimit(.minutes(2)))
struct WHIPTests {
    /// A server that is borne.
    struct Kind: CustomTestStringConvertible, Sendable {
        let testDescription: String
        var part: PlayedServer.Part
        var token: String?

        init(_ name: String, token: String? = nil, _ change: (inout PlayedServer.Part) -> Void) {
            testDescription = name
            self.token = token
            part = PlayedServer.Part()
            part.token = token
            change(&part)
        }
    }

    static let kinds = [
        Kind("as it is written") { _ in },
        Kind("broadcast-box: no entity tag, 204 at the end", token: "key") {
            $0.endpoint = "/api/whip"
            $0.location = "/api/whip/7f0d"
            $0.entityTag = nil
            $0.deleted = .noContent
            $0.links = ["</api/sse/7f0d>; rel=\"urn:ietf:params:whep:ext:core:server-sent-events\"; events=\"status\""]
        },
        Kind("simple-whip-server: the session is elsewhere", token: "verysecret") {
            $0.endpoint = "/whip/endpoint/abc123"
            $0.location = "/whip/resource/hKXTWYQzZbnwQdZq"
        },
        Kind("LiveKit: the key in the session's path, an entity tag without quotes") {
            $0.endpoint = "/w/streamkey"
            $0.location = "/w/streamkey/WH_abc"
            $0.entityTag = "0a1b2c3d"
            $0.patched = .unprocessableEntity
        },
        Kind("SRS: the session is told by its query") {
            $0.endpoint = "/rtc/v1/whip/?app=live&stream=livestream&secret=xxx"
            $0.location = "/rtc/v1/whip/?action=delete&token=12a3&app=live&stream=livestream"
            $0.entityTag = nil
        },
        Kind("OvenMediaEngine: the endpoint is told by its query") {
            $0.endpoint = "/app/stream?direction=whip"
            $0.location = "/app/stream/ae51?direction=whip"
        },
        Kind("mediamtx: any entity tag, a session beneath the endpoint") {
            $0.endpoint = "/office/whip"
            $0.location = "whip/5a3f"
            $0.entityTag = "*"
        },
        Kind("pion's example: no type, and the end begins another session") {
            $0.location = "/whip"
            $0.contentType = nil
            $0.entityTag = nil
            $0.deleted = .internalServerError
        },
        Kind("a session relative to the endpoint") { $0.location = "?session=1" },
        Kind("a session at the endpoint itself, by an empty reference") {
            $0.endpoint = "/live/room/whip?app=1"
            $0.location = ""
        },
        Kind("a session at the endpoint itself, by a fragment") {
            $0.endpoint = "/live/room/whip?app=1"
            $0.location = "#session"
        },
        Kind("an answer behind a mark of UTF-8") { $0.prefix = "\u{FEFF}" },
        Kind("200 in place of 201, and an answer after an empty line") {
            $0.status = .ok
            $0.prefix = "\r\n"
        },
        Kind("a wrong type, a session that nobody names") {
            $0.contentType = "text/plain; charset=utf-8"
            $0.location = nil
        },
        Kind("servers that help to connect, in every way of writing them") {
            $0.links = [
                "<stun:127.0.0.1:9>; rel=\"ice-server\", <turn:127.0.0.1:9?transport=udp>; rel=ice-server; "
                    + "credential-type=\"password\"; credential=\"a;b,c\"; username=\"1731:u\"",
                "<turn%3A127.0.0.1%3A9>; username=\"1731%3Au\"; credential=\"a%2Fb\"; rel=\"ice-server\"",
                "<turn:>; rel=\"ice-server\"", "nonsense",
            ]
        },
    ]

    @Test("Each server gets video and audio, and the end of the session at its URL", arguments: kinds)
    func servers(kind: Kind) async throws {
        let share = try await PublishingFixture()
        let server = try await PlayedServer(kind.part)
        let session = try await WHIPSession(
            at: try await share.endpoint(server, token: kind.token), publishing: share.room)
        try await session.start()
        let publisher = try #require(await server.sessions.first)
        let pictures = PictureCounter(publisher)
        await pictures.wait()
        #expect(pictures.tiles == ["alice#content"])
        await waitUntil { await publisher.audio.streams.contains { $0.attendeeID.rawValue == "alice#content" } }
        #expect(await share.room.viewers.map(\.id) == [session.viewer.id])

        let post = try #require(await server.asked.first)
        #expect(post.method == "POST" && post.target == kind.part.endpoint && post.contentType == "application/sdp")
        #expect(post.authorization == kind.token.map { "Bearer \($0)" })
        #expect(post.body.contains("a=candidate:") && post.body.utf8.count < 16_384)
        #expect(post.body.contains("a=group:BUNDLE") && post.body.contains("a=sendonly"))
        // One stream (RFC 9725 §4.4.2).
        #expect(post.body.split(separator: "\r\n").filter { $0.hasPrefix("a=msid:alice#content ") }.count == 2)
        await session.leave()
        let last = try #require(await server.asked.last)
        if kind.part.location == nil {
            #expect(last.method == "POST")
        } else {
            #expect(last.method == "DELETE" && last.authorization == post.authorization)
        }
        await waitUntil { await share.room.viewers.isEmpty }
        await server.end()
        await share.end()
    }

    /// A server that rejects, and the text of the error.
    struct Refused: CustomTestStringConvertible, Sendable {
        let testDescription: String
        var refusal = PlayedServer.Refusal(.unauthorized)
        var part = PlayedServer.Part()
        var token: String?
        let words: [String]
        let retryPolicy: RetryPolicy

        init(
            _ name: String, _ refusal: PlayedServer.Refusal? = nil, token: String? = nil, words: [String],
            retryPolicy: RetryPolicy = .permanent, _ change: (inout PlayedServer.Part) -> Void = { _ in }
        ) {
            testDescription = name
            part.refusal = refusal
            self.token = token
            self.words = words
            self.retryPolicy = retryPolicy
            change(&part)
        }
    }

    static let refusals = [
        Refused("broadcast-box, without a token", words: ["Authorization was not set", "give its token"]) {
            $0.token = "key"
            $0.unshown = .init(.badRequest, type: "text/plain; charset=utf-8", "Authorization was not set\n")
        },
        Refused(
            "simple-whip-server, with a wrong token", token: "wrong", words: ["Unauthorized", "check the token"]
        ) {
            $0.token = "verysecret"
            $0.wrong = .init(.forbidden, type: "text/html; charset=utf-8", "Unauthorized")
        },
        Refused(
            "simple-whip-server, where somebody publishes",
            .init(.forbidden, type: "text/html; charset=utf-8", "Endpoint ID already in use"), token: "right",
            words: ["Endpoint ID already in use", "nobody else"]),
        Refused("none, which wants one", .init(.unauthorized), words: ["401", "give its token"]),
        Refused(
            "OvenMediaEngine", .init(.notFound, type: "text/plain", "There is no such stream"),
            words: ["404", "There is no such stream", "check that the URL"]),
        Refused(
            "mediamtx", .init(.notFound, type: "application/json", "{\"error\":\"path 'x' is not configured\"}"),
            words: ["404", "path 'x' is not configured"]),
        Refused(
            "a page of a proxy", .init(.badGateway, type: "text/html", "<html><head><title>502 Bad Gateway</title>"),
            words: ["502"], retryPolicy: .transient),
        Refused(
            "a problem (RFC 9457)",
            .init(
                .unprocessableEntity, type: "application/problem+json",
                "{\"title\":\"no\",\"detail\":\"no H264 in it\"}"),
            words: ["no H264 in it", "VP8"]),
        Refused(
            "SRS, which takes no VP8", .init(.ok, type: "application/json", "{\"code\":5018}"),
            words: ["(HTTP 200)", "no answer", "5018"]),
        Refused(
            "one that is full", .init(.serviceUnavailable, "", [("Retry-After", "7")]),
            words: ["503", "wait 7 seconds"],
            retryPolicy: .retry(after: .seconds(7))),
        Refused(
            "one that has another publisher", .init(.conflict, type: "text/plain", "taken"), words: ["taken"],
            retryPolicy: .retry(after: nil)),
        Refused(
            "one that is elsewhere", .init(.movedPermanently, "", [("Location", "https://other.example/whip?key=1")]),
            words: ["301", "at https://other.example"]),
        Refused(
            "no session description", .init(.created, type: "application/sdp", "hello"), words: ["no answer: hello"]),
    ]

    @Test("A server's rejection is shown with its text and a remedy", arguments: refusals)
    func refused(by refused: Refused) async throws {
        let share = try await PublishingFixture()
        let server = try await PlayedServer(refused.part)
        let endpoint = try await share.endpoint(server, token: refused.token)
        let error = await #expect(throws: WHIPError.self) { _ = try await endpoint.publish(share.room) }
        let words = error?.description ?? ""
        for word in refused.words { #expect(words.contains(word), "\(words)") }
        #expect(!words.contains("key=1") && !words.contains(refused.token ?? "wrong"))
        #expect(endpoint.retryPolicy(after: try #require(error)) == refused.retryPolicy)
        await waitUntil { await share.room.viewers.isEmpty }
        await server.end()
        await share.end()
    }

    @Test("A server that accepts only audio is left, and the share continues for the others")
    func picturesDeclined() async throws {
        let share = try await PublishingFixture()
        var part = PlayedServer.Part()
        part.takesPictures = false
        let server = try await PlayedServer(part)
        let endpoint = try await share.endpoint(server)
        let error = await #expect(throws: WHIPError.self) { _ = try await endpoint.publish(share.room) }
        guard let error, case .pictureDeclined(let offered) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        // A server allows codecs, not retransmissions or corrections.
        #expect(offered.first == "VP8" && offered.allSatisfy { !["RTX", "RED", "ULPFEC"].contains($0.uppercased()) })
        #expect(error.description.contains("which is offered in VP8"))
        #expect(endpoint.retryPolicy(after: error) == .permanent)
        #expect(await server.asked.last?.method == "DELETE")
        #expect(await share.room.contentShare.isSharing)
        await server.end()
        await share.end()
    }

    @Test("A token is sent only to its own origin, and a redirection elsewhere is reported")
    func tokens() async throws {
        let share = try await PublishingFixture()
        let other = try await PlayedServer()
        let (otherURL, origin) = (await other.url, "http://127.0.0.1:\(await other.port)")
        for status in [HTTPResponseStatus.temporaryRedirect, .permanentRedirect] {
            var part = PlayedServer.Part()
            part.refusal = .init(status, "", [("Location", otherURL)])
            let server = try await PlayedServer(part)
            let session = try await share.endpoint(server, token: "secret").publish(share.room)
            await PictureCounter(try #require(await other.sessions.last)).wait()
            await session.leave()
            #expect(await server.asked.map(\.authorization) == ["Bearer secret"])
            await server.end()
        }
        #expect(await other.asked.map(\.method) == ["POST", "DELETE", "POST", "DELETE"])
        #expect(await other.asked.allSatisfy { $0.authorization == nil })

        var locked = PlayedServer.Part()
        locked.token = "secret"
        await other.play(locked)
        var part = PlayedServer.Part()
        part.refusal = .init(.temporaryRedirect, "", [("Location", otherURL)])
        let server = try await PlayedServer(part)
        let endpoint = try await share.endpoint(server, token: "secret")
        let error = await #expect(throws: WHIPError.self) { _ = try await endpoint.publish(share.room) }
        #expect(error?.description.contains("give the URL at \(origin)") == true)
        await server.end()
        await other.end()
        await share.end()
    }

    @Test("A publication that is cancelled during its start is ended at the server")
    func givenUp() async throws {
        let share = try await PublishingFixture()
        let server = try await PlayedServer()
        await server.hold()
        let endpoint = try await share.endpoint(server)
        let publishing = Task { try await endpoint.publish(share.room) }
        await waitUntil { await !server.asked.isEmpty }
        publishing.cancel()
        await server.release()
        await #expect(throws: CancellationError.self) { _ = try await publishing.value }
        #expect(await server.asked.map(\.method) == ["POST", "DELETE"])
        await waitUntil { await share.room.viewers.isEmpty }
        await server.end()
        await share.end()
    }

    @Test("A URL is http or https without user and password, and its secret parts are not shown")
    func urls() throws {
        #expect(throws: WHIPError.url) { try WHIPEndpoint(url: "rtmp://server.example/live") }
        #expect(throws: WHIPError.userInformation) { try WHIPEndpoint(url: "https://a:b@server.example/live") }
        let token = try AccessToken(presenting: "secret")
        let endpoint = try WHIPEndpoint(url: "http://server.example/live/whip?key=1#x", token: token)
        #expect(endpoint.name == "http://server.example" && endpoint.exposesToken)
        #expect(try WHIPEndpoint(url: "https://[::1]:8889/stream-key").name == "https://[::1]:8889")
        #expect(!"\(endpoint)".contains("secret"))
        #expect(try !WHIPEndpoint(url: "https://server.example/whip", token: token).exposesToken)
        #expect(try !WHIPEndpoint(url: "http://localhost/whip", token: token).exposesToken)
    }

    // MARK: Other ways

    /// A server's part in a restart.
    struct RestartPart: CustomTestStringConvertible, Sendable {
        let testDescription: String
        var mark: String?
        var refusal = HTTPResponseStatus.methodNotAllowed
        var isGone = false
        let outcome: SessionRestart
    }

    /// Begins a session whose restarts the test makes.
    private func begin(
        _ share: PublishingFixture, at server: PlayedServer
    ) async throws -> (viewer: RoomViewer, session: EndpointSession) {
        let viewer = try await share.room.addViewer(
            media: [.content, .contentAudio], configuration: ServerFixture.connection.mending)
        let session = EndpointSession(
            endpoint: try #require(WebAddress(await server.url)), token: nil, connection: viewer.session.connection,
            usesOwnServers: false, logger: Logger(label: "test"), explain: WHIPError.init)
        _ = try await session.begin()
        return (viewer, session)
    }

    @Test(
        "ICE is restarted if the server supports it, whatever entity tag it uses",
        arguments: [
            RestartPart(testDescription: "LiveKit", mark: "*", refusal: .unprocessableEntity, outcome: .begun),
            RestartPart(
                testDescription: "simple-whip-server", mark: "\"*\"", refusal: .preconditionFailed, outcome: .begun),
            RestartPart(testDescription: "none, 405", outcome: .refused),
            RestartPart(
                testDescription: "mediamtx, which takes it for candidates", refusal: .noContent, outcome: .refused),
            RestartPart(testDescription: "one that was started again", isGone: true, outcome: .gone),
        ])
    func restarts(part: RestartPart) async throws {
        let share = try await PublishingFixture()
        var played = PlayedServer.Part()
        played.restartMark = part.mark
        played.patched = part.refusal
        let server = try await PlayedServer(played)
        let (viewer, session) = try await begin(share, at: server)
        let pictures = PictureCounter(try #require(await server.sessions.first))
        await pictures.wait()
        if part.isGone { await server.forget() }
        #expect(await session.restart() == part.outcome)
        await pictures.wait(for: 10)
        #expect(await server.asked.filter { $0.method == "PATCH" }.allSatisfy { $0.body.contains("a=ice-ufrag:") })
        await viewer.session.leave()
        await server.end()
        await share.end()
    }

    @Test("Candidates of a restart wait until the server has accepted it, and have its credentials")
    func candidatesOfRestart() async throws {
        let share = try await PublishingFixture()
        var played = PlayedServer.Part()
        played.restartMark = "*"
        played.patched = .noContent
        let server = try await PlayedServer(played)
        let (viewer, session) = try await begin(share, at: server)
        await PictureCounter(try #require(await server.sessions.first)).wait()
        func patches() async -> [TrickleFragment] {
            await server.asked.filter { $0.method == "PATCH" }.compactMap { try? TrickleFragment(parsing: $0.body) }
        }
        await server.hold()
        async let outcome = session.restart()
        await waitUntil { await !patches().isEmpty }
        let fragment = try #require(await patches().first?.usernameFragment)
        let candidate = try #require(
            CandidateAttribute("candidate:1 1 udp 2122260223 127.0.0.1 9 typ host ufrag \(fragment)"))
        let mid = try #require(await server.asked.first?.body.firstMatch(of: /a=mid:(.*)\r\n/)?.1)
        await session.send(candidate, mid: String(mid), ufrag: fragment)
        await session.send(candidate, mid: String(mid), ufrag: "former")
        #expect(await patches().count == 1)
        await server.release()
        #expect(await outcome == .begun)
        await waitUntil { await patches().count > 1 }
        let bodies = await server.asked.filter { $0.method == "PATCH" }.map(\.body)
        #expect(bodies.count == 2 && bodies[1].contains("a=candidate:1 1 udp") && !bodies[1].contains("former"))
        let passwords = bodies.compactMap { $0.firstMatch(of: /a=ice-pwd:.*/)?.0 }
        #expect(passwords.count == 2 && passwords[0] == passwords[1])
        await viewer.session.leave()
        await server.end()
        await share.end()
    }
}
