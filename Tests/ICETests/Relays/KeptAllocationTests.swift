import RTCShareICE
import RTCShareSTUN
import RTCShareWireFormat
import Testing

/// An allocation that one program makes and another takes up.
@Suite struct KeptAllocationTests {
    /// A server whose allocation was left, and what was kept of it.
    private func left() throws -> (server: ScriptedTURNServer, kept: AllocationState) {
        var server = try ScriptedTURNServer()
        try server.allocate(lifetime: .seconds(3600))
        let kept = try #require(server.allocation.kept(now: server.now.advanced(by: .seconds(10))))
        server.allocation.leave()
        #expect(server.allocation.state == .left && server.allocation.nextDeadline == nil)
        #expect(try server.messages().isEmpty)
        return (server, kept)
    }

    /// Has another allocation take it up, and gives its first message.
    private func resume(_ kept: AllocationState, at server: inout ScriptedTURNServer) throws -> STUNMessage {
        let credentials = try #require(
            LongTermCredentials(username: ScriptedTURNServer.username, password: ScriptedTURNServer.password))
        server.allocation = try TURNAllocation(
            resuming: kept,
            configuration: TURNConfiguration(server: server.address, transport: .udp, credentials: credentials),
            generator: SeededGenerator(seed: 8))
        server.allocation.start(now: server.now)
        return try server.message()
    }

    @Test("The stored state contains the addresses, the challenge and the remaining time")
    func kept() throws {
        let (server, kept) = try left()
        #expect(kept.relayed == server.relayed && kept.reflexive == server.reflexive)
        #expect(kept.challenge == LongTermChallenge(realm: ScriptedTURNServer.realm, nonce: server.nonce))
        #expect(kept.lifetime == .seconds(3590))
    }

    @Test("RFC 8656 §8: a Refresh with the stored realm and nonce resumes the allocation, which is then refreshed")
    func resumes() throws {
        var (server, kept) = try left()
        let refresh = try resume(kept, at: &server)
        #expect(refresh.method == .refresh && refresh.nonce == server.nonce && refresh.lifetime == .seconds(600))
        #expect(refresh.isAuthentic(key: try ScriptedTURNServer.key()))
        #expect(server.allocation.state == .resuming(relayed: server.relayed, reflexive: server.reflexive))
        // Before the server has said so, nothing can be sent.
        let isPermitted = server.allocation.permit(server.peer.ip, now: server.now)
        #expect(!isPermitted)
        try server.answer(refresh, [.lifetime(.seconds(600))])
        #expect(server.events.last == .allocated(relayed: server.relayed, reflexive: server.reflexive))
        let data: [UInt8] = [0x80, 1, 2]
        server.allocation.send(data.span.bytes, to: server.peer, now: server.now)
        let sent = try server.messages()
        #expect(sent.map(\.method) == [.createPermission, .send, .channelBind])
        for request in [sent[0], sent[2]] { try server.answer(request) }
        let times = try server.serve(.seconds(1800)).filter { $0.message.method == .refresh }.map(\.at)
        #expect(times == [.seconds(540), .seconds(1080), .seconds(1620)])
    }

    @Test("A stale nonce or another challenge is answered once more", arguments: [438, 401])
    func newChallenge(code: Int) throws {
        var (server, kept) = try left()
        kept.challenge.realm = code == 401 ? "was.example" : ScriptedTURNServer.realm
        server.nonce = Array("nonce 2".utf8)
        try server.challenge(try resume(kept, at: &server), code: code)
        let again = try server.message()
        #expect(again.method == .refresh && again.nonce == server.nonce && again.realm == ScriptedTURNServer.realm)
        if code == 401 {
            try server.challenge(again)
            #expect(server.events.last == .failed(.wrongCredentials(realm: ScriptedTURNServer.realm)))
        } else {
            try server.answer(again, [.lifetime(.seconds(600))])
            #expect(server.events.last == .allocated(relayed: server.relayed, reflexive: server.reflexive))
        }
    }

    @Test("437 means that the allocation is gone, silence that the server is unreachable")
    func gone() throws {
        var (server, kept) = try left()
        try server.refuse(try resume(kept, at: &server), 437)
        #expect(server.events.last == .failed(.allocationLost))
        _ = try resume(kept, at: &server)
        _ = try server.wait(.seconds(40))
        #expect(server.events.last == .failed(.unreachable(.udp)))
    }

    @Test("An unauthenticated success response resumes nothing")
    func forged() throws {
        var (server, kept) = try left()
        let refresh = try resume(kept, at: &server)
        let forgery = STUNMessage(
            .successResponse, method: .refresh, transactionID: refresh.transactionID,
            attributes: [.lifetime(.seconds(600))])
        server.deliver(try forgery.encoded())
        #expect(server.allocation.state == .resuming(relayed: server.relayed, reflexive: server.reflexive))
        #expect(server.allocation.statistics.unexpectedResponses == 1)
    }

    @Test("An allocation that is being resumed can be left again, or released")
    func endsWhileResuming() throws {
        var (server, kept) = try left()
        _ = try resume(kept, at: &server)
        server.allocation.leave()
        #expect(server.allocation.state == .left)
        #expect(try server.messages().isEmpty && server.allocation.nextDeadline == nil)
        _ = try resume(kept, at: &server)
        server.allocation.release(now: server.now)
        let release = try server.message()
        #expect(release.method == .refresh && release.lifetime == .zero)
    }

    @Test("An allocation over a stream is neither stored nor left", arguments: [TransportProtocol.tcp, .tls])
    func streams(transport: TransportProtocol) throws {
        var server = try ScriptedTURNServer(transport: transport)
        try server.allocate()
        #expect(server.allocation.kept(now: server.now) == nil)
        server.allocation.leave()
        #expect(server.allocation.state == .allocated(relayed: server.relayed, reflexive: server.reflexive))
    }

    @Test("RFC 8489 §9.2.5: a stored challenge without the algorithms of its nonce is not answered")
    func weakened() throws {
        var (server, kept) = try left()
        kept.challenge.nonce = Array("obMatJos2AAABnonce".utf8)
        #expect(throws: ChallengeError.weakened) { try resume(kept, at: &server) }
        kept.challenge.passwordAlgorithms = [.sha256, .md5]
        let refresh = try resume(kept, at: &server)
        #expect(refresh.passwordAlgorithms == [.sha256, .md5])
    }
}
