import Foundation
import RTCShareICE
import RTCShareSTUN
import RTCShareWireFormat
import Testing

@testable import RTCShareTransport

/// Relayed addresses in a session's file.
@Suite struct StoredRelayTests {
    private let now = Date(timeIntervalSince1970: 1_800_000_000)

    private func relay(_ host: String, of server: ICEServer) throws -> RelayState {
        let address = { (port: UInt16) in try #require(TransportAddress(host, port: port)) }
        return RelayState(
            server: ICEServerAddress(
                kind: .turn(try #require(server.credentials)), address: try address(3478), url: server.description),
            base: try address(4000),
            allocation: AllocationState(
                relayed: try address(50_000), reflexive: try address(4001),
                challenge: LongTermChallenge(
                    realm: "relay.example", nonce: [0, 0xFF, 7], passwordAlgorithms: [.sha256, .md5]),
                lifetime: .seconds(3000)))
    }

    @Test(
        "A stored relay is read as it was written, with the remaining lifetime and without a password",
        arguments: ["192.0.2.1", "2001:db8::1"])
    func roundTrip(host: String) throws {
        let server = try ICEServer(urls: "turn:relay.example", username: "alice", credential: "sesame")
        var expected = try relay(host, of: server)
        let json = try JSONEncoder().encode(StoredRelay(expected, now: now))
        #expect(!String(decoding: json, as: UTF8.self).contains("sesame"))
        let read = try JSONDecoder().decode(StoredRelay.self, from: json)
        #expect(read.expiresAt == now.addingTimeInterval(3000) && read.url == server.description)
        expected.allocation.lifetime = .seconds(2900)
        #expect(read.relay(servers: [server], now: now.addingTimeInterval(100)) == expected)
        expected.allocation.lifetime = .zero
        #expect(read.relay(servers: [server], now: now.addingTimeInterval(9000)) == expected)
    }

    @Test("The credentials of a stored relay are those of its server and user")
    func credentials() throws {
        let url = "turn:relay.example"
        let alice = try ICEServer(urls: url, username: "alice", credential: "sesame")
        let others = [
            try ICEServer(urls: "stun:relay.example"), try ICEServer(urls: url, username: "bob", credential: "mellon"),
            try ICEServer(urls: "turn:relay.example:3479", username: "alice", credential: "mellon"),
        ]
        let kept = try relay("192.0.2.1", of: alice)
        let saved = StoredRelay(kept, now: now)
        #expect(saved.relay(servers: others, now: now) == nil)
        #expect(saved.relay(servers: others + [alice], now: now) == kept)
    }

    @Test("Text that is no address is not read as a relay")
    func invalidAddress() throws {
        let server = try ICEServer(urls: "turn:relay.example", username: "alice", credential: "sesame")
        let json = String(
            decoding: try JSONEncoder().encode(StoredRelay(try relay("192.0.2.1", of: server), now: now)), as: UTF8.self
        )
        let damaged = json.replacing("192.0.2.1", with: "192.0.2")
        let read = try JSONDecoder().decode(StoredRelay.self, from: Data(damaged.utf8))
        #expect(read.relay(servers: [server], now: now) == nil)
    }
}
