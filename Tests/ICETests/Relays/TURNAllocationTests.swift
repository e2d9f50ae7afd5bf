import RTCShareCryptography
import RTCShareICE
import RTCShareSTUN
import RTCShareWireFormat
import Testing

@Suite struct TURNAllocationTests {
    @Test("RFC 8656 §7: an allocation is requested, challenged, and granted")
    func allocates() throws {
        var server = try ScriptedTURNServer()
        server.allocation.start(now: server.now)
        let first = try server.message()
        #expect(first.method == .allocate && first.messageClass == .request && !first.hasIntegrity)
        #expect(first.attributes.contains(.requestedTransport(.udp)) && first.username == nil)
        try server.challenge(first)
        let second = try server.message()
        let key = try ScriptedTURNServer.key()
        #expect(second.transactionID != first.transactionID)
        #expect(second.username == ScriptedTURNServer.username && second.realm == ScriptedTURNServer.realm)
        #expect(second.nonce == server.nonce && second.isAuthentic(key: key))
        try server.answer(
            second,
            [
                .xorRelayedAddress(server.relayed), .xorMappedAddress(server.reflexive), .lifetime(.seconds(600)),
            ])
        #expect(server.events == [.allocated(relayed: server.relayed, reflexive: server.reflexive)])
    }

    @Test("RFC 8489 §6.2.1: the server is unreachable after seven transmissions over UDP, one over a stream")
    func timesOut() throws {
        for transport in [TransportProtocol.udp, .tcp, .tls] {
            var server = try ScriptedTURNServer(transport: transport)
            server.allocation.start(now: server.now)
            _ = try server.message()
            let log = try server.wait(.seconds(39))
            #expect(log.map(\.at.milliseconds) == (transport == .udp ? [500, 1500, 3500, 7500, 15500, 31500] : []))
            #expect(server.allocation.state == .allocating)
            _ = try server.wait(.seconds(1))
            #expect(server.events == [.failed(.unreachable(transport))])
            #expect(server.allocation.nextDeadline == nil)
        }
    }

    @Test(
        "Each rejection has its reason",
        arguments: [
            (401, TURNError.wrongCredentials(realm: ScriptedTURNServer.realm)), (403, .forbidden), (437, .portInUse),
            (440, .unsupportedAddressFamily), (441, .wrongCredentials(realm: ScriptedTURNServer.realm)),
            (442, .unsupportedTransport), (486, .quotaReached), (508, .serverFull),
            (420, .refused(code: 420, reason: "Words")), (500, .refused(code: 500, reason: "Words")),
        ])
    func refusals(code: Int, error: TURNError) throws {
        var server = try ScriptedTURNServer()
        server.allocation.start(now: server.now)
        try server.challenge(server.message())
        try server.challenge(server.message(), code: code)
        #expect(server.events == [.failed(error)] && server.allocation.state == .failed(error))
        #expect(try server.messages().isEmpty && server.allocation.nextDeadline == nil)
        #expect(!"\(error)".contains(ScriptedTURNServer.password) && "\(error)".count > 20)
    }

    @Test("438 is answered with the new nonce, at most three times")
    func staleNonces() throws {
        var server = try ScriptedTURNServer()
        try server.allocate()
        server.nonce = Array("nonce 2".utf8)
        let refresh = try #require(try server.wait(.seconds(540)).first)
        #expect(refresh.message.method == .refresh && refresh.at == .seconds(540))
        try server.challenge(refresh.message, code: 438)
        let again = try server.message()
        #expect(again.method == .refresh && again.nonce == server.nonce)
        try server.answer(again, [.lifetime(.seconds(600))])
        var last = try #require(try server.wait(.seconds(540)).first?.message)
        for _ in 0..<3 {
            try server.challenge(last, code: 438)
            last = try server.message()
        }
        try server.challenge(last, code: 438)
        #expect(server.events.last == .failed(.staleNonceAgain))
    }

