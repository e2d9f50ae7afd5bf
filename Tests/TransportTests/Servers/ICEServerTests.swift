import RTCShareICE
import RTCShareSTUN
import RTCShareWireFormat
import Testing

@testable import RTCShareTransport

/// `--ice-server` as people write it (RFC 7064, RFC 7065).
@Suite struct ICEServerTests {
    @Test(
        "A URL names a host, a port and a transport",
        arguments: [
            ("stun:stun.example.org", "stun.example.org", 3478, TransportProtocol.udp, "stun:stun.example.org:3478"),
            ("STUN:stun.example.org:19302", "stun.example.org", 19302, .udp, "stun:stun.example.org:19302"),
            ("stun:[2001:db8::1]", "2001:db8::1", 3478, .udp, "stun:[2001:db8::1]:3478"),
            ("turn:192.0.2.1", "192.0.2.1", 3478, .udp, "turn:192.0.2.1:3478"),
            ("turn:relay?transport=udp", "relay", 3478, .udp, "turn:relay:3478"),
            ("turn:relay:80?transport=TCP", "relay", 80, .tcp, "turn:relay:80?transport=tcp"),
            ("turns:relay", "relay", 5349, .tls, "turns:relay:5349"),
            ("turns:[2001:db8::1]:443?transport=tcp", "2001:db8::1", 443, .tls, "turns:[2001:db8::1]:443"),
            ("turn:bob:secret@relay", "relay", 3478, .udp, "turn:relay:3478"),
        ])
    func urlNamesHost(
        url: String, host: String, port: UInt16, transport: TransportProtocol, description: String
    ) throws {
        let server = try ICEServer(urls: url, username: "alice", credential: "sesame")
        #expect(server.host == host)
        #expect(server.port == port)
        #expect(server.transport == transport)
        #expect(server.description == description)
        let again = try ICEServer(server.source)
        #expect(again == server)
    }

    @Test(
        "Text that is no URL of a server is rejected",
        arguments: [
            "", "stun", "stun:", "stun::3478", "stun:host:", "stun:host:0", "stun:host:65536", "stun:host:+80",
            "stun:host:８０", "stun:host:80:90", "stun://host", "stun:host?transport=udp", "stuns:host",
            "stun:[::1", "stun:[]", "stun:[host]", "stun:[192.0.2.1]", "stun:::1", "stun:a b", "stun:user@host",
            "stun:user:word@host", "host:3478", "turn:", "turn:relay?transport=sctp", "turn:relay?", "turn:relay?x=y",
            "turns:relay?transport=udp", "turn:user@relay", "turn::word@relay", "turn:user:@relay",
            "turn:%zz:word@relay",
            "http://relay",
        ])
    func invalidURLs(url: String) {
        #expect(throws: ICEServerError.self) { try ICEServer(urls: url, username: "alice", credential: "sesame") }
    }

    @Test("User and password are read from the URL with percent-encoding removed, and otherwise from the arguments")
    func credentials() throws {
        let own = try ICEServer(urls: "turn:17:bob%3A1%40x@relay", username: "alice", credential: "sesame")
        #expect(own.source.username == "17")
        #expect(own.source.password == "bob:1@x")
        let other = try ICEServer(urls: "turn:relay", username: "alice", credential: "sesame")
        #expect(other.credentials?.username == "alice")
        #expect(try ICEServer(urls: "stun:relay", username: "alice", credential: "sesame").credentials == nil)
        #expect(throws: ICEServerError.missingCredentials(url: "turn:relay:3478")) { try ICEServer(urls: "turn:relay") }
    }

    @Test(
        "No description and no error shows a password",
        arguments: [
            "turn:bob:secret@relay", "turns:bob:secret@relay:99999", "turn:bob:sec@ret@relay", "stun:bob:secret@relay",
            "turns:bob:secret@relay?transport=udp", "turn:bob:secret",
        ])
    func hiddenPassword(url: String) {
        var shown = ""
        do {
            let server = try ICEServer(urls: url)
            dump(server, to: &shown)
            shown += "\(server) \(String(reflecting: server)) \(server.source) \(String(reflecting: server.source))"
        } catch {
            shown = "\(error) \(String(reflecting: error))"
        }
        #expect(!shown.contains("secret") && !shown.contains("sec@"))
    }

    @Test("A server with a numeric address is not resolved")
    func numericServer() async throws {
        let addresses = try await ICEServer(urls: "turn:[::1]:5000?transport=tcp", username: "a", credential: "b")
            .resolve()
        #expect(addresses.map(\.address) == [TransportAddress("::1", port: 5000)])
        #expect(addresses.map(\.transport) == [.tcp])
    }
}
