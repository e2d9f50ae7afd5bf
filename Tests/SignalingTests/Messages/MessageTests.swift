import RTCShareSDP
import RTCShareWireFormat
import TestSupport
import Testing

@testable import RTCShareSignaling

@Suite("Messages of players and servers")
struct MessageTests {
    @Test("A token opens only its own link and is not part of a description")
    func tokens() throws {
        let token = AccessToken()
        #expect(token.secretText.count == 22 && token.accepts(token.secretText))
        #expect(AccessToken().secretText != token.secretText)
        for wrong in [
            "", String(token.secretText.dropLast()), token.secretText + "A", "A" + token.secretText.dropFirst(),
        ] {
            #expect(!token.accepts(wrong) || wrong == token.secretText)
        }
        #expect(!"\(token)".contains(token.secretText) && !String(reflecting: token).contains(token.secretText))
        #expect(throws: AccessTokenError.length(3)) { try AccessToken("abc") }
        #expect(throws: AccessTokenError.character) { try AccessToken("sixteen chars or#") }
        #expect(throws: AccessTokenError.character) { try AccessToken(presenting: "a\r\nHost: b") }
        #expect(try AccessToken(presenting: "key").secretText == "key")
    }

    @Test("A token has only letters and digits, so it is no option and stays whole at the end of a link")
    func letters() throws {
        for number in 0..<200 {
            let drawn = AccessToken()
            let derived = try #require(drawn.derived(for: "\(number)"))
            for text in [drawn.secretText, derived.secretText] {
                #expect(text.utf8.count == 22 && text.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber) })
            }
        }
    }

    @Test("A subgroup's token is constant and differs from the room's and other subgroups'")
    func derivedTokens() throws {
        let token = try AccessToken("0123456789abcdef")
        let design = try #require(token.derived(for: "design"))
        let sales = try #require(token.derived(for: "sales"))
        #expect(token.derived(for: "design")?.secretText == design.secretText)
        #expect(Set([token.secretText, design.secretText, sales.secretText]).count == 3)
        #expect(!token.accepts(design.secretText) && !design.accepts(token.secretText))
    }

    static let conditions: [(header: [String], holds: Bool)] = [
        ([], true), (["*"], true), (["\"*\""], true), (["\"7\""], true), (["7"], true), (["W/\"7\""], true),
        (["\"6\", \"7\""], true), (["\"6\"", "\"7\""], true), (["\"6\""], false), ([""], true), (["\"\""], false),
    ]

    @Test("A condition on the entity tag is parsed in the forms that players write", arguments: conditions.indices)
    func entityTags(_ index: Int) {
        let (header, holds) = Self.conditions[index]
        #expect(EntityTag.Condition(header).holds(for: EntityTag(value: "7")) == holds)
    }

    @Test("Links of ICE servers are parsed in any order of their parameters")
    func links() throws {
        let text = """
            <stun:stun.example.net>; rel="ice-server", <turn:turn.example.net?transport=udp>;username="us,er";\
            credential="pa\\"ss;word" ; REL=ice-server; credential-type=password,<https://example.net>; rel=next
            """
        let links = LinkHeader.parse(text)
        #expect(links.count == 3)
        #expect(try #require(links[0].iceServer) == ("stun:stun.example.net", nil, nil))
        #expect(
            try #require(links[1].iceServer) == ("turn:turn.example.net?transport=udp", "us,er", "pa\"ss;word"))
        #expect(links[2].iceServer == nil)
    }

    @Test("The link of an ICE server is read as it was written and injects no header")
    func linkRoundTrip() throws {
        let text = LinkHeader.iceServer(url: "turn:t.example", username: "a\"b\\c", credential: "x\r\nSet-Cookie: y")
        #expect(!text.contains("\r") && !text.contains("\n"))
        let link = try #require(LinkHeader.parse(text).first?.iceServer)
        #expect(link == ("turn:t.example", "a\"b\\c", "xSet-Cookie: y"))
    }