    @Test("An alternate server is followed once, and no further")
    func redirections() throws {
        let other = try #require(TransportAddress("192.0.2.77", port: 3479))
        var server = try ScriptedTURNServer()
        server.allocation.start(now: server.now)
        try server.challenge(server.message())
        try server.refuse(server.message(), 300, [.alternateServer(other)])
        #expect(server.events == [.redirected(other, domain: nil)] && server.allocation.server == other)
        let transmit = try #require(server.sent().first)
        let request = try STUNMessage(parsing: transmit.bytes.span.bytes)
        #expect(transmit.server == other && !request.hasIntegrity && request.method == .allocate)
        try server.refuse(request, 300, [.alternateServer(server.address)])
        #expect(server.events.last == .failed(.redirectedInCircles))

        var itself = try ScriptedTURNServer()
        itself.allocation.start(now: itself.now)
        try itself.refuse(itself.message(), 300, [.alternateServer(itself.address)])
        #expect(itself.events == [.failed(.redirectedInCircles)])

        var stream = try ScriptedTURNServer(transport: .tls)
        stream.allocation.start(now: stream.now)
        try stream.refuse(stream.message(), 300, [.alternateServer(other), .alternateDomain("b.example")])
        #expect(stream.events == [.redirected(other, domain: "b.example")] && stream.allocation.state == .idle)
        #expect(stream.sent().isEmpty)
        stream.allocation.start(now: stream.now)
        #expect(stream.sent().first?.server == other)
    }

    @Test("Lifetime, permissions and channels are refreshed before they expire, for an hour")
    func renewals() throws {
        var server = try ScriptedTURNServer()
        try server.allocate()
        let data: [UInt8] = [0x80, 1, 2]
        server.allocation.send(data.span.bytes, to: server.peer, now: server.now)
        let sent = try server.messages()
        #expect(sent.map(\.method) == [.createPermission, .send, .channelBind])
        #expect(sent[1].peerAddress == server.peer && sent[1].data == data)
        try server.answer(sent[0])
        try server.answer(sent[2])
        let log = try server.serve(.seconds(3600))
        func times(_ method: RTCShareSTUN.Method) -> [Duration] { log.filter { $0.message.method == method }.map(\.at) }
        #expect(times(.refresh) == (1...6).map { .seconds($0 * 540) })
        #expect(times(.createPermission) == (1...15).map { .seconds($0 * 240) })
        #expect(times(.channelBind) == (1...6).map { .seconds($0 * 540) })
        #expect(log.allSatisfy { $0.message.channelNumber == nil || $0.message.channelNumber?.rawValue == 0x4000 })
        server.allocation.revoke(server.peer.ip)
        #expect(try server.serve(.seconds(3600)).allSatisfy { $0.message.method == .refresh })
    }

    @Test("Short lifetimes are refreshed at half their length; an allocation without refresh is lost")
    func shortLifetime() throws {
        var server = try ScriptedTURNServer()
        try server.allocate(lifetime: .seconds(20))
        let log = try server.wait(.seconds(60))
        #expect(log.first?.at == .seconds(10) && log.allSatisfy { $0.message.method == .refresh })
        #expect(server.allocation.state == .failed(.unreachable(.udp)))
    }

