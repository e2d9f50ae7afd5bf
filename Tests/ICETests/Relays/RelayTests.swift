import RTCShareICE
import RTCShareSTUN
import RTCShareWireFormat
import Testing

/// Relayed candidates in whole connections, with a server of TURN between the agents.
@Suite struct RelayTests {
    private func address(_ text: String, _ port: UInt16 = 4000) throws -> TransportAddress {
        try #require(TransportAddress(text, port: port))
    }

    /// Two agents that reach each other through a server alone, which the first has asked.
    private func network(
        transport: TransportProtocol = .udp, policy: [ICETransportPolicy] = [.all, .all], seed: UInt64 = 1,
        others: [TURNServerModel] = [], change: (inout TURNServerModel) -> Void = { _ in }
    ) throws -> VirtualNetwork {
        var network = VirtualNetwork(seed: seed, policy: policy)
        network.addHost(0, "192.0.2.1")
        network.addHost(1, "192.0.2.2")
        var server = TURNServerModel(try address("198.51.100.1", 3478), transport: transport)
        change(&server)
        network.turnServers = [server] + others
        network.blocksDirectPaths = true
        let asked = try #require(server.server)
        network.agents[0].gather(servers: [asked], now: network.now)
        network.run(.seconds(1))
        return network
    }

    private func connect(_ network: inout VirtualNetwork) {
        network.introduce(0)
        network.introduce(1)
        network.run(.seconds(5)) { $0.areNominated }
    }

    @Test(
        "If no datagram passes, the relay carries checks, consent and media, over each transport",
        arguments: TransportProtocol.allCases)
    func connects(transport: TransportProtocol) throws {
        var network = try network(transport: transport)
        #expect(network.events[0].last == .gatheringComplete)
        let relayed = try #require(network.agents[0].localCandidates.last { $0.type == .relayed })
        #expect(relayed.relayProtocol == transport && relayed.base == relayed.address)
        #expect(relayed.relatedAddress == network.bases[0].first)
        #expect(relayed.priority >> 24 == [.udp: 2, .tcp: 1, .tls: 0][transport])
        connect(&network)
        #expect(network.areConnected && network.areNominated)
        #expect(network.agents[0].selectedPair?.local == relayed)
        #expect(network.agents[1].selectedPair?.remote.address == relayed.address)
        network.run(.seconds(1))
        // With the channel bound, four bytes stand before a packet, and padding behind it on a stream.
        let packet: [UInt8] = [0x80, 1, 2, 3, 4]
        let sent = network.sendMedia(packet, from: 0)
        let path = try #require(sent)
        #expect(path.envelope.prefixByteCount == 4 && path.transport == transport)
        #expect(path.destination == network.turnServers[0].address && path.base == network.bases[0].first)
        network.sendMedia(packet, from: 1)
        network.run(.milliseconds(100))
        #expect(network.received == [[packet], [packet]])
        #expect(network.turnServers[0].relayedOnChannels > 0)
        // Ten minutes and more: allocation, permission, channel and consent are all renewed.
        network.run(.seconds(1500))
        #expect(network.areConnected)
        network.sendMedia(packet, from: 1)
        network.run(.milliseconds(100))
        #expect(network.received[0].count == 2)
        #expect(network.turnServers[0].dropped == 0)
    }

    @Test("Two agents behind relays connect from relay to relay")
    func twoRelays() throws {
        var network = VirtualNetwork(policy: [.relay, .relay])
        network.addHost(0, "192.0.2.1")
        network.addHost(1, "192.0.2.2")
        network.blocksDirectPaths = true
        network.turnServers = [
            TURNServerModel(try address("198.51.100.1", 3478)), TURNServerModel(try address("198.51.100.2", 3478)),
        ]
        for index in 0...1 {
            let server = try #require(network.turnServers[index].server)
            network.agents[index].gather(servers: [server], now: network.now)
        }
        network.run(.seconds(1))
        connect(&network)
        #expect(network.areNominated)
        #expect(network.agents.allSatisfy { $0.selectedPair?.local.type == .relayed })
    }

    @Test("A relay is not used to reach its own machine or its own link")
    func relayScope() throws {
        var network = try network(policy: [.relay, .all])
        network.agents[0].setRemote(credentials: network.agents[1].localCredentials, now: network.now)
        for peer in ["127.0.0.1", "169.254.169.254", "10.0.0.1"] {
            network.agents[0].addRemoteCandidate(
                foundation: "1", component: 1, transport: "udp", priority: 1, address: try address(peer), type: "host",
                now: network.now)
        }
        let pairs = network.agents[0].pairReports()
        #expect(pairs.map(\.local.type) == [.relayed])
        #expect(pairs.map(\.remote.address) == [try address("10.0.0.1")])
    }

