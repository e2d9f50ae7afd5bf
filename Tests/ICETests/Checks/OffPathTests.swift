import RTCShareSTUN
import RTCShareWireFormat
import Testing

@testable import RTCShareICE

/// Somebody who forges addresses, and has caught what was sent, but knows no password, opposite one agent.
@Suite struct OffPathTests {
    /// A peer that is connected with the agent; what the agent sent so far is taken out.
    private func connected(role: Role) throws -> ScriptedPeer {
        var peer = try ScriptedPeer(role: role)
        peer.meet()
        _ = peer.announce()
        for _ in 0..<4 {
            try peer.answerChecks()
            peer.wait(.milliseconds(30))
        }
        if role == .controlled {
            _ = try peer.request([.iceControlling(1), .useCandidate])
            try peer.answerChecks()
        }
        #expect(peer.agent.state == .connected && peer.agent.selectedPair?.isNominated == true)
        _ = try peer.received()
        return peer
    }

    /// A request as whoever does not know the password can make it.
    private func forgery(_ peer: inout ScriptedPeer, _ attributes: [Attribute], hasIntegrity: Bool) throws -> [UInt8] {
        let name = "\(peer.agent.localCredentials.usernameFragment):\(peer.credentials.usernameFragment)"
        return try STUNMessage(
            .request, transactionID: TransactionID(using: &peer.generator),
            attributes: [.username(name), .priority(.max), .useCandidate] + attributes
        ).encoded(integrityKey: hasIntegrity ? Array("some other password, 24".utf8) : nil)
    }

    @Test("Rejections of strangers are small, and at most sixteen per second", arguments: [true, false])
    func refusals(hasIntegrity: Bool) throws {
        var peer = try connected(role: .controlled)
        let before = (peer.agent.remoteCandidates, peer.agent.pairReports().map(\.description), peer.agent.nextDeadline)
        for second in 1...3 {
            var bytesIn = 0
            for port in 1...5000 as ClosedRange<UInt16> {
                let bytes = try forgery(&peer, [.iceControlled(0)], hasIntegrity: hasIntegrity)
                bytesIn += bytes.count
                let source = TransportAddress(ip: peer.address.ip, port: port)
                peer.agent.handle(datagram: bytes.span.bytes, from: source, to: peer.base, now: peer.now)
            }
            var sent: [Transmit] = []
            while let transmit = peer.agent.pollTransmit() { sent.append(transmit) }
            #expect(sent.count == 16)
            #expect(sent.map(\.bytes.count).reduce(0, +) * 100 < bytesIn)
            #expect(peer.agent.statistics.unauthenticatedRequests == 5000 * second)
            peer.now = peer.now.advanced(by: .seconds(1))
        }
        #expect(peer.agent.remoteCandidates == before.0 && peer.agent.pairReports().map(\.description) == before.1)
        #expect(peer.agent.nextDeadline == before.2 && peer.agent.role == .controlled)
    }

    @Test("A bare header is not answered, since the rejection would be longer")
    func amplification() throws {
        var peer = try connected(role: .controlling)
        let bare = try STUNMessage(.request, transactionID: TransactionID(using: &peer.generator)).encoded()
        peer.agent.handle(datagram: bare.span.bytes, from: peer.address, to: peer.base, now: peer.now)
        #expect(try peer.received().isEmpty)
        #expect(peer.agent.statistics.unauthenticatedRequests == 1)
    }

    @Test("An error without integrity, even with our transaction, changes no role and fails no pair")
    func unauthenticatedErrors() throws {
        var peer = try ScriptedPeer(role: .controlling)
        peer.meet()
        _ = peer.announce()
        peer.wait(.milliseconds(30))
        let check = try #require(try peer.received().first { $0.message.messageClass == .request })
        for code in [300, 400, 401, 403, 420, 438, 487, 500] {
            for key in [nil, Array("some other password, 24".utf8)] {
                try peer.deliver(
                    STUNMessage(
                        .errorResponse, transactionID: check.message.transactionID,
                        attributes: [.errorCode(ErrorCode(code: code, reason: "no"))]), key: key)
            }
        }
        #expect(peer.agent.role == .controlling)
        #expect(peer.agent.statistics.unexpectedResponses == 16)
        #expect(peer.agent.pairReports().map(\.state) == [.inProgress])
        // The peer's own answer is still believed.
        try peer.deliver(
            STUNMessage(
                .successResponse, transactionID: check.message.transactionID,
                attributes: [.xorMappedAddress(peer.base)]), key: Array(peer.credentials.password.utf8))
        #expect(peer.agent.state == .connected)
    }

