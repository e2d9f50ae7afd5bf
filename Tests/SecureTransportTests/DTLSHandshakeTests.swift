import RTCShareSecureTransport
import RTCShareWireFormat
import Testing

@Suite struct DTLSHandshakeTests {
    private static func makePath(
        seed: UInt64 = 1, clientProfiles: [SRTPProfile] = SRTPProfile.preferred,
        serverProfiles: [SRTPProfile] = SRTPProfile.preferred, clientExpects: [Fingerprint]? = nil,
        serverExpects: [Fingerprint]? = nil
    ) throws -> SimulatedPath {
        let alice = try #require(Identities.alice)
        let bob = try #require(Identities.bob)
        let client = try DTLSConnection(
            role: .client, context: DTLSContext(DTLSConfiguration(certificate: alice, profiles: clientProfiles)),
            expectedFingerprints: clientExpects ?? [bob.fingerprint()])
        let server = try DTLSConnection(
            role: .server, context: DTLSContext(DTLSConfiguration(certificate: bob, profiles: serverProfiles)),
            expectedFingerprints: serverExpects ?? [alice.fingerprint()])
        return SimulatedPath(client: client, server: server, seed: seed)
    }

    private static func expectConnected(_ path: SimulatedPath, _ profile: SRTPProfile = .aeadAES128GCM) throws {
        let client = try #require(path.client.keys, "\(path.client.state)")
        let server = try #require(path.server.keys, "\(path.server.state)")
        #expect(client.profile == profile)
        #expect(server.profile == profile)
        #expect(client.local == server.remote)
        #expect(client.remote == server.local)
        #expect(client.local != client.remote)
        #expect(client.local.key.count == profile.masterKeyByteCount)
        #expect(client.local.salt.count == profile.masterSaltByteCount)
    }

    @Test("Both ends derive the same keys")
    func bothEndsReleaseTheSameKeys() throws {
        var path = try Self.makePath()
        path.run()
        try Self.expectConnected(path)
        #expect(path.now.nanoseconds == 1_080_000_000, "two round trips of 40 ms")
        #expect(path.client.cipherSuite == "TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256")
        #expect(path.client.version == "FEFD")
        #expect(path.client.peerFingerprint == Identities.bob?.fingerprint())
        #expect(path.server.peerFingerprint == Identities.alice?.fingerprint())
        #expect(path.server.statistics.retransmissions == 0)
        #expect(path.client.nextDeadline == nil)
        #expect(path.server.nextDeadline == nil)
        #expect(path.largestDatagram <= 1200)
    }

    @Test("A small path MTU makes the handshake use fragments")
    func aSmallPathMakesFragments() throws {
        let alice = try #require(Identities.alice)
        let configuration = DTLSConfiguration(certificate: alice, maximumDatagramByteCount: 300)
        let context = try DTLSContext(configuration)
        var path = try SimulatedPath(
            client: DTLSConnection(role: .client, context: context, expectedFingerprints: [alice.fingerprint()]),
            server: DTLSConnection(role: .server, context: context, expectedFingerprints: [alice.fingerprint()]))
        path.run()
        try Self.expectConnected(path)
        #expect(path.largestDatagram <= 300)
    }

    @Test(
        "The server's order of profiles decides",
        arguments: [
            ([SRTPProfile.aes128CMHMACSHA1Tag80], SRTPProfile.preferred, SRTPProfile.aes128CMHMACSHA1Tag80),
            (SRTPProfile.preferred, [.aes128CMHMACSHA1Tag80], .aes128CMHMACSHA1Tag80),
            ([.aes128CMHMACSHA1Tag80, .aeadAES128GCM], SRTPProfile.preferred, .aeadAES128GCM),
            ([.aeadAES256GCM], [.aeadAES256GCM, .aeadAES128GCM], .aeadAES256GCM),
        ])
    func theServersOrderDecides(client: [SRTPProfile], server: [SRTPProfile], agreed: SRTPProfile) throws {
        var path = try Self.makePath(clientProfiles: client, serverProfiles: server)
        path.run()
        try Self.expectConnected(path, agreed)
    }

    @Test("The handshake fails on both ends when they have no profile in common")
    func withoutACommonProfileBothFail() throws {
        var path = try Self.makePath(clientProfiles: [.aeadAES256GCM], serverProfiles: [.aeadAES128GCM])
        path.run()
        #expect(path.client.failure == .noSRTPProfile)
        #expect(path.server.failure == .noSRTPProfile)
    }

    @Test("A handshake completes over a lossy path", arguments: [0.0, 0.05, 0.2], 1...20)
    func connectsOverALossyPath(loss: Double, seed: Int) throws {
        var path = try Self.makePath(seed: UInt64(seed))
        path.loss = loss
        path.reordering = 0.1
        path.duplication = 0.1
        path.run()
        try Self.expectConnected(path)
    }

