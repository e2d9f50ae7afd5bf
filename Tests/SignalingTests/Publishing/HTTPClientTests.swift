import Foundation
import Logging
import NIOHTTP1
import RTCShareWireFormat
import TestSupport
import Testing

@testable import RTCShareSignaling

@Suite("HTTP requests to servers", .timeLimit(.minutes(1)))
struct HTTPClientTests {
    private func response(_ headers: [(String, String)] = [], _ body: String = "") throws -> HTTPClient.Response {
        HTTPClient.Response(
            status: 503, headers: headers.map { (name: $0.0, value: $0.1) }, body: Array(body.utf8),
            url: try #require(WebAddress("http://server.example/whip")))
    }

    static let sentences: [(type: String?, body: String, sentence: String?)] = [
        ("text/plain; charset=utf-8", "busy\nfor long", "busy"),
        ("text/html; charset=utf-8", "Unauthorized", "Unauthorized"),
        ("text/html", "<!doctype html><title>502</title>", nil), ("text/html", "  \r\n <html>", nil),
        (nil, "no such stream", "no such stream"),
        ("application/problem+json", "{\"title\": \"Conflict\", \"detail\": \"taken\"}", "taken"),
        ("application/json", "{\"error\": \"no\"}", "no"), ("application/json", "{\"message\": \"never\"}", "never"),
        ("application/json", "\"a word\"", "a word"), ("application/json", "{\"code\": 5018}", "{\"code\": 5018}"),
        ("application/json", "", nil), ("application/octet-stream", "abc", nil), ("text/plain", "", nil),
        ("text/plain", " \n ", nil),
    ]

    @Test("The sentence of a server is found in its answer", arguments: sentences.indices)
    func sentence(_ index: Int) throws {
        let (type, body, sentence) = Self.sentences[index]
        #expect(try response(type.map { [("Content-Type", $0)] } ?? [], body).sentence == sentence)
        #expect(
            try response([("Content-Type", "text/plain")], String(repeating: "a", count: 1000)).sentence?.count == 300)
    }

    static let waits: [(text: String, seconds: Int?)] = [
        ("120", 120), ("0", 0), ("-5", 0), ("999999999", 3600), ("soon", nil), ("", nil),
        ("Wed, 21 Oct 2015 07:28:30 GMT", 30), ("Wed, 21 Oct 2015 07:27:00 GMT", 0),
    ]

    @Test("The time of a retry is in seconds or a date, and at most an hour later", arguments: waits.indices)
    func retryAfter(_ index: Int) throws {
        // Wed, 21 Oct 2015 07:28:00 GMT
        let now = Date(timeIntervalSince1970: 1_445_412_480)
        let (text, seconds) = Self.waits[index]
        #expect(try response([("retry-after", text)]).retryAfter(now: now) == seconds.map { .seconds($0) })
        #expect(try response().retryAfter(now: now) == nil)
    }

    static let proxies: [(url: String, environment: [String: String], proxy: String?)] = [
        ("http://127.0.0.1:8080/whip", ["http_proxy": "http://proxy"], ""), ("https://[::1]/whip", [:], ""),
        ("http://localhost/whip", ["HTTP_PROXY": "http://proxy"], ""),
        ("http://server.example/whip", [:], nil), ("https://server.example/whip", ["HTTP_PROXY": "http://proxy"], nil),
        ("http://server.example/whip", ["HTTP_PROXY": "http://proxy"], "http://proxy"),
        ("http://server.example/whip", ["HTTP_PROXY": "http://proxy", "http_proxy": "http://other"], nil),
        ("http://server.example/whip", ["HTTP_PROXY": "http://proxy", "REQUEST_METHOD": "GET"], nil),
    ]

    @Test("Requests to this machine use no proxy, and HTTP_PROXY counts in capitals too", arguments: proxies.indices)
    func proxy(_ index: Int) throws {
        let (url, environment, proxy) = Self.proxies[index]
        #expect(Proxies.proxy(for: try #require(WebAddress(url)), environment: environment) == proxy)
    }

    @Test("Servers that do not answer delay no other request")
    func silence() async throws {
        let silent = try await SilentServer()
        let asking = (0..<40).map { _ in Task { try await Self.get(silent.port) } }
        await waitUntil { await silent.count >= 40 }
        let server = try await PlayedServer()
        #expect(try await Self.get(server.port).status == 404)
        for task in asking { task.cancel() }
        for task in asking { await #expect(throws: HTTPClientError.cancelled) { _ = try await task.value } }
        await silent.end()
        await server.end()
    }

    @Test("A silent name server is distinguished from a name without an address")
    func silentNameServer() {
        let words = [nil, Duration.milliseconds(20), .seconds(10)].map { HTTPClient.reason(withoutAddressAfter: $0) }
        #expect(
            words == [
                "its name has no address", "its name has no address",
                "its name was not found: DNS did not answer within 10 s",
            ])
    }

    private static func get(_ port: UInt16) async throws -> HTTPClient.Response {
        let url = try #require(WebAddress("http://127.0.0.1:\(port)/x"))
        return try await HTTPClient().perform(HTTPClient.Request(method: "GET", url: url))
    }