    @Test("437 to a refresh means that the allocation is lost")
    func lost() throws {
        var server = try ScriptedTURNServer()
        try server.allocate()
        try server.refuse(try #require(try server.wait(.seconds(540)).first).message, 437)
        #expect(server.events.last == .failed(.allocationLost))
    }

    @Test("Data is sent in Send indications until the channel is bound, then on the channel", arguments: [false, true])
    func sending(isStream: Bool) throws {
        var server = try ScriptedTURNServer(transport: isStream ? .tcp : .udp)
        try server.allocate()
        let check = try STUNMessage(.indication, transactionID: server.requestID()).encoded()
        server.allocation.send(check.span.bytes, to: server.peer, now: server.now)
        // A check alone gets a permission, but no channel.
        #expect(try server.messages().map(\.method) == [.createPermission, .send])
        let data: [UInt8] = [0x80, 1, 2, 3, 4]
        server.allocation.send(data.span.bytes, to: server.peer, now: server.now)
        let messages = try server.messages()
        #expect(messages.map(\.method) == [.send, .channelBind])
        #expect(server.allocation.boundChannel(to: server.peer) == nil)
        try server.answer(messages[1])
        #expect(server.allocation.boundChannel(to: server.peer)?.rawValue == 0x4000)
        server.allocation.send(data.span.bytes, to: server.peer, now: server.now)
        #expect(server.sent().map(\.bytes) == [[0x40, 0, 0, 5] + data + (isStream ? [0, 0, 0] : [])])
    }

    @Test("A rejected channel leaves Send indications; a rejected permission is reported, and can be retried")
    func refusedPeers() throws {
        var server = try ScriptedTURNServer()
        try server.allocate()
        let data: [UInt8] = [0x80]
        server.allocation.send(data.span.bytes, to: server.peer, now: server.now)
        let first = try server.messages()
        try server.answer(first[0])
        try server.refuse(first[2], 400)
        server.allocation.send(data.span.bytes, to: server.peer, now: server.now)
        #expect(try server.messages().map(\.method) == [.send])
        let renewal = try #require(try server.wait(.seconds(240)).first)
        try server.refuse(renewal.message, 403)
        #expect(
            server.events.last == .permissionRefused(server.peer.ip, ErrorCode(code: 403, reason: "Words")))
        let isPermitted = server.allocation.permit(server.peer.ip, now: server.now)
        #expect(isPermitted)
        #expect(try server.message().method == .createPermission)
    }

    @Test("Data from permitted peers is returned with its range in the message")
    func receiving() throws {
        var server = try ScriptedTURNServer()
        try server.allocate()
        let data: [UInt8] = [0x80, 9, 8, 7]
        let indication = try STUNMessage(
            .indication, method: .data, transactionID: server.requestID(),
            attributes: [.xorPeerAddress(server.peer), .data(data)]
        ).encoded(fingerprint: false)
        let unpermitted = server.deliver(indication)
        #expect(unpermitted == nil)
        server.allocation.send(data.span.bytes, to: server.peer, now: server.now)
        let delivered = server.deliver(indication)
        let received = try #require(delivered)
        #expect(received.peer == server.peer && Array(indication[received.payload]) == data)
        let onChannel = [0x40, 0, 0, 4] + data
        let channelData = server.deliver(onChannel)
        #expect(channelData.map { Array(onChannel[$0.payload]) } == data)
        let unbound = server.deliver([0x40, 1, 0, 4] + data)
        let strange = server.deliver(onChannel, from: server.peer)
        #expect(unbound == nil && strange == nil)
        #expect(server.allocation.statistics.strangeSources == 1)
        let error = ICMPError(type: 3, code: 3)
        try server.deliver(
            STUNMessage(
                .indication, method: .data, transactionID: server.requestID(),
                attributes: [.xorPeerAddress(server.peer), .icmp(error)]
            ).encoded())
        #expect(server.events.last == .peerUnreachable(server.peer, error))
    }

    @Test("Forged, truncated and repeated messages change only counters")
    func forgeries() throws {
        var server = try ScriptedTURNServer()
        try server.allocate()
        let refresh = try #require(try server.wait(.seconds(540)).first).message
        let state = server.allocation.state
        let deadline = server.allocation.nextDeadline
        server.events = []
        let forged = STUNMessage(
            .successResponse, method: .refresh, transactionID: refresh.transactionID,
            attributes: [.lifetime(.seconds(1))])
        server.deliver(try forged.encoded())
        server.deliver(try forged.encoded(integrityKey: Array("guess".utf8)))
        let strange = STUNMessage(
            .errorResponse, method: .refresh, transactionID: server.requestID(),
            attributes: [.errorCode(ErrorCode(code: 437, reason: ""))])
        server.deliver(try strange.encoded())
        let real = try STUNMessage(
            .successResponse, method: .refresh, transactionID: refresh.transactionID,
            attributes: [.lifetime(.seconds(600))]
        ).encoded(integrityKey: ScriptedTURNServer.key())
        for count in 0..<real.count { server.deliver(Array(real[..<count])) }
        server.deliver(real, from: server.peer)
        #expect(server.allocation.state == state && server.allocation.nextDeadline == deadline)
        #expect(server.events.isEmpty && server.sent().isEmpty)
        #expect(server.allocation.statistics.unexpectedResponses == 3)
        server.deliver(real)
        server.deliver(real)
        #expect(server.allocation.statistics.unexpectedResponses == 4)
        #expect(server.allocation.nextDeadline == server.now.advanced(by: .seconds(540)))
    }