    @Test(
        "A link header does not trap, and the number of its links is limited", .timeLimit(.minutes(1)),
        arguments: [
            "", "<", "<a", "<a>;", "<a>;=", "<a>;x=\"", "<a>;x=\"\\", ";;;,,,", "<>;rel", "x <a>",
            String(repeating: "<a>,", count: 500), String(repeating: "<,", count: 200_000),
        ])
    func hostileLinks(_ text: String) { #expect(LinkHeader.parse(text).count <= 32) }

    @Test("A fragment has credentials and candidates per media section")
    func fragments() throws {
        let fragment = try TrickleFragment(
            parsing: """
                a=ice-ufrag:EsAw\r
                a=ice-pwd:P2uYro0UCOQ4zxjKXaWCBui1\r
                m=audio 9 RTP/AVP 0\r
                a=mid:0\r
                a=candidate:1387637174 1 udp 2122260223 192.0.2.1 61764 typ host generation 0 ufrag EsAw network-id 1\r
                a=candidate:3471623853 1 udp 2122194687 198.51.100.2 61765 typ host generation 0 ufrag EsAw network-id 2\r
                a=end-of-candidates\r

                """)
        #expect(fragment.usernameFragment == "EsAw" && fragment.password == "P2uYro0UCOQ4zxjKXaWCBui1")
        let section = try #require(fragment.sections.first)
        #expect(fragment.sections.count == 1 && section.mid == "0" && section.isComplete)
        #expect(section.candidates.count == 2 && section.candidates[0].hasPrefix("candidate:1387637174 1 udp"))
    }

    @Test("An invalid or too long fragment is rejected")
    func hostileFragments() {
        #expect(throws: ProblemDetails.self) { try TrickleFragment(parsing: "{\"candidate\": 1}") }
        let many = String(repeating: "a=candidate:1 1 udp 1 192.0.2.1 1 typ host\n", count: 129)
        #expect(throws: ProblemDetails.self) { try TrickleFragment(parsing: many) }
        #expect((try? TrickleFragment(parsing: ""))?.sections.isEmpty == true)
    }

    @Test(
        "A request target can't leave its directory",
        arguments: [
            "/../etc/passwd", "/%2e%2e/x", "/a/%2E%2e", "/a%2fb", "/a%5cb", "/%", "/%4", "/%zz", "/%00", "/a%0d%0ab",
            "a",
            "http://other/", "*", "", "/%ff",
        ])
    func targets(_ text: String) { #expect(HTTPTarget(text) == nil) }

    @Test("A request target has its components without the query, and relative to a directory")
    func targetParts() throws {
        let target = try #require(HTTPTarget("/office/whep//sessions/a%2Db?x=/..#y"))
        #expect(target.segments == ["office", "whep", "sessions", "a-b"])
        #expect(target.removing(base: ["office"]).segments == ["whep", "sessions", "a-b"])
        #expect(target.removing(base: ["other"]).segments == target.segments)
        #expect(HTTPTarget("/")?.segments == [])
    }

    @Test("A query has its decoded values by name")
    func parameters() {
        #expect(HTTPTarget("/a")?.parameters == [:])
        #expect(HTTPTarget("/a?")?.parameters == [:])
        #expect(HTTPTarget("/a?b=c%3Ad+%2B&e=&f=g=h#i=j")?.parameters == ["b": "c:d +", "e": "", "f": "g=h"])
    }

    @Test(
        "A query with a field without value, an invalid escape or a name twice is invalid",
        arguments: ["b", "b=%", "b=%ff", "b=c&b=d"])
    func invalidParameters(_ query: String) throws {
        #expect(try #require(HTTPTarget("/a?\(query)")).parameters == nil)
    }

    static let urls: [(text: String, origin: String?, path: [String])] = [
        ("https://share.example", "https://share.example", []),
        ("share.example/office/", "https://share.example", ["office"]),
        ("http://192.0.2.1:81/a/b", "http://192.0.2.1:81", ["a", "b"]),
        ("https://[2001:db8::1]:8443/", "https://[2001:db8::1]:8443", []),
        ("https://[2001:db8::1]", "https://[2001:db8::1]", []),
        ("ftp://x", nil, []), ("", nil, []), ("https://", nil, []), ("https://a:0", nil, []), ("https://a:b", nil, []),
        ("https://user@a/", nil, []), ("https://a/?q", nil, []), ("https://a/../b", nil, []), ("https://a b", nil, []),
    ]

    @Test("A public URL is host, port and path", arguments: urls.indices)
    func publicURLs(_ index: Int) {
        let (text, origin, path) = Self.urls[index]
        let url = PublicURL(text)
        #expect(url?.origin == origin && (url?.path ?? []) == path)
    }

    static let agents: [(String?, String?)] = [
        (nil, nil), ("", nil),
        ("Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0", "Firefox 140 on Linux"),
        (
            "Mozilla/5.0 (iPhone; CPU iPhone OS 18_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.5 Mobile/15E148 Safari/604.1",
            "Safari 18 on iPhone"
        ),
        (
            "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Safari/537.36 Edg/142.0.0.0",
            "Edge 142 on Windows"
        ),
        ("GStreamer souphttpsrc 1.22.0 libsoup/3.2.2", "GStreamer"), ("\u{1B}[31mred", "[31mred"),
    ]

    @Test("A browser has its common name, without control characters", arguments: agents.indices)
    func browsers(_ index: Int) { #expect(BrowserName.name(of: Self.agents[index].0) == Self.agents[index].1) }

    @Test("Links are resolved according to RFC 3986 and lose user and password")
    func webAddresses() throws {
        let base = try #require(WebAddress("http://user:secret@Example.net/a/whip?x=1#frag"))
        #expect(base.origin == "http://example.net:80" && base.fragment == "frag")
        #expect(!base.description.contains("secret") && !base.description.contains("frag"))
        #expect(base.resolving("session/1")?.description.hasSuffix("/a/session/1") == true)
        #expect(base.resolving("/x?action=delete&token=1")?.description.hasSuffix("/x?action=delete&token=1") == true)
        #expect(base.resolving("//other.example/y")?.origin == "http://other.example:80")
        #expect(base.resolving("ftp://other.example/y") == nil && WebAddress("file:///etc/passwd") == nil)
        #expect(WebAddress("http://h:8080/")?.appending(path: "whep")?.path == "/whep")
        #expect(WebAddress("http://h:8080/office/#t")?.appending(path: "whep")?.path == "/office/whep")
        #expect(WebAddress("http://h:8080/office#t")?.appending(path: "whep")?.path == "/office/whep")
    }
}

@Suite("Checks of requests")
struct AccessTests {
    private let host = HostCheck(names: ["Box.local", "share.example"])

    @Test(
        "A host that is an address or an own name is accepted, and any other is rejected",
        arguments: [
            ("192.168.1.23:8080", true), ("[::1]:8080", true), ("[2001:db8::1]", true), ("localhost", true),
            ("LOCALHOST:1", true),
            ("a.localhost:8080", true), ("box.local:8080", true), ("share.example.", true), ("evil.example", false),
            ("share.example.evil.example", false), ("192.168.1.23.evil.example", false), ("", false), ("[::1", false),
            (":8080", false),
            ("a:b:c", false),
        ])
    func hosts(_ name: String, isRight: Bool) { #expect(host.accepts(host: name) == isRight) }

    @Test("A request without a host is rejected")
    func noHost() { #expect(!host.accepts(host: nil)) }

    @Test("Only a page of the same host and port has the same origin")
    func origins() {
        #expect(HostCheck.isOwn(origin: "http://192.0.2.1:8080", host: "192.0.2.1:8080"))
        #expect(!HostCheck.isOwn(origin: "http://192.0.2.1:81", host: "192.0.2.1:8080"))
        #expect(!HostCheck.isOwn(origin: "null", host: "192.0.2.1:8080"))
        #expect(!HostCheck.isOwn(origin: "https://evil.example", host: "192.0.2.1:8080"))
    }

    @Test("Each wrong token of an address waits longer, up to a limit, and is forgotten after an hour")
    func delays() {
        var access = AccessGuard()
        let address = IPAddress.v4(0xC000_0201)
        var now = Instant(nanoseconds: 0)
        var waits: [Duration] = []
        for _ in 0..<8 {
            guard case .wait(let time) = access.fail(from: address, now: now) else { return #expect(Bool(false)) }
            waits.append(time)
            access.didWait(address)
        }
        #expect(waits.first == .milliseconds(250) && waits.last == .seconds(8))
        #expect(zip(waits, waits.dropFirst()).allSatisfy { $0 <= $1 })
        #expect(access.fail(from: .v4(0xC000_0202), now: now) == .wait(.milliseconds(250)))
        // An IPv6 network counts as one address.
        #expect(access.fail(from: .v6(0x2001_0db8_0000_0001, 1), now: now) == .wait(.milliseconds(250)))
        #expect(access.fail(from: .v6(0x2001_0db8_0000_0001, 2), now: now) == .wait(.milliseconds(500)))
        #expect(access.fail(from: .v6(0x2001_0db8_0000_0002, 1), now: now) == .wait(.milliseconds(250)))
        now = now.advanced(by: .seconds(3600))
        #expect(access.fail(from: address, now: now) == .wait(.milliseconds(250)))
    }

    @Test("Only some of many wrong tokens wait, and the others are rejected at once")
    func crowd() {
        var access = AccessGuard()
        let address = IPAddress.v4(0xC000_0201)
        let now = Instant(nanoseconds: 0)
        let penalties = (0..<20).map { _ in access.fail(from: address, now: now) }
        let waiting = penalties.count { if case .wait = $0 { true } else { false } }
        #expect(waiting == 8)
        for _ in 0..<8 { access.didWait(address) }
        if case .refuse = access.fail(from: address, now: now) { Issue.record("nobody waits any more") }
    }

    @Test("The number of remembered addresses is limited")
    func memory() {
        var access = AccessGuard()
        for number in 0..<5000 {
            let address = IPAddress.v4(UInt32(number))
            _ = access.fail(from: address, now: Instant(nanoseconds: Int64(number)))
            access.didWait(address)
        }
        #expect(Mirror(reflecting: access).children.first.map { "\($0.value)".count } ?? 0 < 1_000_000)
        #expect(access.fail(from: .v4(4999), now: Instant(nanoseconds: 5000)) == .wait(.milliseconds(500)))
    }
}
