import RTCShareICE
import RTCShareSTUN
import RTCShareWireFormat
import Testing

/// Servers are asked again, since their answers can have changed, as are servers that gave none.
@Suite struct GatheringAgainTests {
    private func address(_ text: String, _ port: UInt16 = 4000) throws -> TransportAddress {
        try #require(TransportAddress(text, port: port))
    }

    /// Two agents behind a translator each, and a STUN server.
    private func network(patience: Duration = .seconds(600)) throws -> (VirtualNetwork, [ICEServerAddress]) {
        var timing = Timing()
        timing.restartPatience = patience
        var network = VirtualNetwork(timing: timing)
        network.addHost(0, "10.0.0.5")
        network.addHost(1, "10.9.0.5")
        let server = try address("198.51.100.1", 3478)
        network.stunServer = server
        network.translations = [
            .init(inside: try address("10.0.0.5"), outside: try address("203.0.113.1", 50_001)),
            .init(inside: try address("10.9.0.5"), outside: try address("203.0.113.2", 50_002)),
        ]
        return (network, [ICEServerAddress(kind: .stun, address: server)])
    }

    private func reflexive(_ network: VirtualNetwork) -> [TransportAddress] {
        network.agents[0].localCandidates.filter { $0.type == .serverReflexive }.map(\.address)
    }

    /// The first agent's router gets another address.
    private func changeOutside(_ network: inout VirtualNetwork) throws -> TransportAddress {
        let outside = try address("203.0.113.99", 50_099)
        network.translations[0] = .init(inside: try address("10.0.0.5"), outside: outside)
        return outside
    }

    @Test("A restart finds the new address of a router", arguments: [true, false])
    func outsideAddressChanges(isAsked: Bool) throws {
        var (network, servers) = try network()
        for index in 0...1 { network.agents[index].gather(servers: servers, now: network.now) }
        network.run(.milliseconds(500))
        network.introduce(0)
        network.introduce(1)
        network.run(.seconds(3))
        #expect(network.areNominated)
        let outside = try changeOutside(&network)
        network.run(.seconds(40))
        // The silence of the peer has the agent ask by itself; the restart asks in any case.
        if isAsked { #expect(reflexive(network) == [outside]) } else { network.blocked = [servers[0].address] }
        var random = SeededGenerator(seed: 99)
        let count = network.events[0].count
        for index in 0...1 { network.agents[index].restart(credentials: .random(using: &random), now: network.now) }
        #expect(network.agents[0].isGathering)
        network.blocked = []
        network.run(.seconds(3))
        #expect(reflexive(network) == [outside])
        #expect(network.events[0][count...].contains(.gatheringComplete))
        network.introduce(0)
        network.introduce(1)
        network.run(.seconds(10))
        #expect(network.areConnected)
    }

    @Test("A prepared restart sends one request")
    func preparedRestart() throws {
        var (network, servers) = try network()
        for index in 0...1 { network.agents[index].gather(servers: servers, now: network.now) }
        network.run(.milliseconds(500))
        network.introduce(0)
        network.introduce(1)
        network.run(.seconds(3))
        let outside = try changeOutside(&network)
        network.agents[0].gatherAgain(now: network.now)
        network.run(.milliseconds(100))
        #expect(reflexive(network) == [outside] && !network.agents[0].isGathering)
        var random = SeededGenerator(seed: 99)
        network.agents[0].restart(credentials: .random(using: &random), now: network.now)
        #expect(!network.agents[0].isGathering)
        network.agents[0].setRemote(credentials: network.agents[1].localCredentials, now: network.now)
        network.agents[0].restart(credentials: .random(using: &random), now: network.now)
        #expect(network.agents[0].isGathering)
    }

    @Test("While the answer is pending, a new address of the router is detected, and the former one removed")
    func keepalive() throws {
        var (network, servers) = try network()
        network.agents[0].gather(servers: servers, now: network.now)
        network.run(.milliseconds(500))
        #expect(reflexive(network) == [try address("203.0.113.1", 50_001)])
        let outside = try changeOutside(&network)
        network.run(.seconds(16))
        #expect(reflexive(network) == [outside])
        let told = network.events[0].compactMap { event in
            if case .candidateGathered(let new) = event { new.address } else { nil }
        }
        #expect(told.contains(outside))
    }

    @Test("The next gathering sends new requests to a STUN server that was silent at first")
    func silentAtFirst() throws {
        var (network, servers) = try network()
        let server = network.stunServer
        network.stunServer = nil
        network.agents[0].gather(servers: servers, now: network.now)
        network.run(.seconds(4))
        #expect(network.agents[0].serverReports().map(\.outcome) == [.failed(.noAnswer)])
        network.stunServer = server
        network.agents[0].gather(servers: servers, now: network.now)
        network.run(.seconds(1))
        #expect(reflexive(network) == [try address("203.0.113.1", 50_001)])
        #expect(network.agents[0].serverReports().map(\.outcome) == [.answered])
        // One that has answered is not asked a third time.
        let sent = network.sent[0]
        network.agents[0].gather(servers: servers, now: network.now)
        network.run(.seconds(1))
        #expect(network.sent[0] == sent)
    }

    @Test(
        "If there are too many servers and addresses, the preferred addresses use each server",
        arguments: [5, 16, 40])
    func manyAddresses(count: Int) throws {
        var network = VirtualNetwork()
        for index in 0..<count { network.addHost(0, "172.\(17 + index).0.1", interfaceOrder: index) }
        let servers = try (1...4).map {
            ICEServerAddress(kind: .stun, address: try address("198.51.100.\($0)", 3478))
        }
        network.agents[0].gather(servers: servers, now: network.now)
        let reports = network.agents[0].serverReports()
        #expect(reports.allSatisfy { $0.outcome == .waiting })
        for server in servers {
            let asking = reports.filter { $0.server == server }.compactMap(\.base)
            #expect(Set(asking) == Set(network.bases[0].prefix(16)))
        }
    }

    @Test("Unused servers are reported")
    func manyServers() throws {
        var network = VirtualNetwork()
        network.addHost(0, "192.0.2.1")
        let servers = try (1...70).map {
            ICEServerAddress(kind: .stun, address: try address("198.51.100.\($0)", 3478))
        }
        network.agents[0].gather(servers: servers, now: network.now)
        #expect(network.agents[0].serverReports().count { $0.outcome == .failed(.overLimit) } == 6)
    }
}
