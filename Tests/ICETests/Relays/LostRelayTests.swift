import RTCShareICE
import RTCShareSTUN
import RTCShareWireFormat
import Testing

/// Relays that come back, and relays that something better comes after.
@Suite struct LostRelayTests {
    private func address(_ text: String, _ port: UInt16 = 4000) throws -> TransportAddress {
        try #require(TransportAddress(text, port: port))
    }

    /// Two agents that are connected through a relay, which the first has asked for.
    private func network(
        _ transport: TransportProtocol, lifetime: Duration = .seconds(3600)
    ) throws -> VirtualNetwork {
        var timing = Timing()
        timing.restartPatience = .seconds(600)
        var network = VirtualNetwork(timing: timing)
        network.addHost(0, "192.0.2.1")
        network.addHost(1, "192.0.2.2")
        network.turnServers = [TURNServerModel(try address("198.51.100.1", 3478), transport: transport)]
        network.turnServers[0].longestLifetime = lifetime
        network.blocksDirectPaths = true
        network.agents[0].gather(servers: [try #require(network.turnServers[0].server)], now: network.now)
        network.run(.seconds(1))
        network.introduce(0)
        network.introduce(1)
        network.run(.seconds(5)) { $0.areNominated }
        #expect(network.areNominated && hasRelay(network))
        return network
    }

    private func hasRelay(_ network: VirtualNetwork) -> Bool {
        network.agents[0].localCandidates.contains { $0.type == .relayed }
    }

    /// Cuts the connection to the server, which listens again after a while.
    private func cut(_ network: inout VirtualNetwork, for outage: Duration) {
        let server = network.turnServers[0].address
        network.turnServers[0].allocations = [:]
        network.turnServers[0].users = []
        network.blocked = [server]
        network.agents[0].transmitFailed(
            base: network.bases[0][0], destination: server, over: network.turnServers[0].transport, now: network.now)
        network.run(outage)
        network.blocked = []
    }

    @Test(
        "A relay over a stream recovers by itself, however long its server is down",
        arguments: [Duration.milliseconds(500), .milliseconds(1500), .seconds(5), .seconds(20)])
    func streamComesBack(outage: Duration) throws {
        var network = try network(.tcp)
        cut(&network, for: outage)
        #expect(!hasRelay(network))
        network.run(.seconds(20))
        #expect(hasRelay(network))
    }

    @Test("A restart requests a relay again that was given up", arguments: [TransportProtocol.tcp, .tls])
    func restartAsksAgain(transport: TransportProtocol) throws {
        var network = try network(transport)
        cut(&network, for: .seconds(70))
        network.run(.seconds(60))
        #expect(!hasRelay(network))
        var random = SeededGenerator(seed: 99)
        network.agents[0].restart(credentials: .random(using: &random), now: network.now)
        network.run(.seconds(1))
        #expect(hasRelay(network))
    }

    @Test("A relay over UDP comes back after an interruption", arguments: [Duration.seconds(20), .seconds(60)])
    func datagramsComeBack(outage: Duration) throws {
        var network = try network(.udp)
        network.turnServers[0].isSilent = true
        network.run(outage)
        network.turnServers[0].isSilent = false
        network.run(.seconds(40))
        #expect(hasRelay(network))
        #expect(network.turnServers[0].allocations.count == 1)
    }

    @Test("Losses that are far apart have all retries each")
    func lossesFarApart() throws {
        var network = try network(.tcp)
        for _ in 0..<8 {
            cut(&network, for: .milliseconds(500))
            network.run(.seconds(70))
            #expect(hasRelay(network))
        }
    }

    @Test(
        "A relay whose server sees another mapped address is requested again immediately",
        arguments: ICETransportPolicy.allCases)
    func mappingChanges(policy: ICETransportPolicy) throws {
        var network = VirtualNetwork(policy: [policy, .all])
        network.addHost(0, "10.0.0.5")
        let server = TURNServerModel(try address("198.51.100.1", 3478))
        network.turnServers = [server]
        network.translations = [.init(inside: try address("10.0.0.5"), outside: try address("203.0.113.1", 50_001))]
        network.agents[0].gather(servers: [try #require(server.server)], now: network.now)
        network.run(.seconds(1))
        let types: [CandidateType] = policy == .all ? [.host, .serverReflexive, .relayed] : [.relayed]
        #expect(network.agents[0].localCandidates.map(\.type) == types)
        let relayed = network.agents[0].localCandidates.last?.address
        let outside = try address("203.0.113.99", 50_099)
        network.translations = [.init(inside: try address("10.0.0.5"), outside: outside)]
        network.run(.seconds(20))
        let candidates = network.agents[0].localCandidates
        #expect(candidates.last { $0.type == .relayed }.map { $0.address != relayed } == true)
        guard policy == .all else { return }
        #expect(candidates.filter { $0.type == .serverReflexive }.map(\.address) == [outside])
        #expect(candidates.last { $0.type == .relayed }?.relatedAddress == outside)
    }

    @Test("If relays have their own ports, the base requests its own mapped address from a TURN server")
    func ownPorts() throws {
        var generator = SeededGenerator(seed: 5)
        var configuration = Configuration(role: .controlling, credentials: .random(using: &generator))
        configuration.relaysHaveOwnPorts = true
        var network = VirtualNetwork()
        network.agents[0] = Agent(configuration: configuration, generator: generator)
        network.addHost(0, "10.0.0.5")
        let server = TURNServerModel(try address("198.51.100.1", 3478))
        let asked = [
            try #require(server.server),
            ICEServerAddress(kind: .stun, address: server.address, transport: .udp, url: "stun:198.51.100.1"),
        ]
        for servers in [asked.prefix(1), asked.prefix(2)] {
            network.agents[0].gather(servers: Array(servers), now: network.now)
            var sent: [Transmit] = []
            network.agents[0].handleTimeout(now: network.now.advanced(by: .milliseconds(20)))
            while let transmit = network.agents[0].pollTransmit() { sent.append(transmit) }
            guard servers.count == 1 else {
                #expect(sent.isEmpty)
                break
            }
            // A request for an address to relay from, and one that asks what is seen.
            #expect(sent.map(\.isForRelay) == [true, false])
            #expect(network.agents[0].serverReports().map(\.server) == [asked[0]])
        }
        #expect(network.agents[0].serverReports().map(\.server) == [asked[1], asked[0]])
    }

    @Test("Alternative credentials are tried if the server rejects the first ones", arguments: [true, false])
    func otherCredentials(isFirstWrong: Bool) throws {
        var network = VirtualNetwork()
        network.addHost(0, "192.0.2.1")
        let server = TURNServerModel(try address("198.51.100.1", 3478))
        network.turnServers = [server]
        let right = try #require(server.server)
        let wrong = ICEServerAddress(
            kind: .turn(try #require(LongTermCredentials(username: "a%6En", password: "wrong"))),
            address: server.address)
        for one in isFirstWrong ? [wrong, right] : [right, wrong] {
            network.agents[0].gather(servers: [one], now: network.now)
        }
        network.run(.seconds(1))
        #expect(network.agents[0].serverReports().map(\.outcome) == [.answered])
        #expect(network.turnServers[0].allocations.count == 1)
        #expect(!network.events[0].contains { if case .serverFailed = $0 { true } else { false } })
    }

    @Test("The newest credentials replace those that a server accepts no longer", arguments: [false, true])
    func renewedCredentials(areKnownBefore: Bool) throws {
        var network = try network(.udp, lifetime: .seconds(30))
        // More than are kept.
        for number in 0..<6 {
            network.turnServers[0].user = "ann \(number)"
            guard areKnownBefore else { continue }
            network.agents[0].gather(servers: [try #require(network.turnServers[0].server)], now: network.now)
        }
        // The server rejects the next request, and keeps the allocation of the former user until its end.
        network.run(.seconds(20))
        #expect(!hasRelay(network))
        if !areKnownBefore {
            network.agents[0].gather(servers: [try #require(network.turnServers[0].server)], now: network.now)
        }
        network.run(.seconds(40))
        #expect(hasRelay(network))
        #expect(network.turnServers[0].allocations.values.map(\.user) == ["ann 5"])
    }

    @Test("A lost relay is requested again with renewed credentials only", arguments: [false, true])
    func renewedBeforeRequest(areKnownBefore: Bool) throws {
        var network = try network(.tcp)
        network.turnServers[0].user = "bea"
        let renewed = try #require(network.turnServers[0].server)
        if areKnownBefore { network.agents[0].gather(servers: [renewed], now: network.now) }
        cut(&network, for: .milliseconds(500))
        if !areKnownBefore { network.agents[0].gather(servers: [renewed], now: network.now) }
        network.run(.seconds(10))
        #expect(hasRelay(network))
        // A server binds the connection to its first user name.
        #expect(!network.turnServers[0].users.contains(TURNServerModel.username))
    }

    /// An agent, alone with a server over TCP that accepts one user.
    private func network(user: String) throws -> VirtualNetwork {
        var network = VirtualNetwork()
        network.addHost(0, "192.0.2.1")
        network.turnServers = [TURNServerModel(try address("198.51.100.1", 3478), transport: .tcp)]
        network.turnServers[0].user = user
        return network
    }

    private func servers(_ users: [String], of server: TURNServerModel) throws -> [ICEServerAddress] {
        try users.map { user in
            var server = server
            server.user = user
            return try #require(server.server)
        }
    }

    @Test("The first unseen credentials of a call are the renewed ones, and earlier ones do not replace them")
    func firstUnseen() throws {
        var network = try network(user: "ann")
        for users in [["ann"], ["bea", "ann"], ["cid", "bob", "bea", "ann"], ["cid", "bea", "ann"]] {
            let servers = try servers(users, of: network.turnServers[0])
            network.agents[0].gather(servers: servers, now: network.now)
            network.run(.seconds(1))
        }
        network.turnServers[0].user = "cid"
        cut(&network, for: .milliseconds(500))
        network.run(.seconds(10))
        #expect(hasRelay(network))
        #expect(network.turnServers[0].users == ["cid"])
    }

    @Test(
        "Of two readings of credentials, the wrong one does not replace the one that works",
        arguments: [["a%6En", "ann"], ["ann", "a%6En"]])
    func twoReadings(users: [String]) throws {
        var network = try network(user: "ann")
        let servers = try servers(users, of: network.turnServers[0])
        for _ in 0..<2 {
            network.agents[0].gather(servers: servers, now: network.now)
            network.run(.seconds(1))
            #expect(hasRelay(network))
        }
        cut(&network, for: .milliseconds(500))
        network.run(.seconds(10))
        #expect(hasRelay(network))
        #expect(network.turnServers[0].users == ["ann"])
    }

    @Test("A server that failed before it granted an address is asked with the newest credentials only")
    func renewedAfterFailure() throws {
        var network = try network(user: "ann")
        network.turnServers[0].refusal = ErrorCode(code: 508, reason: "Full")
        for users in [["ann"], ["bea", "ann"]] {
            let servers = try servers(users, of: network.turnServers[0])
            network.turnServers[0].users = []
            network.turnServers[0].user = users[0]
            network.agents[0].gather(servers: servers, now: network.now)
            network.run(.seconds(1))
            #expect(!hasRelay(network))
            #expect(network.turnServers[0].users == [users[0]])
        }
    }

    @Test("A relay is not nominated while more candidates of the peer can arrive")
    func betterCandidateComesLater() throws {
        var network = VirtualNetwork()
        network.addHost(0, "192.0.2.1")
        network.addHost(1, "192.0.2.2")
        network.turnServers = [TURNServerModel(try address("198.51.100.1", 3478))]
        network.agents[1].gather(servers: [try #require(network.turnServers[0].server)], now: network.now)
        network.run(.seconds(1))
        // The translator on our side lets nothing in that we did not send to first.
        network.blocked = [network.bases[0][0]]
        let candidates = network.agents[1].localCandidates
        network.introduce(0, withCandidates: false)
        network.introduce(1)
        for candidate in candidates where candidate.type == .relayed { network.announce(candidate, to: 0) }
        network.run(.milliseconds(300))
        #expect(network.agents[0].selectedPair?.remote.type == .relayed)
        network.blocked = []
        for candidate in candidates where candidate.type == .host { network.announce(candidate, to: 0) }
        network.agents[0].endOfRemoteCandidates(now: network.now)
        network.run(.seconds(5))
        #expect(network.agents[0].selectedPair?.remote.type == .host && network.areNominated)
    }
}