    @Test("A sender without the password neither extends nor ends consent")
    func consent() throws {
        var peer = try connected(role: .controlling)
        let start = peer.now
        var answers: [(STUNMessage, TransportAddress)] = []
        while peer.agent.state == .connected || peer.agent.state == .disconnected {
            peer.wait(.milliseconds(500))
            for (check, destination) in try peer.received() where check.messageClass == .request {
                answers.append((check, destination))
                // Answered by somebody who has seen the check, but has no password; and by one who has not seen it.
                for id in [check.transactionID, TransactionID(using: &peer.generator)] {
                    try peer.deliver(
                        STUNMessage(.successResponse, transactionID: id, attributes: [.xorMappedAddress(peer.base)]),
                        key: Array("some other password, 24".utf8), from: destination)
                }
            }
            #expect(peer.now - start < .seconds(60))
            if peer.now - start >= .seconds(60) { break }
        }
        #expect(peer.agent.state == .failed)
        #expect(peer.now - start >= .seconds(29))

        // The peer answers, and somebody refuses in its name: consent goes on.
        var other = try connected(role: .controlling)
        for _ in 0..<200 {
            other.wait(.milliseconds(500))
            for (check, destination) in try other.received() where check.messageClass == .request {
                try other.deliver(
                    STUNMessage(
                        .errorResponse, transactionID: check.transactionID,
                        attributes: [.errorCode(ErrorCode(code: 403, reason: "revoked"))]), key: nil, from: destination)
                try other.deliver(
                    STUNMessage(
                        .successResponse, transactionID: check.transactionID,
                        attributes: [.xorMappedAddress(other.base)]), key: Array(other.credentials.password.utf8),
                    from: destination)
            }
        }
        #expect(other.agent.state == .connected)
    }

    @Test("A replayed authentic request has no effect, from any address")
    func repeatedRequests() throws {
        var peer = try connected(role: .controlled)
        let elsewhere = try #require(TransportAddress("203.0.113.66", port: 7))
        func check(_ attributes: [Attribute]) throws -> [UInt8] {
            let name = "\(peer.agent.localCredentials.usernameFragment):\(peer.credentials.usernameFragment)"
            return try STUNMessage(
                .request, transactionID: TransactionID(using: &peer.generator),
                attributes: [.username(name), .priority(1)] + attributes
            ).encoded(integrityKey: Array(peer.agent.localCredentials.password.utf8))
        }
        let caught = try [check([.iceControlling(1)]), check([.iceControlling(1), .useCandidate])]
        for bytes in caught {
            peer.agent.handle(datagram: bytes.span.bytes, from: peer.address, to: peer.base, now: peer.now)
        }
        #expect(try peer.received().filter { $0.message.messageClass == .successResponse }.count == 2)
        let before = (peer.agent.remoteCandidates, peer.agent.pairReports().map(\.description), peer.agent.nextDeadline)
        for bytes in caught {
            for _ in 0..<100 {
                peer.agent.handle(datagram: bytes.span.bytes, from: elsewhere, to: peer.base, now: peer.now)
            }
            // From where it came it may be the peer's, which has not heard the answer.
            peer.agent.handle(datagram: bytes.span.bytes, from: peer.address, to: peer.base, now: peer.now)
        }
        let answers = try peer.received()
        #expect(answers.count == 2 && answers.allSatisfy { $0.destination == peer.address })
        #expect(peer.agent.remoteCandidates == before.0 && peer.agent.pairReports().map(\.description) == before.1)
        #expect(peer.agent.nextDeadline == before.2)
        #expect(peer.agent.statistics.repeatedRequests == 202)
    }

    @Test("The memory of requests, candidates, pairs and checks is limited")
    func bounds() throws {
        var peer = try connected(role: .controlled)
        let name = "\(peer.agent.localCredentials.usernameFragment):\(peer.credentials.usernameFragment)"
        // Authentic ones, from many addresses: more than a peer ever sends.
        for number in 0..<6000 {
            let bytes = try STUNMessage(
                .request, transactionID: TransactionID(using: &peer.generator),
                attributes: [.username(name), .priority(1), .iceControlling(1)]
            ).encoded(integrityKey: Array(peer.agent.localCredentials.password.utf8))
            let source = TransportAddress(ip: .v4(0xCB00_7100 + UInt32(number)), port: 9)
            peer.agent.handle(datagram: bytes.span.bytes, from: source, to: peer.base, now: peer.now)
            if number % 100 == 0 { peer.wait(.milliseconds(20)) }
        }
        let limits = Limits()
        #expect(peer.agent.incoming.answered.count == limits.answeredRequests)
        #expect(peer.agent.remoteCandidates.count <= limits.remoteCandidates)
        #expect(
            peer.agent.checklist.pairs.count <= limits.pairs && peer.agent.checklist.triggered.count <= limits.pairs)
        #expect(peer.agent.transactions.count <= 2 * limits.pairs)
        #expect(peer.agent.localCandidates.count <= limits.localCandidates)
        #expect(try peer.received().count <= limits.transmits)
        #expect(peer.agent.selectedPair?.remote.address == peer.address)
    }
}
