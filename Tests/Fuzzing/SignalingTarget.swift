import NIOHTTP1
import RTCShareSDP
import TestSupport

@testable import RTCShareSignaling
@testable import rtcshare

/// What a player tells a server in the heads and bodies of its requests, what a server tells a player, and addresses that
/// people type.
struct SignalingTarget: FuzzTarget {
    private let offer: SessionDescription?

    init() { offer = try? SessionDescription.parse(PeerDescriptions.chromiumOffer) }

    func run(_ input: [UInt8]) throws {
        let text = String(decoding: input, as: UTF8.self)
        readAddresses(text)
        readHeaders(text)
        let fragment = try TrickleFragment(parsing: text)
        guard let offer else { return }
        let restarted = fragment.replacing(in: offer)
        let read = try? SessionDescription.parse(restarted.description)
        expect(read != nil, "an offer with other candidates can be read")
    }

    private func readAddresses(_ text: String) {
        if let address = WebAddress(text) {
            expect(WebAddress(address.description) != nil, "an address that was read can be read again")
            _ = (address.path, address.appending(path: "whep"))
        }
        _ = WebAddress("https://viewer.example/live/whep")?.resolving(text)
        if let url = PublicURL(text) {
            expect(PublicURL(url.description) == url, "a public URL stays the same once it was written and read")
        }
        _ = ListenAddress(text)
        guard let target = HTTPTarget(text) else { return }
        expect(!target.segments.contains(".."), "no path leads upwards")
        _ = target.removing(base: ["live"])
    }

    private func readHeaders(_ text: String) {
        let links = LinkHeader.parse(text)
        expect(links.count <= 32, "a header names a bounded number of links")
        for server in links.compactMap(\.iceServer) {
            let written = LinkHeader.iceServer(url: "stun:a", username: server.username, credential: server.credential)
            expect(written.utf8.allSatisfy { $0 >= 0x20 }, "what a header says stays on one line")
        }
        _ = EntityTag.Condition([text]).holds(for: EntityTag(value: "1"))
        let check = HostCheck(names: ["share.example"])
        _ = (check.accepts(host: text), HostCheck.isLoopback(host: text), HostCheck.isOwn(origin: text, host: text))
        var headers = HTTPHeaders()
        for name in ["Authorization", "Content-Type"] { headers.add(name: name, value: text) }
        guard let target = HTTPTarget("/whep") else { return }
        let request = HTTPRequest(
            method: .POST, target: target, headers: headers, body: [], peer: nil, isSecure: false)
        _ = (request.contentType, ViewerServer.bearer(request))
    }

    func seeds() -> [String: [UInt8]] {
        [
            "fragment": Array(
                """
                a=ice-ufrag:aBcD\r
                a=ice-pwd:0123456789abcdef01234567\r
                m=audio 9 UDP/TLS/RTP/SAVPF 0\r
                a=mid:0\r
                a=candidate:1 1 UDP 2130706431 192.0.2.1 5000 typ host\r
                a=end-of-candidates\r

                """.utf8),
            "links": Array(
                #"<stun:a>; rel="ice-server", <turn:b>; rel=ice-server; username="u\"x"; credential=c"#.utf8),
            "link": Array("http://[::1]:8080/office/#0123456789abcdefXYZ".utf8),
            "target": Array("/whep/sessions/a%2Bb/events?x#y".utf8), "tags": Array(#""1", W/"2", *"#.utf8),
            "bearer": Array("Bearer  0123456789abcdefXYZ".utf8), "type": Array("application/sdp; charset=utf-8".utf8),
        ]
    }
}
