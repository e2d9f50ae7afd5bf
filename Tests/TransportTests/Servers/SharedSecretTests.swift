import Foundation
import RTCShareICE
import RTCShareSTUN
import RTCShareWireFormat
import Testing

@testable import RTCShareTransport

/// Credentials of limited time from a secret that a TURN server and this program share.
@Suite struct SharedSecretTests {
    private static let secret = "north of the river"
    private static let start = Date(timeIntervalSince1970: 1_767_139_200)

    private func server(_ url: String = "turn:relay", lifetime: Duration = .seconds(86400)) throws -> ICEServer {
        try ICEServer(urls: url, sharedSecret: Self.secret, lifetime: lifetime)
    }

    @Test("The user name is the end of the lifetime and the user, and the password is its HMAC-SHA1 in base64")
    func credentials() throws {
        let granted = try server().granted(to: "7", now: Self.start)
        // printf 1767225600:7 | openssl dgst -sha1 -hmac 'north of the river' -binary | base64
        #expect(granted.source.username == "1767225600:7")
        #expect(granted.source.password == "WoG7ISrYWR/5/gJrCoMCMps7aH8=")
        #expect(granted.credentials?.username == "1767225600:7")
        #expect(try server().granted(now: Self.start).source.username == "1767225600:rtcshare")
        #expect(try ICEServer(granted.source) == granted)
    }

    @Test(
        "Credentials are valid for a second at least and a day at most",
        arguments: [(Duration.seconds(3600), Int64(3600)), (.seconds(90000), 86400), (.zero, 1), (.seconds(-5), 1)])
    func lifetime(lifetime: Duration, seconds: Int64) throws {
        let granted = try server(lifetime: lifetime).granted(now: Self.start)
        #expect(granted.source.username == "\(1_767_139_200 + seconds):rtcshare")
    }

    @Test("A STUN server ignores a secret, and a user and password in a URL replace it")
    func otherServers() throws {
        let stun = try server("stun:relay")
        #expect(!stun.isRelay && stun.isGranted && stun.granted(to: "7") == stun)
        let own = try server("turn:bob:sesame@relay")
        #expect(own.isRelay && own.isGranted && own.source.username == "bob")
        let relay = try server()
        #expect(relay.isRelay && !relay.isGranted && relay.granted().isGranted)
    }

    @Test("An empty secret, and a name that is empty or has control characters, are rejected")
    func unusableSecrets() {
        for (secret, name) in [("", "rtcshare"), ("secret", ""), ("secret", "a\u{7}b")] {
            #expect(throws: ICEServerError.unusableCredentials(url: "turn:relay:3478")) {
                try ICEServer(urls: "turn:relay", sharedSecret: secret, name: name)
            }
        }
    }

    @Test("No description and no stored form contains the secret")
    func hiddenSecret() throws {
        var shown = ""
        let server = try server()
        dump(server, to: &shown)
        shown += "\(server) \(String(reflecting: server)) \(SharedSecret(Self.secret, name: "a", lifetime: .zero)!)"
        dump(SharedSecret(Self.secret, name: "a", lifetime: .zero), to: &shown)
        for server in [server, server.granted()] {
            shown += String(decoding: try JSONEncoder().encode(server.source), as: UTF8.self)
        }
        #expect(!shown.contains(Self.secret))
    }

    @Test("A server's addresses have credentials from its secret")
    func addresses() async throws {
        let addresses = try await server("turn:127.0.0.1").resolve()
        guard case .turn(let credentials) = try #require(addresses.first).kind else {
            Issue.record("no credentials")
            return
        }
        #expect(credentials.username.hasSuffix(":rtcshare"))
    }

    @Test("A connection keeps credentials for half of their lifetime, and then gets new ones")
    func renewal() throws {
        var lookups = ServerLookups()
        let server = try server()
        let first = lookups.granted(server, now: Self.start)
        for age in [0, 43199.0] {
            let now = Self.start.addingTimeInterval(age)
            #expect(lookups.granted(server, now: now) == first && !lookups.needsGrant(now: now))
        }
        let noon = Self.start.addingTimeInterval(43200)
        #expect(lookups.needsGrant(now: noon))
        let second = lookups.granted(server, now: noon)
        #expect(second == server.granted(now: noon) && second != first && !lookups.needsGrant(now: noon))
        // The clock was set back.
        #expect(lookups.granted(server, now: Self.start) == first)
        let stun = try ICEServer(urls: "stun:relay")
        #expect(lookups.granted(stun, now: noon) == stun)
    }

    @Test("New credentials from a secret take the place of the former ones")
    func replacement() throws {
        var lookups = ServerLookups()
        let address = try #require(TransportAddress("192.0.2.1", port: 3478))
        let server = try server()
        let granted = lookups.granted(server, now: Self.start)
        lookups.ask([
            ICEServerAddress(kind: .turn(try #require(granted.credentials)), address: address, url: "turn:relay"),
            ICEServerAddress(kind: .stun, address: address, url: "stun:relay"),
        ])
        let renewed = lookups.granted(server, now: Self.start.addingTimeInterval(43200))
        #expect(renewed != granted)
        let credentials = try #require(renewed.credentials)
        #expect(lookups.known.map(\.kind) == [.turn(credentials), .stun])
    }

    @Test("Of one address, the newest credentials are kept")
    func bound() throws {
        var lookups = ServerLookups()
        let address = try #require(TransportAddress("192.0.2.1", port: 3478))
        for number in 0..<20 {
            let credentials = try #require(LongTermCredentials(username: "\(number)", password: "sesame"))
            lookups.ask([ICEServerAddress(kind: .turn(credentials), address: address, url: "turn:relay")])
        }
        lookups.ask([ICEServerAddress(kind: .stun, address: address, url: "stun:relay")])
        let names = lookups.known.map { server in
            if case .turn(let credentials) = server.kind { credentials.username } else { "stun" }
        }
        #expect(names == ["19", "18", "17", "16", "stun"])
    }
}