    @Test("The same seed gives the same sequence of datagrams")
    func theSameSeedGivesTheSameCourse() throws {
        func course() throws -> (Instant, UInt64, UInt64, Int) {
            var path = try Self.makePath(seed: 7)
            path.loss = 0.3
            path.run()
            return (
                path.now, path.client.statistics.retransmissions, path.server.statistics.retransmissions,
                path.datagramsSent
            )
        }
        let first = try course()
        #expect(try course() == first)
        #expect(first.1 + first.2 > 0)
    }

    @Test("Retransmissions double up to their maximum, then the handshake fails")
    func retransmissionsDouble() throws {
        let alice = try #require(Identities.alice)
        let client = try DTLSConnection(
            role: .client, context: DTLSContext(DTLSConfiguration(certificate: alice)),
            expectedFingerprints: [alice.fingerprint()])
        client.start(now: Instant(nanoseconds: 0))
        #expect(client.pollTransmit() != nil)
        var intervals: [Double] = []
        var now = Instant(nanoseconds: 0)
        while let deadline = client.nextDeadline {
            client.handleTimeout(now: Instant(nanoseconds: deadline.nanoseconds - 1))
            #expect(client.pollTransmit() == nil, "nothing goes out early")
            intervals.append((deadline - now).milliseconds.rounded())
            now = deadline
            client.handleTimeout(now: now)
            #expect((client.pollTransmit() != nil) == (client.failure == nil))
        }
        #expect(intervals.prefix(7) == [100, 200, 400, 800, 1600, 3000, 3000])
        #expect(now.nanoseconds == 30_000_000_000)
        #expect(client.failure == .timedOut(after: .seconds(30)))
    }

    /// The datagrams of each flight: one of the client's, one of the server's, one of the client's.
    @Test(
        "A lost flight is resent exactly when its retransmission is due",
        arguments: [[1], [2], [3], [1, 2], [2, 3, 4], [3, 4, 5]])
    func lostFlight(lost: [Int]) throws {
        var path = try Self.makePath()
        path.tamper = { datagram, sent in lost.contains(sent) ? [] : datagram }
        path.run()
        try Self.expectConnected(path)
        // The n-th loss in a row is made up for after 100 ms, 200 ms more, 400 ms more.
        let waited = path.now.nanoseconds - 1_080_000_000
        #expect(waited % 20_000_000 == 0 && waited >= 100_000_000 && waited <= 1_500_000_000, "\(waited)")
        #expect(path.client.statistics.retransmissions + path.server.statistics.retransmissions > 0)
    }

    @Test("Repetitions of a flight have new record numbers and the same messages")
    func repeatedFlight() throws {
        let path = try Self.makePath()
        path.client.start(now: path.now)
        var flights = [try #require(path.client.pollTransmit())]
        while let deadline = path.client.nextDeadline {
            path.client.handleTimeout(now: deadline)
            while let datagram = path.client.pollTransmit() { flights.append(datagram) }
        }
        #expect(flights.count == 12)
        #expect(Set(flights.map { Array($0[5..<11]) }).count == flights.count, "sequence numbers (RFC 6347 §4.1)")
        #expect(flights.allSatisfy { $0.dropFirst(11) == flights[0].dropFirst(11) })
    }

    @Test("The server resends its last flight when the client's last flight is repeated")
    func serverLastFlight() throws {
        var path = try Self.makePath()
        let server = path.server
        var dropped = 0
        path.tamper = { datagram, _ in
            guard server.keys != nil, dropped < 2 else { return datagram }
            dropped += 1
            return []
        }
        path.run()
        #expect(dropped == 2)
        try Self.expectConnected(path)
        #expect(path.client.statistics.retransmissions > 0)
        #expect(path.server.statistics.retransmissions == 0)
    }

    @Test("A fingerprint mismatch is reported with both fingerprints")
    func fingerprintMismatch() throws {
        let alice = try #require(Identities.alice)
        let bob = try #require(Identities.bob)
        var path = try Self.makePath(clientExpects: [alice.fingerprint()])
        path.run()
        #expect(
            path.client.failure == .fingerprintMismatch(expected: [alice.fingerprint()], actual: bob.fingerprint()))
        #expect(path.server.failure == .peerAlert(code: 42, name: "bad certificate"))
        let text = try #require(path.client.failure?.description)
        #expect(text.contains(alice.fingerprint().hexadecimal))
        #expect(text.contains(bob.fingerprint().hexadecimal))
    }