    @Test("The relay-only policy reveals no other address, sends no other requests, and answers nobody else")
    func relayPolicy() throws {
        var network = try network(policy: [.relay, .all])
        network.blocksDirectPaths = false
        let candidate = try #require(network.agents[0].localCandidates.first)
        #expect(network.agents[0].localCandidates.count == 1 && candidate.type == .relayed)
        #expect(candidate.relatedAddress == TransportAddress("0.0.0.0", port: 0))
        connect(&network)
        #expect(network.areNominated)
        #expect(network.agents[0].pairReports().allSatisfy { $0.local.type == .relayed })
        // The peer can guess the socket's address, and knows the password: it learns nothing.
        let ignored = network.agents[0].statistics.ignoredMessages
        let base = try #require(network.bases[0].first)
        var generator = SeededGenerator(seed: 5)
        let names = network.agents.map(\.localCredentials)
        let request = try STUNMessage(
            .request, transactionID: TransactionID(using: &generator),
            attributes: [.username("\(names[0].usernameFragment):\(names[1].usernameFragment)"), .priority(1)]
        ).encoded(integrityKey: Array(names[0].password.utf8))
        network.deliver(request, from: try address("192.0.2.2"), to: base, agent: 0)
        network.deliver([0x80, 1, 2], from: try address("192.0.2.2"), to: base, agent: 0)
        #expect(network.agents[0].pollTransmit() == nil)
        #expect(network.received[0].isEmpty)
        #expect(network.agents[0].statistics.ignoredMessages == ignored + 2)
    }

    @Test("A direct route is preferred to the relay, even if it needs the second transmission")
    func directIsPreferred() throws {
        var network = try network()
        network.blocksDirectPaths = false
        network.introduce(0)
        network.introduce(1)
        network.blocksDirectPaths = true
        network.run(.milliseconds(150))
        #expect(network.agents[0].selectedPair?.local.type == .relayed)
        network.blocksDirectPaths = false
        network.run(.seconds(3)) { $0.areNominated }
        #expect(network.agents[0].selectedPair?.local.type == .host)
    }

    @Test("Closing releases the relayed address")
    func release() throws {
        var network = try network()
        connect(&network)
        network.agents[0].close(now: network.now)
        network.run(.milliseconds(100))
        #expect(network.turnServers[0].allocations.isEmpty)
        #expect(network.turnServers[0].log.last?.lifetime == .zero)
    }

    @Test("A server's rejection is reported with the server and its error, and gathering completes")
    func refusals() throws {
        let full = try network { $0.refusal = ErrorCode(code: 508, reason: "") }
        let failures = full.events[0].compactMap { event in
            if case .serverFailed(let failure) = event { failure } else { nil }
        }
        #expect(failures.map(\.error) == [.relay(.serverFull)])
        #expect(full.events[0].last == .gatheringComplete)
        #expect(full.agents[0].serverReports().map(\.outcome) == [.failed(.relay(.serverFull))])
        var closed = try network(transport: .tcp) { $0.isSilent = true }
        closed.run(.seconds(10))
        #expect(closed.events[0].contains(.gatheringComplete))
    }

    @Test(
        "A stream to the server that can't be opened fails it immediately; one that ends moves media and is reopened"
    )
    func streamEnds() throws {
        var network = try network(transport: .tls)
        connect(&network)
        let server = network.turnServers[0].address
        let base = try #require(network.bases[0].first)
        #expect(network.agents[0].framing(of: server, from: base, over: .tls) == .turn)
        network.blocksDirectPaths = false
        network.agents[0].transmitFailed(base: base, destination: server, over: .tls, now: network.now)
        #expect(network.agents[0].state == .disconnected)
        #expect(network.agents[0].pairReports().contains { $0.fate == .relayLost(.connectionLost(.tls)) })
        network.run(.seconds(5))
        #expect(network.areConnected)
        #expect(network.agents[0].selectedPair?.local.type == .host)
        // The server is asked again by itself, for the case that the direct path fails too.
        #expect(network.agents[0].localCandidates.contains { $0.type == .relayed })
    }

    @Test("A pair whose peer the relay forbids fails with the relay's reason")
    func forbiddenPeer() throws {
        var network = try network { $0.forbidden = [.v4(0xC000_0202)] }
        network.introduce(0)
        network.introduce(1)
        network.run(.seconds(2))
        let fates = network.agents[0].pairReports().filter { $0.local.type == .relayed }.map(\.fate)
        #expect(fates == [.refusedByRelay(code: 403, reason: "Words")])
    }

    @Test("After a redirect the relayed address is the other server's", arguments: TransportProtocol.allCases)
    func redirection(transport: TransportProtocol) throws {
        let other = try address("198.51.100.9", 3479)
        let network = try network(transport: transport, others: [TURNServerModel(other, transport: transport)]) {
            $0.alternate = other
        }
        #expect(network.agents[0].localCandidates.contains { $0.address.ip == other.ip })
        #expect(network.agents[0].serverReports().first?.alternateServer == other)
        #expect(network.agents[0].server(at: other, over: transport)?.server == network.turnServers[0].server)
    }

