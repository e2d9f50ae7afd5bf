import RTCShareICE
import RTCShareSTUN
import RTCShareWireFormat
import Testing

/// A peer whose address changes in the middle of a connection.
@Suite struct MoveTests {
    private func address(_ text: String, _ port: UInt16 = 4000) throws -> TransportAddress {
        try #require(TransportAddress(text, port: port))
    }

    private func translated(_ hidden: Int) throws -> VirtualNetwork {
        var network = VirtualNetwork()
        network.addHost(hidden, "10.0.0.5")
        network.addHost(1 - hidden, "192.0.2.2")
        network.translations = [.init(inside: try address("10.0.0.5"), outside: try address("203.0.113.9", 61_000))]
        network.introduce(0)
        network.introduce(1)
        network.run(.seconds(20))
        return network
    }

    /// Two hosts that have been connected for some time, this agent at 192.0.2.1.
    private func connected(_ time: Duration, _ agent: Int) -> VirtualNetwork {
        var network = VirtualNetwork()
        network.addHost(agent, "192.0.2.1")
        network.addHost(1 - agent, "192.0.2.2")
        network.introduce(0)
        network.introduce(1)
        network.run(time)
        return network
    }

    @Test(
        "After a NAT binding has expired, media follows the peer's new port, in either role",
        arguments: [0, 1])
    func rebinding(hidden: Int) throws {
        var network = try translated(hidden)
        #expect(network.areNominated)
        let moved = try address("203.0.113.9", 61_555)
        network.translations[0] = .init(inside: try address("10.0.0.5"), outside: moved)
        let start = network.now
        network.run(.seconds(10)) { $0.agents[1 - hidden].selectedPair?.remote.address == moved }
        // The peer asks for consent every four to six seconds; a second later media is there.
        #expect(network.now - start < .milliseconds(7500))
        network.run(.seconds(60))
        #expect(network.areConnected && network.areNominated)
        #expect(network.agents[1 - hidden].selectedPair?.remote.address == moved)
        #expect(network.events.joined().allSatisfy { $0 != .stateChanged(.failed) })
    }

    @Test("Media follows a peer that moves to an entirely different address", arguments: [0, 1])
    func roaming(hidden: Int) throws {
        var network = try translated(hidden)
        let moved = try address("198.51.100.77", 9000)
        network.translations[0] = .init(inside: try address("10.0.0.5"), outside: moved)
        network.run(.seconds(10))
        #expect(network.agents[1 - hidden].selectedPair?.remote.address == moved)
        #expect(network.areConnected)
    }

    @Test("Media moves to a new address in two seconds if a tunnel swallows the old one's packets", arguments: [0, 1])
    func tunnel(agent: Int) throws {
        var network = connected(.seconds(21), agent)
        network.muted = [try address("192.0.2.1")]
        network.addHost(agent, "10.8.0.2")
        // The owner has noticed that the routes changed.
        network.agents[agent].checkConsent(now: network.now)
        let start = network.now
        let new = try address("10.8.0.2")
        network.run(.seconds(5)) { network in
            network.agents[agent].selectedPair?.local.base == new
                && network.agents[1 - agent].selectedPair?.remote.address == new
        }
        #expect(network.now - start < .seconds(2))
        // A browser nominates with each of its checks, also on the pair of before.
        network.run(.seconds(60))
        #expect(network.areConnected && network.agents[agent].selectedPair?.local.base == new)
    }

    @Test("Media moves to an address that comes after the connection was lost", arguments: [0, 1])
    func late(agent: Int) throws {
        var network = connected(.seconds(21), agent)
        network.muted = [try address("192.0.2.1")]
        network.run(.seconds(12))
        #expect(network.agents.allSatisfy { $0.state == .disconnected })
        network.addHost(agent, "10.8.0.2")
        let new = try address("10.8.0.2")
        network.run(.seconds(3))
        #expect(network.areConnected && network.areNominated)
        #expect(network.agents[agent].selectedPair?.local.base == new)
        #expect(network.agents[1 - agent].selectedPair?.remote.address == new)
    }

    @Test("Checks from other addresses have no effect while the selected pair answers", arguments: [0, 1])
    func rivals(agent: Int) throws {
        var network = VirtualNetwork()
        network.addHost(0, "192.0.2.1")
        network.addHost(1, "192.0.2.2")
        network.introduce(0)
        network.introduce(1)
        network.run(.seconds(20))
        let pair = try #require(network.agents[agent].selectedPair)
        var generator = SeededGenerator(seed: 9)
        let names = network.agents.map(\.localCredentials)
        let (own, other) = (names[agent], names[1 - agent])
        let before = try #require(network.agents[agent].pairReports().first).statistics.consentRequestsSent
        for port in 1...300 as ClosedRange<UInt16> {
            let check = try STUNMessage(
                .request, transactionID: TransactionID(using: &generator),
                attributes: [
                    .username("\(own.usernameFragment):\(other.usernameFragment)"), .priority(1),
                    agent == 0 ? .iceControlled(1) : .iceControlling(1),
                ]
            ).encoded(integrityKey: Array(own.password.utf8))
            network.deliver(check, from: try address("203.0.113.66", port), to: pair.local.base, agent: agent)
            network.run(.milliseconds(100))
        }
        #expect(network.agents[agent].selectedPair?.remote == pair.remote)
        #expect(network.areConnected)
        // Thirty seconds of it: asked for consent more often, but not for each.
        let after = try #require(network.agents[agent].pairReports().first).statistics.consentRequestsSent
        #expect(after - before < 80)
    }

    @Test("Repeated checks from hundreds of addresses leave room for the peer's own new one", arguments: [0, 1])
    func floods(agent: Int) throws {
        var network = connected(.seconds(20), agent)
        let pair = try #require(network.agents[agent].selectedPair)
        var generator = SeededGenerator(seed: 10)
        let names = network.agents.map(\.localCredentials)
        let (own, other) = (names[agent], names[1 - agent])
        func check() throws -> [UInt8] {
            try STUNMessage(
                .request, transactionID: TransactionID(using: &generator),
                attributes: [
                    .username("\(own.usernameFragment):\(other.usernameFragment)"), .priority(1),
                    agent == 0 ? .iceControlled(1) : .iceControlling(1),
                ]
            ).encoded(integrityKey: Array(own.password.utf8))
        }
        // Caught before they got here: what was here is known again.
        for port in 1...250 as ClosedRange<UInt16> {
            let captured = try check()
            network.deliver(captured, from: try address("203.0.113.66", port), to: pair.local.base, agent: agent)
            network.run(.milliseconds(400))
        }
        #expect(network.agents[agent].remoteCandidates.count == 100)
        #expect(network.agents[agent].remoteCandidates.contains(pair.remote))
        #expect(network.agents[agent].selectedPair?.remote == pair.remote && network.areConnected)
        // A new address of the peer's is still learned.
        let new = try address("203.0.113.67")
        network.deliver(try check(), from: new, to: pair.local.base, agent: agent)
        #expect(network.agents[agent].remoteCandidates.contains { $0.address == new })
    }
}
