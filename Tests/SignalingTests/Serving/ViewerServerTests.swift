import RTCShareCapture
import RTCShareContentShare
import RTCShareLocks
import RTCShareMedia
import RTCSharePeerConnection
import RTCShareSDP
import RTCShareTransport
import RTCShareWireFormat
import TestSupport
import Testing

@testable import RTCShareSignaling

@Suite("A share behind a link", .timeLimit(.minutes(2)))
struct ViewerServerTests {
    @Test("A viewer who opens the link sees the share, and is removed after leaving")
    func watch() async throws {
        let share = try await ServerFixture()
        let player = try await share.player()
        let pictures = PictureCounter(player.session)
        try await player.start()
        await pictures.wait()
        #expect(pictures.tiles == ["alice#content"])
        let viewer = try #require(await share.server.viewers.first)
        #expect(viewer.state == .connected && viewer.address == "127.0.0.1" && viewer.browser == "rtcshare")
        await player.leave()
        await waitUntil { await share.server.viewers.isEmpty }
        await waitUntil { await share.room.viewers.isEmpty }
        await share.end()
    }

    @Test("All viewers are sent one encode of the content and one of the camera")
    func oneEncode() async throws {
        let share = try await ServerFixture { $0.media = [.content, .camera] }
        let camera = try TestPatternSource.testPattern(size: PixelSize(width: 128, height: 96))
        try await share.room.startCamera(source: camera)
        try camera.start()
        var players: [(WHEPPlayer, PictureCounter)] = []
        for _ in 0..<3 {
            let player = try await share.player()
            players.append((player, PictureCounter(player.session)))
            try await player.start()
        }
        for (_, pictures) in players {
            await waitUntil { Set(pictures.tiles) == ["alice#content", "alice"] }
            await pictures.wait()
        }
        var encoders: Set<String> = []
        for viewer in await share.room.viewers {
            for stream in try #require(await share.room.stats(of: viewer.id)).outboundRTP.values {
                if let encoder = stream.encoder { encoders.insert("\(stream.id) \(encoder.framesEncoded > 0)") }
            }
        }
        #expect(encoders.count == 2)
        for (player, _) in players { await player.leave() }
        camera.stop()
        await share.end()
    }

    @Test("A viewer who waits for admission sees the share only after it")
    func ask() async throws {
        let share = try await ServerFixture { $0.requiresApproval = true }
        let player = try await share.player()
        let pictures = PictureCounter(player.session)
        try await player.start()
        await waitUntil { await share.server.viewers.first.map { $0.isWaiting && $0.state == .connected } == true }
        #expect(await player.isWaiting)
        try await Task.sleep(for: .milliseconds(200))
        #expect(pictures.pictures == 0)
        let id = try #require(await share.server.viewers.first?.id)
        try await share.server.admit(id)
        await pictures.wait()
        #expect(await !player.isWaiting)
        #expect(await share.server.viewers.first?.state == .connected)
        await #expect(throws: ViewerServerError.notWaiting(id)) { try await share.server.admit(id) }
        await player.leave()
        await share.end()
    }

    @Test("A kicked viewer is removed, and a locked share rejects new viewers and keeps the present ones")
    func kickAndLock() async throws {
        let share = try await ServerFixture()
        let (ann, bob) = (try await share.player(), try await share.player())
        let pictures = PictureCounter(bob.session)
        try await ann.start()
        try await bob.start()
        await waitUntil { await share.server.viewers.count { $0.state == .connected } == 2 }
        await share.server.lock()
        let first = try #require(await share.server.viewers.first?.id)
        try await share.server.kick(first)
        try await ann.session.waitUntilEnd()
        #expect(await ann.reason(after: nil) as? WHEPError == .removed)
        await #expect(throws: ViewerServerError.unknownViewer(first)) { try await share.server.kick(first) }
        let refused = try await share.post(try await share.offer())
        #expect(refused.status == 403 && refused.sentence == "the share is locked, and no new viewers can join")
        await pictures.wait()
        await share.server.unlock()
        let again = try await share.player()
        try await again.start()
        await bob.leave()
        await again.leave()
        await share.end()
    }

    @Test("A full share answers with the time to retry after")
    func full() async throws {
        let share = try await ServerFixture { $0.maximumViewers = 1 }
        let player = try await share.player()
        try await player.start()
        let refused = try await share.post(try await share.offer())
        #expect(refused.status == 503 && Int(refused["Retry-After"] ?? "") ?? 0 > 0)
        await player.leave()
        await waitUntil { await share.server.viewers.isEmpty }
        #expect(try await share.post(try await share.offer()).status == 201)
        await share.end()
    }

    @Test("A player is told to retry before the share starts, and not to retry after its end")
    func notYetAndNoMore() async throws {
        let share = try await ServerFixture(shares: false)
        let offer = try await share.offer()
        let early = try await share.post(offer)
        #expect(early.status == 409 && early["Retry-After"] != nil)
        try await share.room.contentShare.start(source: share.screen)
        #expect(try await share.post(offer).status == 201)
        await share.server.end()
        #expect(try await share.post(offer).status == 410)
        await share.end()
    }

    @Test("A link of a subgroup gives only the membership of that subgroup")
    func subgroups() async throws {
        let share = try await ServerFixture()
        let design = try Subgroup("design")
        await share.room.join(design)
        let link = try #require(share.server.links(hosts: ["127.0.0.1"], subgroup: design).first)
        let player = try await share.player(link.url)
        let pictures = PictureCounter(player.session)
        try await player.start()
        await waitUntil { await share.server.viewers.first?.state == .connected }
        #expect(pictures.pictures == 0)
        try await share.room.changeDestination(to: .subgroup(design))
        await pictures.wait()
        try await waitUntil {
            try await share.room.viewers.first?.membership == RoomMembership(onlySubgroups: [design])
        }
        await player.leave()
        await share.end()
    }

    @Test("An ICE restart finds another route in the same session, and frames continue")
    func restart() async throws {
        let share = try await ServerFixture()
        let session = try await AttendeeSession.receiving(
            as: AttendeeID("viewer"), configuration: ServerFixture.connection)
        let pictures = PictureCounter(session)
        let offer = try await session.connection.makeOffer()
        let response = try await share.post(offer.description)
        let answer = try SessionDescription.parse(utf8: response.body)
        try await session.connection.accept(answer: answer, to: offer)
        await pictures.wait()

        await session.connection.restartICE()
        let second = try await session.connection.makeOffer()
        let location = try share.session(in: response)
        let type = ("Content-Type", TrickleFragment.mediaType)
        let patch = try await share.ask(
            "PATCH", location, [type, ("If-Match", "*")], body: TrickleFragment.text(of: second))
        #expect(patch.status == 200 && patch["ETag"] != nil && patch["ETag"] != response["ETag"])
        let fragment = try TrickleFragment(parsing: String(decoding: patch.body, as: UTF8.self))
        let renewed = try SessionDescription.parse(fragment.replacing(in: answer).description)
        try await session.connection.accept(answer: renewed, to: second)
        await pictures.wait(for: 30)

        // The previous entity tag is not valid any more.
        let stale = try await share.ask(
            "PATCH", location, [type, ("If-Match", response["ETag"] ?? "")], body: TrickleFragment.text(of: second))
        #expect(stale.status == 412)
        #expect(try await share.ask("DELETE", location).status == 200)
        #expect(try await share.ask("DELETE", location).status == 404)
        try await session.waitUntilEnd()
        await share.end()
    }

    @Test("Pages get the whole state of the share in each message")
    func events() async throws {
        let share = try await ServerFixture()
        let response = try await share.post(try await share.offer())
        let location = try share.session(in: response)
        let connection = try RawConnection(port: share.server.port)
        connection.write("GET \(location)/events HTTP/1.1\r\nHost: localhost\r\n\r\n")
        var before = await connection.read(until: "\"viewers\"")
        await share.server.setPaused(true)
        before += await connection.read(until: "\"state\":\"paused\",")
        try await share.server.kick(try #require(await share.server.viewers.first?.id))
        connection.write("GET /none HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
        let text = before + (await connection.read())
        #expect(text.contains("Content-Type: text/event-stream"))
        let states = text.split(separator: "\n").filter { $0.hasPrefix("data: ") }
        #expect(
            states.first?.contains("\"state\":\"live\"") == true && states.first?.contains("\"name\":\"alice\"") == true
        )
        #expect(states.contains { $0.contains("\"state\":\"paused\",") && $0.contains("alice#content") })
        #expect(states.last?.contains("\"state\":\"removed\"") == true)
        await share.end()
    }

    @Test("Pages get the states of a source without frames and of a share to other viewers")
    func sourceStates() async throws {
        let share = try await ServerFixture()
        let player = try await share.player()
        let pictures = PictureCounter(player.session)
        try await player.start()
        await pictures.wait()
        let page = try await share.listen()
        let read = { (state: String) in await page.read(until: "\"state\":\"\(state)\"") }
        #expect(await read("live\",\"tiles").contains("alice#content"))
        let track = try #require(await share.room.contentShare.videoTrack)
        track.isPaused = true
        #expect(await read("paused\",\"tiles").contains("\"state\":\"paused\""))
        // The presenter's pause and its end do not change that.
        await share.server.setPaused(true)
        await share.server.setPaused(false)
        track.isPaused = false
        #expect(await !read("live\",\"tiles").contains("\"state\":\"off\""))
        let design = try Subgroup("design")
        await share.room.join(design)
        try await share.room.changeDestination(to: .subgroup(design))
        #expect(await read("off").contains("\"stream\":\"alice#content\""))
        try await share.room.changeDestination(to: .main)
        _ = await read("live\",\"stream")
        try await share.room.contentShare.stop()
        #expect(await read("off").contains("\"stream\":\"alice#content\""))
        await player.leave()
        await share.end()
    }

    @Test("Pages get the state of a muted or stopped camera immediately", .timeLimit(.minutes(1)))
    func ownPictureStates() async throws {
        let share = try await ServerFixture { $0.media = [.content, .camera] }
        let camera = try TestPatternSource.testPattern(size: PixelSize(width: 192, height: 144))
        try await share.room.startCamera(source: camera)
        try camera.start()
        let player = try await share.player()
        let pictures = PictureCounter(player.session)
        try await player.start()
        await pictures.wait()
        let page = try await share.listen()
        let read = { (state: String) in await page.read(until: "\"state\":\"\(state)\",\"stream\":\"alice\"}") }
        _ = await read("live")
        // After this, messages are only sent for changes.
        await share.server.stopHeartbeat()
        let track = try #require(await share.room.cameraTrack)
        track.isPaused = true
        _ = await read("paused")
        track.isPaused = false
        _ = await read("live")
        await share.room.stopCamera()
        _ = await read("off")
        camera.stop()
        await player.leave()
        await share.end()
    }

    @Test("A session is found relative to its endpoint, also behind a proxy that removes a part of the path")
    func sessionsPlace() async throws {
        let share = try await ServerFixture()
        let offer = try await share.offer()
        let secret = try #require(share.token).secretText
        for (path, place) in [
            ("/whep", "whep/sessions/"), ("/whep/", "sessions/"), ("/whep/" + secret, "sessions/"),
            ("/whep/\(secret)/", "../sessions/"),
        ] {
            let response = try await share.post(offer, path: path)
            #expect(response["Location"]?.hasPrefix(place) == true, "\(path)")
            #expect(try share.session(in: response).hasPrefix("/whep/sessions/"), "\(path)")
        }
        await share.end()
    }

    @Test("A browser gets a rejection as a page, and a program gets JSON")
    func refusalsInWords() async throws {
        let share = try await ServerFixture()
        for (path, status, words, style) in [
            ("/nothing", 404, "There is nothing here", "\"viewer.css\""),
            ("/a/b/c", 404, "There is nothing here", "\"../../viewer.css\""),
            ("/whep", 405, "This address is for video players", "\"viewer.css\""),
            ("/%zz", 400, "There is nothing here", "\"/viewer.css\""),
        ] {
            let page = try await share.ask("GET", path, [("Accept", "text/html,application/xhtml+xml,*/*;q=0.8")])
            let text = String(decoding: page.body, as: UTF8.self)
            #expect(page.status == status && page["Content-Type"] == "text/html; charset=utf-8", "\(path)")
            #expect(text.contains(words) && text.contains(style), "\(path)")
            let problem = try await share.ask("GET", path, [("Accept", "*/*")])
            #expect(problem.status == status && problem["Content-Type"] == "application/problem+json", "\(path)")
        }
        await share.end()
    }

    @Test(
        "The page's files are compressed for those who accept gzip",
        arguments: [
            (nil, false), ("gzip, deflate, br", true), ("br;q=1.0, GZIP;q=0.5", true), ("gzip;q=0, *", false),
        ] as [(String?, Bool)])
    func compression(accepted: String?, isCompressed: Bool) async throws {
        let share = try await ServerFixture()
        let response = try await share.ask("GET", "/main.js", accepted.map { [("Accept-Encoding", $0)] } ?? [])
        let file = try #require(ViewerPage.file("main.js"))
        #expect(response["Content-Encoding"] == (isCompressed ? "gzip" : nil) && response["Vary"] == "Accept-Encoding")
        #expect(response.body == (isCompressed ? file.compressed : file.bytes))
        #expect(file.compressed.count * 2 < file.bytes.count)
        await share.end()
    }

    @Test("A rejection is shown in the language of the browser", arguments: ["GET", "HEAD"])
    func refusalsInGerman(method: String) async throws {
        let share = try await ServerFixture()
        let headers = [("Accept", "text/html"), ("Accept-Language", "de-CH, en;q=0.5")]
        let page = try await share.ask(method, "/nothing", headers)
        #expect(page.status == 404 && page["Content-Language"] == "de" && page["Vary"] == "Accept, Accept-Language")
        let text = String(decoding: page.body, as: UTF8.self)
        #expect(method == "HEAD" || text.contains("<html lang=\"de\" dir=\"ltr\">"))
        #expect(method == "HEAD" || text.contains("<h1>Hier gibt es nichts</h1>"))
        await share.end()
    }

    @Test("A language's texts are served next to the page", arguments: [[], ["office"]])
    func languageFiles(basePath: [String]) async throws {
        let share = try await ServerFixture { $0.basePath = basePath }
        for path in ["/languages/de.js"] + basePath.map({ "/\($0)/languages/de.js" }) {
            for method in ["GET", "HEAD"] {
                let file = try await share.ask(method, path)
                #expect(file.status == 200 && file["Content-Type"] == "text/javascript; charset=utf-8", "\(path)")
                #expect(file["Cache-Control"] == "no-cache" && file["Content-Security-Policy"] != nil, "\(path)")
            }
            #expect(try await share.ask("POST", path).status == 405)
        }
        #expect(try await share.ask("GET", "/languages/xx.js").status == 404)
        await share.end()
    }

    @Test("A link whose # was written as %23 opens the share")
    func escapedLink() async throws {
        let share = try await ServerFixture { $0.basePath = ["office"] }
        let secret = try #require(share.token).secretText
        let response = try await share.ask("GET", "/office/%23" + secret)
        #expect(response.status == 302 && response["Location"] == "./#" + secret)
        #expect(try await share.ask("GET", "/office/%23%22x").status == 404)
        // People type the path without the slash at its end.
        #expect(try await share.ask("GET", "/office").url.path == "/office/")
        #expect(try await share.ask("GET", "/office?lang=de").url.description == share.origin + "/office/?lang=de")
        let player = try await share.player(share.origin + "/office/%23" + secret)
        try await player.start()
        await player.leave()
        await share.end()
    }

    @Test("In a full share, a viewer who has not answered for some seconds is replaced")
    func awayViewer() async throws {
        let share = try await ServerFixture { $0.maximumViewers = 1 }
        let offer = try await share.offer()
        let first = try await share.post(offer)
        #expect(first.status == 201)
        let full = try await share.post(offer)
        #expect(full.status == 503 && full.sentence == "the share is full: it allows 1 viewer")
        await share.server.setAway(for: .zero)
        #expect(await !share.server.makesRoom(after: .milliseconds(1999)))
        #expect(await share.server.makesRoom(after: .seconds(2)))
        // A viewer whose page is connected keeps the place longer.
        var page: RawConnection? = try await share.listen()
        await waitUntil { await share.server.pageCount == 1 }
        #expect(await !share.server.makesRoom(after: .milliseconds(4999)))
        #expect(await share.server.makesRoom(after: .seconds(5)))
        withExtendedLifetime(page) {}
        page = nil
        await waitUntil { await share.server.pageCount == 0 }
        #expect(await share.server.makesRoom(after: .seconds(2)))
        await share.server.setAway(for: .seconds(5))
        #expect(try await share.post(offer).status == 201)
        #expect(await share.server.viewers.count == 1)
        #expect(try await share.ask("DELETE", try share.session(in: first)).status == 404)
        await share.end()
    }

    @Test("A client that closes its connection before it is answered keeps no place")
    func abandonedOffer() async throws {
        let share = try await ServerFixture { $0.maximumViewers = 1 }
        let offer = try await share.offer()
        let secret = try #require(share.token).secretText
        let connection = try RawConnection(port: share.server.port)
        connection.writeLast(
            "POST /whep/\(secret) HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/sdp\r\n"
                + "Content-Length: \(offer.utf8.count)\r\n\r\n" + offer)
        #expect(await connection.read().isEmpty)
        await waitUntil { await share.server.counts.sessions == 1 }
        await waitUntil { await share.server.viewers.isEmpty }
        #expect(try await share.post(offer).status == 201)
        await share.end()
    }

    @Test("A client that expects 100 Continue gets it")
    func expectation() async throws {
        let share = try await ServerFixture()
        let offer = try await share.offer()
        let connection = try RawConnection(port: share.server.port)
        let secret = try #require(share.token).secretText
        connection.write(
            "POST /whep/\(secret) HTTP/1.1\r\nHost: localhost\r\nExpect: 100-continue\r\n"
                + "Content-Type: application/sdp\r\nContent-Length: \(offer.utf8.count)\r\nConnection: close\r\n\r\n")
        #expect(await connection.read(until: "\r\n\r\n") == "HTTP/1.1 100 Continue\r\n\r\n")
        connection.write(offer)
        #expect(await connection.read().hasPrefix("HTTP/1.1 201"))
        await share.end()
    }

    @Test("Players can query the allowed methods and types")
    func methods() async throws {
        let share = try await ServerFixture()
        for method in ["GET", "HEAD", "PUT", "PATCH", "DELETE"] {
            let response = try await share.ask(method, "/whep", token: share.token)
            #expect(response.status == 405 && response["Allow"] == "POST, OPTIONS", "\(method)")
        }
        let options = try await share.ask("OPTIONS", "/whep")
        #expect(options.status == 200 && options["Accept-Post"] == "application/sdp")
        let foreign = try await share.ask("OPTIONS", "/whep", [("Origin", "https://player.example")])
        #expect(foreign["Access-Control-Allow-Origin"] == "https://player.example")
        #expect(foreign["Access-Control-Allow-Headers"]?.contains("Authorization") == true)
        let wrong = try await share.ask(
            "POST", "/whep", [("Content-Type", "text/plain")], body: "v=0", token: share.token)
        #expect(wrong.status == 415 && wrong["Accept-Post"] == "application/sdp")
        await share.end()
    }

    @Test("Only clients with the token get the STUN and TURN servers with their passwords")
    func iceServers() async throws {
        let server = try ICEServer(urls: "turn:127.0.0.1:9", username: "ann", credential: "pass\"word")
        let share = try await ServerFixture { $0.connection.iceServers = [server] }
        #expect(try await share.ask("OPTIONS", "/whep")["Link"] == nil)
        let guess = try AccessToken("not-the-token-at-all")
        #expect(try await share.ask("OPTIONS", "/whep", token: guess).status == 401)
        let told = try #require(try await share.ask("OPTIONS", "/whep", token: share.token)["Link"])
        let link = try #require(LinkHeader.parse(told).first?.iceServer)
        #expect(link == ("turn:127.0.0.1:9", "ann", "pass\"word"))
        await share.end()
    }

    /// The users of the servers in a response, each after the end of its lifetime.
    private func users(_ response: HTTPClient.Response) -> [String?] {
        response.all("Link").flatMap { LinkHeader.parse($0) }.compactMap(\.iceServer).map { server in
            server.username.map { $0.drop { $0 != ":" } }.map(String.init)
        }
    }

    @Test("Each viewer gets credentials of its own from a shared secret, also at an ICE restart, until it is kicked")
    func grantedServers() async throws {
        let servers = [
            try ICEServer(urls: "stun:127.0.0.1:9"), try ICEServer(urls: "turn:127.0.0.1:9", sharedSecret: "sesame"),
        ]
        let share = try await ServerFixture { $0.connection.iceServers = servers }
        // A client that is not a viewer.
        #expect(users(try await share.ask("OPTIONS", "/whep", token: share.token)) == [nil])
        let type = ("Content-Type", TrickleFragment.mediaType)
        for _ in 0..<2 {
            let session = try await AttendeeSession.receiving(
                as: AttendeeID("viewer"), configuration: ServerFixture.connection)
            let offer = try await session.connection.makeOffer()
            let response = try await share.post(offer.description)
            let viewer = try #require(await share.server.viewers.last?.id)
            #expect(users(response) == [nil, ":\(viewer)"])
            let answer = try SessionDescription.parse(utf8: response.body)
            try await session.connection.accept(answer: answer, to: offer)
            await session.connection.restartICE()
            let second = TrickleFragment.text(of: try await session.connection.makeOffer())
            let location = try share.session(in: response)
            let patch = try await share.ask("PATCH", location, [type, ("If-Match", "*")], body: second)
            #expect(patch.status == 200 && users(patch) == [nil, ":\(viewer)"])
            try await share.server.kick(viewer)
            await session.connection.restartICE()
            let refused = try await share.ask("PATCH", location, [type, ("If-Match", "*")], body: second)
            #expect(refused.status == 404 && users(refused).isEmpty)
        }
        await share.end()
    }

    @Test("A share is served over HTTPS with a self-signed certificate")
    func https() async throws {
        let certificate = try ServerCertificate(selfSignedFor: ["127.0.0.1", "localhost"], unixTime: 1_790_000_000)
        let share = try await ServerFixture { $0.tls = certificate }
        let link = try #require(share.server.links(hosts: ["127.0.0.1"]).first)
        #expect(link.url.hasPrefix("https://127.0.0.1:"))
        // The zone of an address is escaped in a URL (RFC 6874).
        #expect(share.server.links(hosts: ["fe80::1%lan0"]).first?.url.hasPrefix("https://[fe80::1%25lan0]:") == true)
        let player = try await share.player(link.url)
        await #expect(throws: HTTPClientError.self) { try await player.start() }
        // The answer to a request without TLS is only the reason.
        let plain = try RawConnection(port: share.server.port)
        plain.write("GET / HTTP/1.1\r\n")
        plain.write("Host: localhost\r\n\r\n")
        let text = await plain.read()
        #expect(text.hasPrefix("HTTP/1.1 400 Bad Request\r\n") && text.contains("begins with https://"))
        #expect(text.hasSuffix("</html>\n"))
        await share.end()
    }

    @Test("Fifty viewers join and leave at the same time, and no session remains")
    func crowd() async throws {
        let share = try await ServerFixture()
        let stays = try await share.player()
        let pictures = PictureCounter(stays.session)
        try await stays.start()
        await pictures.wait()
        for _ in 0..<2 {
            try await withThrowingDiscardingTaskGroup { group in
                for _ in 0..<50 {
                    group.addTask {
                        let player = try await share.player()
                        let pictures = PictureCounter(player.session)
                        try await player.start()
                        await pictures.wait(for: 1)
                        await player.leave()
                    }
                }
            }
        }
        await waitUntil { await share.server.viewers.count == 1 }
        await waitUntil { await share.room.viewers.count == 1 }
        await pictures.wait()
        await stays.leave()
        await share.end()
    }
}
