import NetworkRuntime
import Testing
import WireFormat

/// `--ice-server` as people write it (RFC 7064).
@Suite struct StunServerTests {
    @Test(arguments: [
        ("stun:stun.example.org", "stun.example.org", 3478, "stun:stun.example.org:3478"),
        ("STUN:stun.example.org:19302", "stun.example.org", 19302, "stun:stun.example.org:19302"),
        ("stun:192.0.2.1", "192.0.2.1", 3478, "stun:192.0.2.1:3478"),
        ("stun:[2001:db8::1]", "2001:db8::1", 3478, "stun:[2001:db8::1]:3478"),
        ("stun:[2001:db8::1]:5349", "2001:db8::1", 5349, "stun:[2001:db8::1]:5349"),
    ])
    func `A URL names a host and a port, 3478 where it names none`(
        url: String, host: String, port: UInt16, description: String
    ) throws {
        let server = try StunServer(url)
        #expect(server.host == host)
        #expect(server.port == port)
        #expect(server.description == description)
    }

    @Test(arguments: [
        "", "stun", "stun:", "stun::3478", "stun:host:", "stun:host:0", "stun:host:65536", "stun:host:+80",
        "stun:host:８０", "stun:host:80:90", "stun://host", "stun:host?transport=udp", "turn:host", "stuns:host",
        "stun:[::1", "stun:[]", "stun:[host]", "stun:[192.0.2.1]", "stun:::1", "stun:a b", "stun:user@host",
        "host:3478",
    ])
    func `What is no STUN URL is refused, and named`(url: String) {
        #expect(throws: ConnectionError.invalidServer(url)) { try StunServer(url) }
    }

    @Test func `A numeric server is not looked up`() async throws {
        let addresses = try await StunServer("stun:[::1]:5000").addresses()
        #expect(addresses == [TransportAddress("::1", port: 5000)])
    }
}