    @Test("The server verifies the client's certificate too")
    func theServerVerifiesTheClientToo() throws {
        let alice = try #require(Identities.alice)
        let bob = try #require(Identities.bob)
        var path = try Self.makePath(serverExpects: [bob.fingerprint(.sha384)])
        path.run()
        #expect(
            path.server.failure
                == .fingerprintMismatch(expected: [bob.fingerprint(.sha384)], actual: alice.fingerprint(.sha384)))
        #expect(path.client.failure == .peerAlert(code: 42, name: "bad certificate"))
    }

    @Test("The strongest of several hashes decides")
    func strongestHash() throws {
        let alice = try #require(Identities.alice)
        let bob = try #require(Identities.bob)
        var good = try Self.makePath(
            clientExpects: [alice.fingerprint(.sha256), alice.fingerprint(.sha512), bob.fingerprint(.sha512)])
        good.run()
        try Self.expectConnected(good)
        var bad = try Self.makePath(clientExpects: [bob.fingerprint(.sha256), alice.fingerprint(.sha512)])
        bad.run()
        #expect(bad.client.failure != nil)
    }

    @Test("No certificate is accepted when there is no fingerprint")
    func noFingerprint() throws {
        var path = try Self.makePath(clientExpects: [])
        path.run()
        #expect(path.client.failure != nil)
    }

    @Test("Closing is signaled to the peer")
    func closeIsToldToThePeer() throws {
        var path = try Self.makePath()
        path.run()
        path.client.close()
        #expect(path.client.state == .closed(byPeer: false))
        path.collect()
        while path.step(until: .distantFuture) {}
        #expect(path.server.state == .closed(byPeer: true))
        #expect(path.server.statistics.alertsReceived == 1)
        path.server.close()
        #expect(path.server.state == .closed(byPeer: true))
    }

    @Test("Closing leads to a final state from every state")
    func closeInEveryState() throws {
        let path = try Self.makePath()
        path.client.close()
        #expect(path.client.state == .closed(byPeer: false))
        path.client.start(now: path.now)
        #expect(path.client.state == .closed(byPeer: false))
        path.server.start(now: path.now)
        path.server.close()
        path.server.handleTimeout(now: .distantFuture)
        #expect(path.server.state == .closed(byPeer: false))
    }

    @Test("A context serves many connections")
    func aContextServesManyConnections() throws {
        let alice = try #require(Identities.alice)
        let context = try DTLSContext(DTLSConfiguration(certificate: alice))
        var keys: Set<[UInt8]> = []
        for _ in 0..<4 {
            var path = try SimulatedPath(
                client: DTLSConnection(role: .client, context: context, expectedFingerprints: [alice.fingerprint()]),
                server: DTLSConnection(role: .server, context: context, expectedFingerprints: [alice.fingerprint()]))
            path.run()
            keys.insert(try #require(path.client.keys).local.key)
        }
        #expect(keys.count == 4)
    }

    // MARK: What a peer cannot do

    @Test("Datagrams that are not DTLS are counted and dropped")
    func noDTLS() throws {
        var path = try Self.makePath()
        path.server.start(now: path.now)
        let records: [[UInt8]] = [
            [], [22], [22, 0xFE, 0xFD], [99, 0xFE, 0xFD] + [UInt8](repeating: 0, count: 8) + [0, 1, 7],
            [22, 3, 3] + [UInt8](repeating: 0, count: 8) + [0, 1, 7],
            [22, 0xFE, 0xFD] + [UInt8](repeating: 0, count: 8) + [0xFF, 0xFF, 7],
            [23, 0xFE, 0xFD] + [UInt8](repeating: 0, count: 8) + [0, 1, 7],
        ]
        for record in records { path.server.handle(datagram: record.span.bytes, now: path.now) }
        #expect(path.server.statistics.datagramsDiscarded == UInt64(records.count))
        path.run()
        try Self.expectConnected(path)
        let before = path.server.state
        for record in records { path.server.handle(datagram: record.span.bytes, now: path.now) }
        #expect(path.server.state == before)
    }

    @Test("Records too short to be protected do not break the handshake")
    func shortRecords() throws {
        var path = try Self.makePath()
        let (client, server) = (path.client, path.server)
        client.start(now: path.now)
        server.start(now: path.now)
        path.collect()
        repeat {
            for type in UInt8(20)...23 {
                for length in UInt8(1)...23 {
                    let record =
                        [type, 0xFE, 0xFD, 0, 1, 0, 0, 0, 0, 9, length, 0, length]
                        + [UInt8](repeating: 0, count: Int(length))
                    client.handle(datagram: record.span.bytes, now: path.now)
                    server.handle(datagram: record.span.bytes, now: path.now)
                }
            }
        } while path.step(until: path.now.advanced(by: .seconds(1)))
        try Self.expectConnected(path)
    }

    @Test("Forged records after the handshake have no effect")
    func forgedAfterHandshake() throws {
        var path = try Self.makePath()
        path.run()
        try Self.expectConnected(path)
        var generator = SeededGenerator(seed: 3)
        for type in UInt8(20)...23 {
            for epoch in UInt8(0)...3 {
                for length in [1, 2, 12, 40, 300] {
                    var record: [UInt8] = [type, 0xFE, 0xFD, 0, epoch, 0, 0, 0, 1, 0, 9]
                    record.append(bigEndian: UInt16(length))
                    for _ in 0..<length { record.append(UInt8.random(in: 0...255, using: &generator)) }
                    path.server.handle(datagram: record.span.bytes, now: path.now)
                    path.client.handle(datagram: record.span.bytes, now: path.now)
                }
            }
        }
        #expect(path.server.keys != nil, "\(path.server.state)")
        #expect(path.client.keys != nil, "\(path.client.state)")
        path.client.close()
        path.collect()
        while path.step(until: .distantFuture) {}
        #expect(path.server.state == .closed(byPeer: true), "what the peer says is heard as before")
    }

    @Test("An unencrypted alert ends the handshake once the peer is silent", arguments: [UInt8(40), 0])
    func alertInTheClear(code: UInt8) throws {
        let path = try Self.makePath()
        path.client.start(now: path.now)
        let alert: [UInt8] = [21, 0xFE, 0xFD, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2, code == 0 ? 1 : 2, code]
        path.client.handle(datagram: alert.span.bytes, now: path.now)
        #expect(path.client.state == .handshaking)
        #expect(path.client.statistics.unprovenAlerts == 1)
        let start = path.now
        var now = start
        while let deadline = path.client.nextDeadline {
            now = deadline
            path.client.handleTimeout(now: now)
        }
        #expect(
            path.client.failure == (code == 0 ? .closedInHandshake : .peerAlert(code: 40, name: "handshake failure")))
        #expect(now - start == .seconds(2))
    }

    /// Alerts, and what contradicts itself, before each datagram of the peer's and beside it.
    @Test("Forged unencrypted records do not break the handshake", arguments: 1...20)
    func forgedInTheClear(seed: Int) throws {
        var path = try Self.makePath()
        var generator = SeededGenerator(seed: UInt64(seed))
        let (client, server) = (path.client, path.server)
        client.start(now: path.now)
        server.start(now: path.now)
        path.collect()
        for _ in 0..<30 {
            for _ in 0..<40 {
                let record = Self.forgedRecord(using: &generator)
                client.handle(datagram: record.span.bytes, now: path.now)
                server.handle(datagram: record.span.bytes, now: path.now)
            }
            path.collect()
            _ = path.step(until: path.now.advanced(by: .seconds(1)))
        }
        try Self.expectConnected(path)
        #expect(client.statistics.unprovenAlerts > 0 && client.statistics.datagramsDiscarded > 100)
    }

    /// A record of epoch 0 that is an alert, no type of content, no handshake message, or none that can come.
    private static func forgedRecord(using generator: inout SeededGenerator) -> [UInt8] {
        var body = (0..<Int.random(in: 1...60, using: &generator)).map { _ in
            UInt8.random(in: 0...255, using: &generator)
        }
        let type = UInt8.random(in: 20...24, using: &generator)
        switch type {
        case 20 where body == [1]: body = [2]
        case 21:
            body = [UInt8.random(in: 1...2, using: &generator), [0, 10, 40, 80].randomElement(using: &generator) ?? 0]
        case 22 where body.count > 12:
            // A sequence number that no handshake gets to.
            body[4] = max(1, body[4])
        default: break
        }
        var record: [UInt8] = [type, 0xFE, 0xFD, 0, 0, 0, 0, 0, 0, 0, UInt8.random(in: 0...255, using: &generator)]
        record.append(bigEndian: UInt16(body.count))
        return record + body
    }

    @Test("A truncated flight never traps, and the handshake recovers")
    func truncatedFlight() throws {
        for count in stride(from: 0, to: 700, by: 7) {
            for index in 1...4 {
                var path = try Self.makePath()
                path.tamper = { datagram, sent in sent == index ? Array(datagram.prefix(count)) : datagram }
                path.run()
                try Self.expectConnected(path)
            }
        }
    }

    @Test("A corrupted flight never traps and never leads to different keys")
    func corruptedFlight() throws {
        var generator = SeededGenerator(seed: 11)
        for round in 0..<300 {
            var path = try Self.makePath()
            let index = round % 8 + 1
            let position = Int.random(in: 0..<1200, using: &generator)
            let bit = UInt8(1) << UInt8.random(in: 0..<8, using: &generator)
            path.tamper = { datagram, sent in
                guard sent == index, !datagram.isEmpty else { return datagram }
                var damaged = datagram
                damaged[position % damaged.count] ^= bit
                return damaged
            }
            path.run()
            if let client = path.client.keys, let server = path.server.keys {
                #expect(client.local == server.remote)
            }
            #expect(path.client.nextDeadline == nil)
            #expect(path.server.nextDeadline == nil)
        }
    }
}