    @Test("An IPv6 base requests IPv4 if no base does, otherwise IPv6, and accepts what is available")
    func families() throws {
        let v6 = try address("2001:db8:f::1", 3478)
        let v4 = try address("198.51.100.1", 3478)
        let (ip4, ip6) = (v4.ip, v6.ip)
        for (relays, hasV4, expected) in [
            ([ip4, ip6], false, [ip4]), ([ip4, ip6], true, [ip4, ip6]), ([ip6], false, [ip6]),
        ] {
            var network = VirtualNetwork()
            network.addHost(0, "2001:db8::1")
            if hasV4 { network.addHost(0, "192.0.2.1") }
            network.turnServers = [TURNServerModel(v6, relays: relays), TURNServerModel(v4, relays: [ip4])]
            let servers = network.turnServers.compactMap(\.server)
            network.agents[0].gather(servers: servers, now: network.now)
            network.run(.seconds(2))
            let relayed = network.agents[0].localCandidates.filter { $0.type == .relayed }.map(\.address.ip)
            #expect(Set(relayed) == Set(expected))
        }
    }

    @Test("A relayed address that is one of our own is rejected")
    func stolenAddress() throws {
        let network = try network { $0.relays = [.v4(0xC000_0201)] }
        #expect(network.agents[0].localCandidates.contains { $0.type == .relayed })
        var other = VirtualNetwork()
        other.addHost(0, "192.0.2.1", port: 50_000)
        other.turnServers = [TURNServerModel(try address("198.51.100.1", 3478), relays: [.v4(0xC000_0201)])]
        let server = try #require(other.turnServers[0].server)
        other.agents[0].gather(servers: [server], now: other.now)
        other.run(.seconds(2))
        #expect(!other.agents[0].localCandidates.contains { $0.type == .relayed })
        #expect(other.turnServers[0].allocations.isEmpty)
    }

    @Test("The next request uses a new nonce, and nothing is lost")
    func staleNonce() throws {
        var network = try network()
        connect(&network)
        for number in 0..<20 {
            network.turnServers[0].nonce = Array("nonce \(number + 2)".utf8)
            network.run(.seconds(100))
        }
        #expect(network.areConnected && network.turnServers[0].dropped == 0)
    }

    // MARK: Relays that are lost

    @Test("A restarted server receives new requests, and the connection continues")
    func serverRestarts() throws {
        var network = try network()
        connect(&network)
        network.run(.seconds(3))
        let before = try #require(network.agents[0].selectedPair?.local.address)
        let index = network.events[0].count
        network.turnServers[0].allocations = [:]
        network.run(.seconds(25))
        let after = try #require(network.agents[0].selectedPair)
        #expect(after.local.type == .relayed && after.local.address != before && network.areConnected)
        let told = network.events[0][index...]
        #expect(
            told.contains {
                if case .candidateGathered(let new) = $0 { new.address == after.local.address } else { false }
            })
        #expect(
            told.contains(.restartNeeded)
                && told.last { if case .stateChanged = $0 { true } else { false } } == .stateChanged(.connected))
        let packet: [UInt8] = [0x80, 1, 2, 3, 4]
        network.sendMedia(packet, from: 0)
        network.run(.milliseconds(100))
        #expect(network.received[1].last == packet)
        network.run(.seconds(700))
        #expect(network.areConnected)
    }

    @Test("A port with a former allocation is reclaimed automatically")
    func portInUse() throws {
        let network = try network { server in
            guard let client = TransportAddress("192.0.2.1", port: 4000),
                let relayed = TransportAddress("198.51.100.1", port: 49_999)
            else { return }
            server.allocations[.init(address: client, transport: .udp)] = .init(
                user: server.user, relayed: relayed, expiry: .distantFuture)
        }
        #expect(network.agents[0].localCandidates.contains { $0.type == .relayed })
        #expect(network.turnServers[0].log.map(\.method).filter { $0 == .refresh }.count == 1)
    }

    @Test("Of two URLs of one server, one is used: a port has one allocation there")
    func sharedPort() throws {
        var network = try network()
        let credentials = try #require(network.turnServers[0].credentials)
        let other = ICEServerAddress(
            kind: .turn(credentials), address: network.turnServers[0].address, transport: .udp, url: "turn:other")
        network.agents[0].gather(servers: [other], now: network.now)
        network.run(.seconds(2))
        #expect(network.agents[0].localCandidates.filter { $0.type == .relayed }.count == 1)
        #expect(network.agents[0].serverReports().count == 1)
        #expect(!network.turnServers[0].log.contains { $0.lifetime == .zero })
    }
}
