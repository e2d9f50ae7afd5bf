import RTCShareSecureTransport
import RTCShareWireFormat
import Testing

/// Connections that keep no more than it takes to say goodbye, against such as have all of OpenSSL's.
@Suite struct DTLSRestTests {
    private static func connectedPath() throws -> SimulatedPath {
        let alice = try #require(Identities.alice)
        let bob = try #require(Identities.bob)
        var path = SimulatedPath(
            client: try DTLSConnection(
                role: .client, context: DTLSContext(DTLSConfiguration(certificate: alice)),
                expectedFingerprints: [bob.fingerprint()]),
            server: try DTLSConnection(
                role: .server, context: DTLSContext(DTLSConfiguration(certificate: bob)),
                expectedFingerprints: [alice.fingerprint()]))
        path.run()
        _ = try #require(path.client.keys)
        _ = try #require(path.server.keys)
        return path
    }

    private static func ends(of path: SimulatedPath, _ role: DTLSRole) -> (
        resting: DTLSConnection, other: DTLSConnection
    ) {
        role == .client ? (path.client, path.server) : (path.server, path.client)
    }

    private static func pass(_ sender: DTLSConnection, _ receiver: DTLSConnection, at now: Instant) -> Int {
        var count = 0
        while let datagram = sender.pollTransmit() {
            receiver.handle(datagram: datagram.span.bytes, now: now)
            count += 1
        }
        return count
    }

    @Test("A connection at rest receives its peer's close_notify", arguments: [DTLSRole.client, .server])
    func hearsTheGoodbyeOfItsPeer(role: DTLSRole) throws {
        let path = try Self.connectedPath()
        let (resting, other) = Self.ends(of: path, role)
        let before = (resting.profile, resting.cipherSuite, resting.version)
        #expect(resting.rest())
        #expect((resting.profile, resting.cipherSuite, resting.version) == before)
        other.close()
        #expect(Self.pass(other, resting, at: path.now) == 1)
        #expect(resting.state == .closed(byPeer: true))
        #expect(resting.statistics.alertsReceived == 1)
    }

    @Test("A connection at rest sends close_notify to its peer", arguments: [DTLSRole.client, .server])
    func saysGoodbyeToItsPeer(role: DTLSRole) throws {
        let path = try Self.connectedPath()
        let (resting, other) = Self.ends(of: path, role)
        #expect(resting.rest())
        resting.close()
        #expect(resting.state == .closed(byPeer: false))
        #expect(Self.pass(resting, other, at: path.now) == 1)
        #expect(other.state == .closed(byPeer: true))
    }

    @Test("Both ends may be at rest")
    func bothMayRest() throws {
        let path = try Self.connectedPath()
        #expect(path.client.rest())
        #expect(path.server.rest())
        #expect(path.server.rest(), "a second time it does nothing")
        path.client.close()
        #expect(Self.pass(path.client, path.server, at: path.now) == 1)
        #expect(path.server.state == .closed(byPeer: true))
    }

    @Test("A connection at rest ignores forged and truncated records")
    func forgedAtRest() throws {
        let path = try Self.connectedPath()
        #expect(path.server.rest())
        path.client.close()
        let goodbye = try #require(path.client.pollTransmit())
        for index in goodbye.indices {
            var forged = goodbye
            forged[index] ^= 0x01
            path.server.handle(datagram: forged.span.bytes, now: path.now)
            path.server.handle(datagram: Array(goodbye.prefix(index)).span.bytes, now: path.now)
        }
        #expect(path.server.keys != nil, "\(path.server.state)")
        path.server.handle(datagram: goodbye.span.bytes, now: path.now)
        #expect(path.server.state == .closed(byPeer: true))
    }

    @Test("A server does not rest before its last flight has left")
    func restAwaitsLastFlight() throws {
        let alice = try #require(Identities.alice)
        let connection = try DTLSConnection(
            role: .client, context: DTLSContext(DTLSConfiguration(certificate: alice)),
            expectedFingerprints: [alice.fingerprint()])
        #expect(!connection.rest())
        connection.start(now: Instant(nanoseconds: 0))
        #expect(!connection.rest())
    }
}