    @Test("SHA-256 is used if the server offers it, and a challenge without the offer is not answered")
    func algorithms() throws {
        var server = try ScriptedTURNServer()
        server.nonce = Array("obMatJos2AAABxyz".utf8)
        server.allocation.start(now: server.now)
        try server.refuse(
            server.message(), 401,
            [.realm(ScriptedTURNServer.realm), .nonce(server.nonce), .passwordAlgorithms([.sha256, .md5])])
        let request = try server.message()
        let key = try STUNMessage.longTermKey(
            username: ScriptedTURNServer.username, realm: ScriptedTURNServer.realm,
            password: ScriptedTURNServer.password, algorithm: .sha256)
        #expect(request.isAuthentic(key: key, integrity: .sha256) && request.passwordAlgorithm == .sha256)

        var weakened = try ScriptedTURNServer()
        weakened.nonce = server.nonce
        weakened.allocation.start(now: weakened.now)
        try weakened.challenge(weakened.message())
        #expect(weakened.events == [.failed(.weakenedChallenge)])
    }

    @Test("A release requests a lifetime of zero and ends with any response, or none")
    func release() throws {
        for answer in 0..<3 {
            var server = try ScriptedTURNServer()
            try server.allocate()
            server.events = []
            server.allocation.release(now: server.now)
            let request = try server.message()
            #expect(request.method == .refresh && request.lifetime == .zero)
            if answer == 0 { try server.answer(request, [.lifetime(.zero)]) }
            if answer == 1 { try server.refuse(request, 437) }
            if answer == 2 { _ = try server.wait(.seconds(60)) }
            #expect(server.events == [.released] && server.allocation.state == .released)
            #expect(server.allocation.nextDeadline == nil)
        }
        var idle = try ScriptedTURNServer()
        idle.allocation.release(now: idle.now)
        #expect(idle.sent().isEmpty && idle.events == [.released])
    }

    @Test("The end of a connection fails the allocation; one that is being released is then released")
    func transportFailures() throws {
        var server = try ScriptedTURNServer(transport: .tls)
        try server.allocate()
        server.allocation.transportFailed(now: server.now)
        #expect(server.sent().isEmpty && server.events.last == .failed(.connectionLost(.tls)))
        let data: [UInt8] = [0x80]
        let wasSent = server.allocation.send(data.span.bytes, to: server.peer, now: server.now)
        #expect(!wasSent && server.sent().isEmpty && server.allocation.nextDeadline == nil)

        var releasing = try ScriptedTURNServer(transport: .tcp)
        releasing.allocation.start(now: releasing.now)
        try releasing.challenge(releasing.message())
        _ = try releasing.message()
        // What was asked for may have been granted, so that it is given back unheard.
        releasing.allocation.release(now: releasing.now)
        #expect(try releasing.message().lifetime == .zero)
        releasing.allocation.transportFailed(now: releasing.now)
        _ = releasing.sent()
        #expect(releasing.events == [.released])
    }

    @Test("The number of peers is limited, and those of the other family are rejected")
    func bounds() throws {
        var server = try ScriptedTURNServer { $0.peerLimit = 2 }
        try server.allocate()
        for host in 1...4 as ClosedRange<UInt32> {
            let isPermitted = server.allocation.permit(.v4(0xCB00_7100 + host), now: server.now)
            #expect(isPermitted == (host <= 2))
        }
        #expect(server.allocation.statistics.overLimit == 2)
        let isOtherPermitted = server.allocation.permit(.v6(1, 2), now: server.now)
        #expect(!isOtherPermitted)
        #expect(try server.messages().count == 2)
    }
}

extension ScriptedTURNServer {
    /// An identifier that is no request's.
    func requestID() -> TransactionID {
        var generator = SeededGenerator(seed: 99)
        return TransactionID(using: &generator)
    }
}
