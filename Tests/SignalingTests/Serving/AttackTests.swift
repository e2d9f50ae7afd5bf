import Logging
import NIOCore
import NIOHTTP1
import NIOPosix
import RTCShareContentShare
import RTCShareLocks
import RTCShareTransport
import RTCShareWireFormat
import TestSupport
import Testing

@testable import RTCShareSignaling

@Suite("Attacks on a share's server", .timeLimit(.minutes(2)))
struct AttackTests {
    @Test("A client with a wrong token or none is rejected, after a delay")
    func tokens() async throws {
        let share = try await ServerFixture()
        let offer = try await share.offer()
        let right = try #require(share.token).secretText
        let wrong: [[(String, String)]] = [
            [], [("Authorization", "Bearer ")], [("Authorization", "Bearer " + right.dropLast())],
            [("Authorization", "Bearer \(right)x")], [("Authorization", "Basic \(right)")],
            [("Authorization", right + " x")],
        ]
        // The requests are sent at the same time. Each answer is delayed longer than the one before.
        try await withThrowingTaskGroup { group in
            for headers in wrong {
                group.addTask {
                    let response = try await share.ask(
                        "POST", "/whep", [("Content-Type", "application/sdp")] + headers, body: offer)
                    #expect(response.status == 401 && response["WWW-Authenticate"] == "Bearer", "\(headers)")
                }
            }
            group.addTask {
                let response = try await share.ask("POST", "/whep/" + right.dropLast(), body: offer)
                #expect(response.status == 401)
            }
            try await group.waitForAll()
        }
        #expect(await share.server.viewers.isEmpty)
        // The correct token is accepted bare, as Bearer and in the path.
        for (path, headers) in [
            ("/whep", [("Authorization", "Bearer \(right)")]), ("/whep", [("Authorization", right)]),
            ("/whep", [("Authorization", "bearer \(right)")]), ("/whep/\(right)", []),
        ] {
            let response = try await share.ask(
                "POST", path, [("Content-Type", "application/sdp")] + headers, body: offer)
            #expect(response.status == 201, "\(path)")
        }
        await share.end()
    }

    @Test("A foreign host name that resolves to this machine is rejected")
    func rebinding() async throws {
        let share = try await ServerFixture { $0.names = ["box.example"] }
        for host in ["evil.example", "evil.example:\(share.server.port)", "127.0.0.1.evil.example", ""] {
            #expect(try await share.ask("GET", "/", [("Host", host)]).status == 421 || host.isEmpty, "\(host)")
        }
        for host in ["box.example", "localhost:1", "127.0.0.1", "[::1]:8080"] {
            #expect(try await share.ask("GET", "/", [("Host", host)]).status == 200, "\(host)")
        }
        await share.end()
    }

    @Test("A page of another site can use a share only with its token, and no share without one")
    func origins() async throws {
        let share = try await ServerFixture()
        let offer = try await share.offer()
        let foreign = [("Origin", "https://evil.example")]
        let refused = try await share.ask("POST", "/whep", [("Content-Type", "application/sdp")] + foreign, body: offer)
        #expect(refused.status == 401)
        #expect(try await share.post(offer, foreign).status == 201)
        await share.end()

        let open = try await ServerFixture { $0.token = nil }
        let type = [("Content-Type", "application/sdp")]
        let blocked = try await open.ask("POST", "/whep", type + foreign, body: offer)
        #expect(blocked.status == 403 && blocked["Access-Control-Allow-Origin"] == nil)
        #expect(String(decoding: blocked.body, as: UTF8.self).contains("\"urn:rtcshare:foreign\""))
        let own = [("Origin", "http://127.0.0.1:\(open.server.port)")]
        #expect(try await open.ask("POST", "/whep", type + own, body: offer).status == 201)
        #expect(try await open.ask("POST", "/whep", type, body: offer).status == 201)
        await open.end()
    }

    @Test("Request bodies and heads that are too long are rejected")
    func oversize() async throws {
        let share = try await ServerFixture()
        #expect(try await share.post(String(repeating: "a", count: 128 * 1024 + 1)).status == 413)
        let connection = try RawConnection(port: share.server.port)
        connection.write("GET / HTTP/1.1\r\nHost: localhost\r\n")
        let line = "X-Long: " + String(repeating: "a", count: 8192) + "\r\n"
        var lines = 0
        while lines < 1000, connection.write(line) { lines += 1 }
        #expect(await !connection.read().contains("200 OK"))
        #expect(try await share.ask("GET", "/").status == 200)
        await share.end()
    }