    static let reaches: [(address: String, reach: AddressReach)] = [
        ("192.0.2.1", .internet), ("2001:db8::1", .internet), ("172.15.0.1", .internet), ("100.128.0.1", .internet),
        ("10.1.2.3", .network), ("172.16.0.1", .network), ("172.31.255.255", .network), ("192.168.1.1", .network),
        ("100.64.0.1", .network), ("fd00::1", .network), ("169.254.169.254", .link), ("fe80::1", .link),
        ("127.0.0.1", .machine), ("127.9.9.9", .machine), ("::1", .machine), ("0.0.0.0", .machine),
        ("0.1.2.3", .machine), ("::", .machine), ("::ffff:127.0.0.1", .machine), ("::ffff:10.0.0.1", .network),
        ("::ffff:192.0.2.1", .internet),
    ]

    @Test("The reach of an address is the internet, its network, its link or this machine", arguments: reaches.indices)
    func reach(_ index: Int) throws {
        let (address, reach) = Self.reaches[index]
        #expect(AddressReach(try #require(IPAddress(address))) == reach)
    }

    @Test("A redirection to an address nearer to this machine than the server's own is rejected")
    func nearerAddresses() async throws {
        let near = try await HTTPServer.start(
            addresses: [.v4(0x7F00_0002)], ports: [0], tls: nil, logger: Logger(label: "test")
        ) { _ in HTTPResponse(.ok) }
        let leading = try await HTTPServer.start(
            addresses: [.v4(0x7F00_0001)], ports: [0], tls: nil, logger: Logger(label: "test")
        ) { _ in
            var response = HTTPResponse(.temporaryRedirect)
            response.headers.add(name: "Location", value: "http://127.0.0.2:\(near.port)/delete")
            return response
        }
        let (from, to) = ("http://127.0.0.1:\(leading.port)", "http://127.0.0.2:\(near.port)")
        let request = HTTPClient.Request(method: "POST", url: try #require(WebAddress(from)))
        var client = HTTPClient()
        #expect(try await client.perform(request).status == 200)
        client.reach = { $0 == .v4(0x7F00_0002) ? .machine : .internet }
        await #expect(
            throws: HTTPClientError.redirectionRefused(from, to: to, "that is this machine, or its own network")
        ) { try await client.perform(request) }
        // A person may name it, and a server that is as near.
        var named = HTTPClient.Request(method: "DELETE", url: try #require(WebAddress(to)))
        #expect(try await client.perform(named).status == 200)
        named.guide = HTTPClient.Guide(origin: from, reach: .machine)
        #expect(try await client.perform(named).status == 200)
        named.guide = HTTPClient.Guide(origin: from, reach: .link)
        await #expect(throws: HTTPClientError.self) { try await client.perform(named) }
        await leading.close()
        await near.close()
    }

    @Test("A redirection takes no secrets to another origin, and nothing from https to http")
    func redirections() throws {
        let url = try #require(WebAddress("https://server.example/whip?app=1"))
        var request = HTTPClient.Request(method: "POST", url: url, token: try AccessToken(presenting: "secret"))
        #expect(try request.redirected(to: "/other").token != nil)
        let elsewhere = try request.redirected(to: "https://other.example/whip")
        #expect(elsewhere.token == nil && elsewhere.url.description == "https://other.example/whip")
        #expect(throws: HTTPClientError.self) { try request.redirected(to: "http://server.example/whip") }
        #expect(throws: HTTPClientError.redirection(url.origin)) { try request.redirected(to: nil) }
        #expect(throws: HTTPClientError.redirection(url.origin)) { try request.redirected(to: "file:///etc/passwd") }
        request.leavesOrigin = false
        #expect(try request.redirected(to: "/other").token != nil)
        let error = #expect(throws: HTTPClientError.self) { try request.redirected(to: "https://other.example/whip") }
        #expect(
            error?.description.contains("https://server.example:443 redirects to https://other.example:443") == true)
    }

    @Test("An empty reference, and a fragment, is the URL itself", arguments: ["", "#part"])
    func emptyReferences(reference: String) throws {
        let url = try #require(WebAddress("https://server.example/live/room/whip?app=1#here"))
        #expect(url.resolving(reference)?.description == "https://server.example/live/room/whip?app=1")
    }

    @Test("A link of an ICE server is read in its standard form and in common variants")
    func links() throws {
        let plain = try #require(
            LinkHeader.parse("<turn:t.example>; rel=ice-server; username=\"u\"; credential=\"p%p\"").first)
        #expect(plain.iceServerReadings.map(\.credential) == ["p%p"])
        let encoded = try #require(
            LinkHeader.parse("<turn%3At.example>; credential=\"a%2Fb\"; username=\"1%3Au\"; rel=\"ice-server\"").first)
        #expect(encoded.iceServerReadings.map(\.url) == ["turn%3At.example", "turn:t.example"])
        #expect(
            encoded.iceServerReadings.last?.username == "1:u" && encoded.iceServerReadings.last?.credential == "a/b")
        #expect(LinkHeader.parse("<https://next.example>; rel=next").first?.iceServerReadings.isEmpty == true)
    }
}

/// Accepts requests without an answer.
actor SilentServer {
    private var server: HTTPServer?
    private(set) var port: UInt16 = 0
    private(set) var count = 0
    private var waiting: [CheckedContinuation<Void, Never>] = []

    init() async throws {
        let server = try await HTTPServer.start(
            addresses: [.v4(0x7F00_0001)], ports: [0], tls: nil, logger: Logger(label: "test")
        ) { [weak self] _ in
            await self?.wait()
            return HTTPResponse(.ok)
        }
        self.server = server
        port = server.port
    }

    private func wait() async {
        count += 1
        await withCheckedContinuation { waiting.append($0) }
    }

    func end() async {
        for continuation in waiting { continuation.resume() }
        await server?.close()
    }
}
