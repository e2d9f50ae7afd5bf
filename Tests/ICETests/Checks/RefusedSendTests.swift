import RTCShareICE
import RTCShareSTUN
import RTCShareWireFormat
import Testing

/// Datagrams that the system could not send count as lost, since a route can be back a moment later.
@Suite struct RefusedSendTests {
    /// Has the system refuse what the agent sends for a while; how many checks that were.
    private func refuseChecks(of peer: inout ScriptedPeer, for duration: Duration) throws -> Int {
        let end = peer.now.advanced(by: duration)
        var count = 0
        while peer.now < end {
            for _ in try peer.received() {
                count += 1
                peer.agent.transmitFailed(base: peer.base, destination: peer.address, now: peer.now)
            }
            peer.wait(.milliseconds(10))
        }
        return count
    }

    @Test(
        "A check that the system rejects is retransmitted, also to a peer that sends none",
        arguments: [true, false])
    func routeComesBack(isLite: Bool) throws {
        var peer = try ScriptedPeer(role: .controlling, isLite: isLite)
        if !isLite { peer.meet() }
        _ = peer.announce()
        #expect(try refuseChecks(of: &peer, for: .seconds(1)) > 3)
        #expect(peer.agent.pairReports().map(\.fate) == [.unreachable])
        #expect(peer.agent.pairReports().map(\.state) == [.inProgress])
        peer.wait(.seconds(2))
        #expect(peer.agent.pairReports().map(\.fate) != [.unreachable])
        try peer.answerChecks()
        #expect(peer.agent.state == .connected)
    }

    @Test("A pair that the system never sends to fails with that reason")
    func neverSent() throws {
        var peer = try ScriptedPeer(role: .controlling)
        peer.meet()
        _ = peer.announce()
        _ = try refuseChecks(of: &peer, for: .seconds(15))
        #expect(peer.agent.pairReports().map(\.fate) == [.unreachable])
        #expect(peer.agent.pairReports().map(\.state) == [.failed])
    }

    @Test("A better pair to which the system does not send does not prevent the nomination of another")
    func nominationDoesNotWait() throws {
        var peer = try ScriptedPeer(role: .controlling)
        peer.meet()
        let nowhere = try #require(TransportAddress("192.0.2.3", port: 5000))
        peer.agent.addRemoteCandidate(
            foundation: "9", component: 1, transport: "UDP", priority: .max, address: nowhere, type: "host",
            now: peer.now)
        peer.agent.transmitFailed(base: peer.base, destination: nowhere, now: peer.now)
        _ = try peer.received()
        _ = peer.announce()
        peer.wait(.milliseconds(25))
        try peer.answerChecks()
        peer.wait(.milliseconds(25))
        #expect(try peer.answerChecks().contains(where: \.usesCandidate))
        #expect(peer.agent.selectedPair?.isNominated == true)
    }

    @Test("Gathering does not wait for an unreachable server, and uses its late answer")
    func server() throws {
        let stun = try #require(TransportAddress("198.51.100.1", port: 3478))
        let mapped = try #require(TransportAddress("203.0.113.1", port: 50_001))
        var peer = try ScriptedPeer(role: .controlling)
        peer.agent.gather(servers: [ICEServerAddress(kind: .stun, address: stun)], now: peer.now)
        peer.agent.transmitFailed(base: peer.base, destination: stun, now: peer.now)
        #expect(peer.agent.serverReports().map(\.outcome) == [.failed(.unreachable)])
        var events: [AgentEvent] = []
        while let event = peer.agent.pollEvent() { events.append(event) }
        #expect(events.last == .gatheringComplete)
        _ = try peer.received()
        peer.wait(.seconds(1))
        let request = try #require(try peer.received().first?.message)
        try peer.deliver(
            STUNMessage(
                .successResponse, transactionID: request.transactionID, attributes: [.xorMappedAddress(mapped)]),
            key: nil, from: stun)
        #expect(peer.agent.localCandidates.contains { $0.address == mapped })
        #expect(peer.agent.serverReports().map(\.outcome) == [.answered])
    }

    @Test("A TURN server over UDP that is unreachable at first receives further requests")
    func relay() throws {
        let server = TURNServerModel(try #require(TransportAddress("198.51.100.1", port: 3478)))
        var network = VirtualNetwork()
        network.addHost(0, "192.0.2.1")
        network.turnServers = [server]
        network.agents[0].gather(servers: [try #require(server.server)], now: network.now)
        while network.agents[0].pollTransmit() != nil {}
        network.agents[0].transmitFailed(base: network.bases[0][0], destination: server.address, now: network.now)
        #expect(network.agents[0].serverReports().map(\.outcome) == [.failed(.relay(.connectionLost(.udp)))])
        network.run(.seconds(2))
        #expect(network.agents[0].localCandidates.contains { $0.type == .relayed })
        #expect(network.agents[0].serverReports().map(\.outcome) == [.answered])
    }
}