    @Test("A client that sends half a request is disconnected, and others are served in the meantime")
    func slow() async throws {
        let share = try await ServerFixture()
        let limits = HTTPServer.Limits(requestTime: .milliseconds(300), idleTime: .milliseconds(300))
        let server = try await HTTPServer.start(
            addresses: [.v4(0x7F00_0001)], ports: [0], tls: nil, limits: limits, logger: share.server.logger
        ) { _ in HTTPResponse(.ok, type: "text/plain", text: "here") }
        let halves = try ["", "GET", "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 10\r\n\r\nfour"].map {
            text in
            let connection = try RawConnection(port: server.port)
            connection.write(text)
            return connection
        }
        let whole = try RawConnection(port: server.port)
        whole.write("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
        // Each connection ends, the last one after its answer, because no other request arrives.
        for connection in halves { #expect(await !connection.read().contains("200 OK")) }
        #expect(await whole.read().contains("here"))
        await server.close()
        await share.end()
    }

    @Test("A server listens on the given addresses that the machine has, and fails if it has none")
    func missingAddresses() async throws {
        let (missing, loopback) = (IPAddress.v4(0xC000_0201), IPAddress.v4(0x7F00_0001))
        let logger = Logger(label: "test")
        let respond: HTTPServer.Respond = { _ in HTTPResponse(.ok, type: "text/plain", text: "here") }
        for addresses in [[missing, loopback], []] {
            let server = try await HTTPServer.start(
                addresses: addresses, ports: [0], tls: nil, logger: logger, respond: respond)
            let connection = try RawConnection(port: server.port)
            connection.write("GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
            #expect(await connection.read().contains("here"))
            await server.close()
        }
        await #expect(throws: IOError.self) {
            try await HTTPServer.start(addresses: [missing], ports: [0], tls: nil, logger: logger, respond: respond)
        }
        // A link-local address needs its interface.
        let addresses = try NetworkInterfaces.allAddresses().filter { $0.ip.isLinkLocal && !$0.ip.isV4 }
        for address in addresses.prefix(1) {
            let start = { (zone: String?) in
                try await HTTPServer.start(
                    addresses: [address.ip], zone: zone, ports: [0], tls: nil, logger: logger, respond: respond)
            }
            await (try start(address.name)).close()
            for zone in [nil, "none0"] { await #expect(throws: IOError.self) { _ = try await start(zone) } }
        }
    }

    @Test("Silent connections are closed for new ones, and those of invited clients stay")
    func silentConnections() async throws {
        let share = try await ServerFixture()
        let server = try await HTTPServer.start(
            addresses: [.v4(0x7F00_0001)], ports: [0], tls: nil,
            limits: HTTPServer.Limits(idleTime: .seconds(60), connections: 4), logger: share.server.logger
        ) { request in
            var response = HTTPResponse(.ok, type: "text/plain", text: "here")
            response.isForInvited = request.target.segments == ["invited"]
            return response
        }
        // Each connection sends one request, so that the server knows them in this order.
        func connect(asking target: String) async throws -> RawConnection {
            let connection = try RawConnection(port: server.port)
            connection.write("GET \(target) HTTP/1.1\r\nHost: localhost\r\n\r\n")
            #expect(await connection.read(until: "here").hasPrefix("HTTP/1.1 200"))
            return connection
        }
        let invited = try await connect(asking: "/invited")
        var silent: [RawConnection] = []
        for _ in 0..<6 { silent.append(try await connect(asking: "/")) }
        for connection in silent.prefix(3) { #expect(await connection.read() == "") }
        invited.write("GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
        #expect(await invited.read().contains("here"))
        await server.close()
        await share.end()
    }

    @Test("Offers that never connect take a limited number of places, which are free again later")
    func neverConnecting() async throws {
        let share = try await ServerFixture {
            $0.maximumViewers = 1000
            // No viewer times out, even if the machine is slow.
            $0.connectTimeout = .seconds(300)
        }
        let offer = try await share.offer(sounds: 0)
        var statuses: [Int: Int] = [:]
        for _ in 0..<ViewerPlaces.maximumConnecting + 20 {
            statuses[try await share.post(offer).status, default: 0] += 1
        }
        #expect(statuses == [201: ViewerPlaces.maximumConnecting, 503: 20])
        #expect(await share.room.viewers.count == ViewerPlaces.maximumConnecting)
        await share.end()
    }

    @Test("A viewer who does not connect in time is removed")
    func expiry() async throws {
        let share = try await ServerFixture { $0.connectTimeout = .milliseconds(200) }
        let answer = try await share.post(try await share.offer())
        #expect(answer.status == 201)
        let location = try share.session(in: answer)
        await waitUntil { await share.server.viewers.isEmpty }
        await waitUntil { await share.room.viewers.isEmpty }
        #expect(try await share.ask("DELETE", location).status == 404)
        await share.end()
    }

    @Test("An offer's content type is checked before the offer, in any spelling", arguments: ["", ";", " ; ", "text"])
    func contentTypes(type: String) async throws {
        let share = try await ServerFixture()
        let answer = try await share.ask(
            "POST", "/whep", [("Content-Type", type)], body: "v=0", token: share.token)
        #expect(answer.status == 415)
        await share.end()
    }

    @Test("The location of a session can't be guessed")
    func sessions() async throws {
        let share = try await ServerFixture()
        let offer = try await share.offer()
        let one = try share.session(in: try await share.post(offer))
        let other = try share.session(in: try await share.post(offer))
        #expect(one != other && one.count >= "/whep/sessions/".count + 22)
        for path in [
            "/whep/sessions/1", "/whep/sessions/", "/whep/sessions/\(one.dropFirst(15).dropLast())", one + "/x",
        ] {
            for method in ["DELETE", "PATCH"] {
                let status = try await share.ask(method, path, token: share.token).status
                #expect(status == 404 || status == 405, "\(method) \(path)")
            }
        }
        #expect(try await share.ask("GET", "/whep/sessions/1/events").status == 404)
        #expect(await share.server.viewers.count == 2)
        await share.end()
    }

    @Test(
        "No path of a request returns a file of the machine",
        arguments: [
            "/../../etc/passwd", "/%2e%2e/%2e%2e/etc/passwd", "/..%2f..%2fetc/passwd", "//etc/passwd",
            "/page/index.html",
            "/index.html/..", "/languages/../index.html", "/languages/%2e%2e/index.html", "/languages%2Fde.js",
            "/languages",
            "/%00", "/etc/passwd", "/viewer.js%00.html",
        ])
    func traversal(_ path: String) async throws {
        let share = try await ServerFixture()
        let connection = try RawConnection(port: share.server.port)
        connection.write("GET \(path) HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
        let response = await connection.read()
        #expect(response.hasPrefix("HTTP/1.1 404") || response.hasPrefix("HTTP/1.1 400"), "\(response.prefix(40))")
        #expect(!response.contains("root:"))
        await share.end()
    }

    @Test(
        "No part of a request appears in the headers of the answer",
        arguments: [
            "GET /%0d%0aSet-Cookie:%20a HTTP/1.1\r\nHost: localhost",
            "GET / HTTP/1.1\r\nHost: localhost\r\nOrigin: a\rSet-Cookie: a",
            "POST /whep HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\nTransfer-Encoding: chunked",
            "GET / HTTP/1.1\r\nHost: localhost\r\nHost: evil.example", "GET / HTTP/1.1\r\nHost : localhost",
            "\u{0}\u{1}\u{2}",
        ])
    func injection(_ head: String) async throws {
        let share = try await ServerFixture()
        let connection = try RawConnection(port: share.server.port)
        connection.write(head + "\r\nConnection: close\r\n\r\n0\r\n\r\n")
        let response = await connection.read()
        #expect(!response.contains("Set-Cookie"))
        #expect(try await share.ask("GET", "/").status == 200)
        await share.end()
    }

    @Test("Metrics are for programs on this machine and clients with the token", arguments: ["/metrics", "/health"])
    func watchers(_ path: String) async throws {
        let share = try await ServerFixture { $0.names = ["share.example"] }
        #expect(try await share.ask("GET", path).status == 200)
        let through = [[("X-Forwarded-For", "192.0.2.7")], [("Host", "share.example")], [("Via", "1.1 proxy")]]
        for headers in through {
            #expect(try await share.ask("GET", path, headers).status == 401, "\(headers)")
            #expect(try await share.ask("GET", path, headers, token: share.token).status == 200, "\(headers)")
        }
        await share.end()
    }

    @Test("Behind a proxy, metrics need the token, whatever headers a request has")
    func watchersBehindAProxy() async throws {
        let changes: [@Sendable (inout ViewerServer.Configuration) -> Void] = [
            { $0.publicURL = PublicURL("https://share.example") }, { $0.basePath = ["office"] },
            { $0.isBehindProxy = true },
        ]
        for change in changes {
            let share = try await ServerFixture(change)
            for path in ["/metrics", "/health"] {
                #expect(try await share.ask("GET", path, [("Host", "localhost")]).status == 401)
                #expect(try await share.ask("GET", path, token: share.token).status == 200)
            }
            await share.end()
        }
    }

    @Test("A wrong token in any place is counted for the address of its client")
    func guesses() async throws {
        let share = try await ServerFixture { $0.firstWait = .zero }
        let guess = try AccessToken("0123456789abcdefXYz")
        for (method, path) in [("POST", "/whep"), ("OPTIONS", "/whep"), ("GET", "/metrics"), ("GET", "/health")] {
            #expect(try await share.ask(method, path, token: guess).status == 401, "\(method) \(path)")
        }
        #expect(try await share.ask("OPTIONS", "/whep/" + guess.secretText).status == 401)
        #expect(await share.server.counts.refusedTokens == 5)
        await share.end()
    }

    @Test("A forwarded address is used only behind a proxy on this machine")
    func forwardedAddresses() async throws {
        for (isBehindProxy, header, address) in [
            (false, "203.0.113.9", "127.0.0.1"), (true, "203.0.113.9", "203.0.113.9"),
            (true, "198.51.100.1, 203.0.113.9:51234", "203.0.113.9"), (true, "[2001:db8::9]:443", "2001:db8::9"),
            (true, "2001:db8::9", "2001:db8::9"), (true, "::ffff:203.0.113.9", "203.0.113.9"),
            (true, "unknown", "127.0.0.1"), (true, "[2001:db8::9", "127.0.0.1"),
        ] {
            let share = try await ServerFixture { $0.isBehindProxy = isBehindProxy }
            #expect(try await share.post(try await share.offer(), [("X-Forwarded-For", header)]).status == 201)
            #expect(await share.server.viewers.first?.address == address, "\(header)")
            await share.end()
        }
    }

    @Test(
        "A request without a host or with two is rejected",
        arguments: ["", "Host: evil.example\r\nHost: localhost\r\n"])
    func hosts(lines: String) async throws {
        let share = try await ServerFixture()
        let connection = try RawConnection(port: share.server.port)
        connection.write("GET / HTTP/1.1\r\n\(lines)Connection: close\r\n\r\n")
        #expect(await connection.read().hasPrefix("HTTP/1.1 400"))
        await share.end()
    }

    @Test("Requests at the same time do not exceed the number of places")
    func burst() async throws {
        let share = try await ServerFixture { $0.maximumViewers = 4 }
        let offer = try await share.offer()
        let statuses = try await withThrowingTaskGroup(of: Int.self) { group in
            for _ in 0..<24 { group.addTask { try await share.post(offer).status } }
            return try await group.reduce(into: [:]) { $0[$1, default: 0] += 1 }
        }
        #expect(statuses == [201: 4, 503: 20])
        await share.end()
    }

    @Test(
        "A viewer who is connecting when the share is locked or ends is rejected",
        arguments: [true, false])
    func closedMeanwhile(isLocked: Bool) async throws {
        // The viewer waits a second for a server that never answers.
        let silent = try SilentPort()
        let stun = try ICEServer(urls: "stun:127.0.0.1:\(silent.port)")
        let share = try await ServerFixture { $0.connection.iceServers = [stun] }
        let offer = try await share.offer()
        async let answer = share.post(offer)
        await waitUntil { await !share.server.viewers.isEmpty }
        if isLocked { await share.server.lock() } else { await share.server.end() }
        #expect(try await answer.status == (isLocked ? 403 : 410))
        await waitUntil { await share.room.viewers.isEmpty }
        await share.end()
    }

    @Test(
        "A server closes after its viewers have left, also those without an answer",
        arguments: ["", "after a lock", "after the end"])
    func closedBeforeAnswer(when: String) async throws {
        let silent = try SilentPort()
        let stun = try ICEServer(urls: "stun:127.0.0.1:\(silent.port)")
        let loops = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        let share = try await ServerFixture {
            $0.connection.iceServers = [stun]
            $0.connection.eventLoopGroup = loops
        }
        let offer = try await share.offer()
        async let answer = share.post(offer)
        await waitUntil { await !share.server.viewers.isEmpty }
        let gate = Gate()
        loops.next().execute { gate.pass() }
        await waitUntil { gate.isReached }
        if when == "after a lock" { await share.server.lock() }
        if when == "after the end" { await share.server.end() }
        let isOpen = Locked(false)
        let closing = Task {
            await share.server.close()
            return isOpen.withLock { $0 }
        }
        // The viewer can't leave, and the server can stop listening.
        await waitUntil { (try? await share.ask("GET", "/health")) == nil }
        for _ in 0..<1000 { await Task.yield() }
        isOpen.withLock { $0 = true }
        gate.open()
        #expect(await closing.value)
        _ = try? await answer
        await share.end()
        try await loops.shutdownGracefully()
    }

    @Test("A viewer who is disconnected before the answer learns whether to retry", arguments: [true, false])
    func disconnectedMeanwhile(isKicked: Bool) async throws {
        let silent = try SilentPort()
        let stun = try ICEServer(urls: "stun:127.0.0.1:\(silent.port)")
        let share = try await ServerFixture { $0.connection.iceServers = [stun] }
        let offer = try await share.offer()
        async let answer = share.post(offer)
        await waitUntil { await !share.server.viewers.isEmpty }
        let viewer = try #require(await share.server.viewers.first?.id)
        if isKicked { try await share.server.kick(viewer) } else { await share.room.session(of: viewer)?.leave() }
        let response = try await answer
        #expect(response.status == (isKicked ? 410 : 503) && (response["Retry-After"] == nil) == isKicked)
        #expect(await share.server.viewers.isEmpty)
        await share.end()
    }

    @Test("An offer that can't be answered opens no connection and sends no request to servers")
    func emptyOffer() async throws {
        let silent = try SilentPort()
        let stun = try ICEServer(urls: "stun:127.0.0.1:\(silent.port)")
        let share = try await ServerFixture { $0.connection.iceServers = [stun] }
        for offer in ["v=0\r\no=- 1 1 IN IP4 0.0.0.0\r\ns=-\r\nt=0 0\r\n", "v=0"] {
            #expect(try await share.post(offer).status == 400)
        }
        #expect(!silent.hasDatagram)
        #expect(await share.server.viewers.isEmpty)
        await share.end()
    }

    @Test("One address can't take all places of connecting viewers, nor the last quarter of all places")
    func placesOfOneAddress() async throws {
        let share = try await ServerFixture {
            $0.isBehindProxy = true
            $0.maximumViewers = 16
        }
        let offer = try await share.offer(sounds: 0)
        let from = { (address: String) in try await share.post(offer, [("X-Forwarded-For", address)]).status }
        for number in 1...12 { #expect(try await from("2001:db8::\(number)") == 201) }
        #expect(try await from("2001:db8::13") == 503)
        for number in 1...4 { #expect(try await from("192.0.2.\(number)") == 201) }
        #expect(try await from("192.0.2.5") == 503)
        await share.end()
    }

    @Test("The page's policy permits only resources of this server")
    func page() async throws {
        let share = try await ServerFixture()
        let response = try await share.ask("GET", "/")
        #expect(response.status == 200 && response["Content-Type"] == "text/html; charset=utf-8")
        let policy = try #require(response["Content-Security-Policy"])
        #expect(policy.contains("default-src 'none'") && policy.contains("frame-ancestors 'none'"))
        #expect(!policy.contains("unsafe"))
        #expect(response["X-Content-Type-Options"] == "nosniff" && response["Referrer-Policy"] == "no-referrer")
        let text = String(decoding: response.body, as: UTF8.self)
        // The policy names the only script by its digest.
        #expect(text.ranges(of: "<script>").count == 1)
        #expect(!text.contains("style=\"") && !text.contains("http://"))
        await share.end()
    }

    @Test("A policy for trustworthy origins is sent only to those, because browsers warn of it elsewhere")
    func trustworthiness() async throws {
        let share = try await ServerFixture { $0.publicURL = PublicURL("https://share.example/office") }
        for (host, isNamed) in [("localhost", true), ("192.0.2.7:8080", false), ("share.example", true)] {
            let response = try await share.ask("GET", "/", [("Host", host)])
            #expect(response.status == 200, "\(host)")
            #expect(response["Cross-Origin-Opener-Policy"] == (isNamed ? "same-origin" : nil), "\(host)")
        }
        await share.end()
    }
}
