import RTCShareSecureTransport
import RTCShareWireFormat
import Testing

/// The delay caused by a lost flight when the round-trip time is known.
@Suite struct DTLSLossTests {
    private static let start = Instant(nanoseconds: 1_000_000_000)

    private func makeEnds(lastFlightRepetitions: Int = 0) throws -> (client: DTLSConnection, server: DTLSConnection) {
        let (alice, bob) = (try #require(Identities.alice), try #require(Identities.bob))
        var configuration = DTLSConfiguration(certificate: bob)
        configuration.lastFlightRepetitions = lastFlightRepetitions
        let client = try DTLSConnection(
            role: .client, context: DTLSContext(DTLSConfiguration(certificate: alice)),
            expectedFingerprints: [bob.fingerprint()])
        let server = try DTLSConnection(
            role: .server, context: DTLSContext(configuration), expectedFingerprints: [alice.fingerprint()])
        return (client, server)
    }

    private func take(_ connection: DTLSConnection) -> [[UInt8]] {
        var datagrams: [[UInt8]] = []
        while let datagram = connection.pollTransmit() { datagrams.append(datagram) }
        return datagrams
    }

    private func give(_ datagrams: [[UInt8]], to connection: DTLSConnection, now: Instant) {
        for datagram in datagrams { connection.handle(datagram: datagram.span.bytes, now: now) }
    }

    @Test(
        "A flight waits slightly longer than the round trip, between 50 and 100 ms",
        arguments: [(0, 50), (40, 55), (80, 95), (200, 100), (10_000, 100)])
    func roundTrip(trip: Int, wait: Int) throws {
        let (client, server) = try makeEnds()
        client.setRoundTripTime(.milliseconds(trip))
        server.setRoundTripTime(.milliseconds(trip))
        client.start(now: Self.start)
        server.start(now: Self.start)
        #expect(try #require(client.nextDeadline) - Self.start == .milliseconds(wait))
        give(take(client), to: server, now: Self.start)
        #expect(try #require(server.nextDeadline) - Self.start == .milliseconds(wait))
    }

    @Test("A retransmitted flight has as few datagrams as the first one", arguments: [300, 1200])
    func packing(maximumByteCount: Int) throws {
        let alice = try #require(Identities.alice)
        let context = try DTLSContext(
            DTLSConfiguration(certificate: alice, maximumDatagramByteCount: maximumByteCount))
        let client = try DTLSConnection(role: .client, context: context, expectedFingerprints: [alice.fingerprint()])
        let server = try DTLSConnection(role: .server, context: context, expectedFingerprints: [alice.fingerprint()])
        client.start(now: Self.start)
        server.start(now: Self.start)
        give(take(client), to: server, now: Self.start)
        let flight = take(server)
        let now = try #require(server.nextDeadline)
        server.handleTimeout(now: now)
        let again = take(server)
        #expect(again.count <= flight.count + (maximumByteCount < 1200 ? 1 : 0))
        #expect(again.allSatisfy { $0.count <= maximumByteCount })
        give(again, to: client, now: now)
        give(take(client), to: server, now: now)
        give(take(server), to: client, now: now)
        #expect(client.state == .connected && server.state == .connected)
    }

    @Test("The timer of a flight that waited for a path begins when the path opens")
    func pathOpens() throws {
        let (client, server) = try makeEnds()
        client.start(now: Self.start)
        server.start(now: Self.start)
        give(take(client), to: server, now: Self.start)
        let later = Self.start.advanced(by: .milliseconds(90))
        server.pathOpened(now: later)
        #expect(try #require(server.nextDeadline) - later == .milliseconds(100))
        #expect(!take(server).isEmpty)
        server.pathOpened(now: later.advanced(by: .milliseconds(50)))
        #expect(try #require(server.nextDeadline) - later == .milliseconds(100), "it has left")
    }

    @Test("A server resends its flight at once when the client repeats its own at least a round trip later")
    func repeatedHello() throws {
        let (client, server) = try makeEnds()
        client.start(now: Self.start)
        server.start(now: Self.start)
        let hello = take(client)
        give(hello, to: server, now: Self.start)
        let flight = take(server)
        #expect(!flight.isEmpty)
        // Twice its timer has brought it again, and the next time is far.
        var now = Self.start
        for _ in 0..<2 {
            now = try #require(server.nextDeadline)
            server.handleTimeout(now: now)
            #expect(take(server).count == flight.count)
        }
        now = now.advanced(by: .milliseconds(99))
        give(hello, to: server, now: now)
        #expect(take(server).isEmpty)
        now = now.advanced(by: .milliseconds(1))
        give(hello, to: server, now: now)
        let again = take(server)
        #expect(again.count == flight.count)
        #expect(try #require(server.nextDeadline) - now == .milliseconds(100))
        give(again, to: client, now: now)
        give(take(client), to: server, now: now)
        give(take(server), to: client, now: now)
        #expect(client.state == .connected && server.state == .connected)
    }

    @Test("A client resends its flight at once when the server repeats its own a round trip later")
    func repeatedServerHello() throws {
        let (client, server) = try makeEnds()
        client.start(now: Self.start)
        server.start(now: Self.start)
        give(take(client), to: server, now: Self.start)
        give(take(server), to: client, now: Self.start)
        #expect(!take(client).isEmpty)
        var now = try #require(client.nextDeadline)
        client.handleTimeout(now: now)
        #expect(!take(client).isEmpty)
        now = now.advanced(by: .milliseconds(150))
        server.handleTimeout(now: now)
        give(take(server), to: client, now: now)
        let again = take(client)
        #expect(!again.isEmpty)
        give(again, to: server, now: now)
        give(take(server), to: client, now: now)
        #expect(client.state == .connected && server.state == .connected)
    }

    /// Both ends up to where the server has sent its last flight.
    private func finish(_ client: DTLSConnection, _ server: DTLSConnection) -> [[UInt8]] {
        client.start(now: Self.start)
        server.start(now: Self.start)
        give(take(client), to: server, now: Self.start)
        give(take(server), to: client, now: Self.start)
        give(take(client), to: server, now: Self.start)
        return take(server)
    }

    @Test("The server's last flight is resent unchanged, first after 5 ms, up to the configured number of times")
    func lastFlight() throws {
        let (client, server) = try makeEnds(lastFlightRepetitions: 3)
        let flight = finish(client, server)
        #expect(server.state == .connected && client.state == .handshaking)
        var waits: [Duration] = []
        var now = Self.start
        while let due = server.nextDeadline {
            waits.append(due - now)
            now = due
            server.handleTimeout(now: now)
            #expect(take(server) == flight)
        }
        #expect(waits == [.milliseconds(5), .milliseconds(200), .milliseconds(400)])
        for _ in 0..<3 {
            give(flight, to: client, now: now)
            #expect(client.state == .connected, "who has it drops it")
            #expect(take(client).isEmpty)
        }
    }

    @Test("The last flight is not resent once the peer has it or the connection closes", arguments: [true, false])
    func lastFlightRests(isThrough: Bool) throws {
        let (client, server) = try makeEnds(lastFlightRepetitions: 3)
        _ = finish(client, server)
        #expect(server.nextDeadline != nil)
        if isThrough { server.peerIsThrough() } else { server.close() }
        #expect(server.nextDeadline == nil)
        _ = take(server)
        server.handleTimeout(now: Self.start.advanced(by: .seconds(1)))
        #expect(take(server).isEmpty)
    }
}
