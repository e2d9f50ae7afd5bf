import RTCShareICE
import RTCShareSTUN
import RTCShareWireFormat
import Testing

@Suite struct ConnectivityTests {
    private func address(_ text: String, _ port: UInt16 = 4000) throws -> TransportAddress {
        try #require(TransportAddress(text, port: port))
    }

    @Test("Two hosts that know each other connect and nominate within five round trips")
    func connects() throws {
        var network = VirtualNetwork()
        network.addHost(0, "192.0.2.1")
        network.addHost(1, "192.0.2.2")
        network.introduce(0)
        network.introduce(1)
        network.run(.seconds(1)) { $0.areNominated }
        #expect(network.areConnected && network.areNominated)
        #expect(network.now <= Instant(nanoseconds: 100_000_000))
        let pair = try #require(network.agents[1].selectedPair)
        #expect(pair.local.address == (try address("192.0.2.2")))
        #expect(pair.remote.address == (try address("192.0.2.1")))
        let report = try #require(network.agents[0].pairReports().first)
        #expect(report.statistics.currentRoundTripTime == .milliseconds(20))
        #expect(report.fate == .answered && report.nominated)
        #expect(report.statistics.responsesReceived >= 2)
    }

    @Test("The round-trip time of a long path, on which all checks are repeated, is known soon after the nomination")
    func longPath() throws {
        var network = VirtualNetwork()
        network.delay = .milliseconds(150)
        network.addHost(0, "192.0.2.1")
        network.addHost(1, "192.0.2.2")
        network.introduce(0)
        network.introduce(1)
        network.run(.seconds(3)) { $0.areNominated }
        #expect(network.areNominated)
        network.run(.milliseconds(350))
        for agent in network.agents { #expect(agent.selectedRoundTripTime == .milliseconds(300)) }
    }

    @Test("IPv6 on the first interface wins over IPv4 and over the second interface")
    func bestPair() throws {
        var network = VirtualNetwork()
        for (agent, last) in [(0, "1"), (1, "2")] {
            network.addHost(agent, "198.51.100.\(last)", interfaceOrder: 1)
            network.addHost(agent, "192.0.2.\(last)", interfaceOrder: 0)
            network.addHost(agent, "2001:db8::\(last)", interfaceOrder: 0)
            network.addHost(agent, "127.0.0.\(last)", interfaceOrder: 2)
        }
        network.introduce(0)
        network.introduce(1)
        network.run(.seconds(2))
        #expect(network.areNominated)
        for agent in network.agents {
            #expect(agent.selectedPair?.remote.address.ip.isV4 == false)
        }
        #expect(network.agents[0].selectedPair?.local.address == (try address("2001:db8::1")))
    }

    @Test("The controlling side falls back to the pair that works")
    func blockedPair() throws {
        var network = VirtualNetwork()
        for (agent, last) in [(0, "1"), (1, "2")] {
            network.addHost(agent, "192.0.2.\(last)")
            network.addHost(agent, "2001:db8::\(last)")
        }
        network.blocked = [try address("2001:db8::1"), try address("2001:db8::2")]
        network.introduce(0)
        network.introduce(1)
        network.run(.seconds(1))
        #expect(network.areNominated)
        #expect(network.agents[0].selectedPair?.remote.address == (try address("192.0.2.2")))
        #expect((network.connectedAt[0] ?? .distantFuture) < Instant(nanoseconds: 200_000_000))
    }

    @Test("Only one side needs to know candidates: the other learns them from checks", arguments: [0, 1])
    func oneSided(knowing: Int) throws {
        var network = VirtualNetwork()
        network.addHost(0, "192.0.2.1")
        network.addHost(1, "192.0.2.2")
        network.introduce(knowing)
        network.introduce(1 - knowing, withCandidates: false)
        network.run(.seconds(2))
        #expect(network.areNominated)
        #expect(network.agents[1 - knowing].selectedPair?.remote.type == .peerReflexive)
    }

    @Test("Requests before the peer's credentials are answered and processed later")
    func earlyChecks() {
        var network = VirtualNetwork()
        network.addHost(0, "192.0.2.1")
        network.addHost(1, "192.0.2.2")
        network.introduce(1)
        network.run(.milliseconds(300))
        #expect(network.agents[1].state == .connected)
        #expect(network.agents[0].state == .new)
        network.introduce(0, withCandidates: false)
        network.run(.milliseconds(200))
        #expect(network.areNominated)
        #expect(network.agents[0].remoteCandidates.count == 1)
    }

    @Test("Behind a NAT the peer sees a reflexive candidate, which the answer confirms", arguments: [0, 1])
    func translated(hidden: Int) throws {
        var network = VirtualNetwork()
        network.addHost(hidden, "10.0.0.5")
        network.addHost(1 - hidden, "192.0.2.2")
        let outside = try address("203.0.113.9", 61_000)
        network.translations = [.init(inside: try address("10.0.0.5"), outside: outside)]
        network.introduce(0)
        network.introduce(1)
        network.run(.seconds(2))
        #expect(network.areNominated)
        #expect(network.agents[1 - hidden].selectedPair?.remote.address == outside)
        let pair = try #require(network.agents[hidden].selectedPair)
        #expect(pair.local.address == outside && pair.local.type == .peerReflexive)
        #expect(pair.local.base == (try address("10.0.0.5")))
    }

    @Test("Two agents behind NATs connect by the STUN server's candidates")
    func serverReflexive() throws {
        var network = VirtualNetwork()
        network.addHost(0, "10.0.0.5")
        network.addHost(1, "10.9.0.5")
        let server = try address("198.51.100.1", 3478)
        network.stunServer = server
        network.translations = [
            .init(inside: try address("10.0.0.5"), outside: try address("203.0.113.1", 50_001)),
            .init(inside: try address("10.9.0.5"), outside: try address("203.0.113.2", 50_002)),
        ]
        for index in 0...1 {
            network.agents[index].gather(servers: [ICEServerAddress(kind: .stun, address: server)], now: network.now)
        }
        network.run(.milliseconds(500))
        for index in 0...1 {
            #expect(network.events[index].last == .gatheringComplete)
            let candidate = try #require(network.agents[index].localCandidates.last)
            #expect(candidate.type == .serverReflexive)
            #expect(candidate.relatedAddress == network.bases[index].first)
        }
        network.introduce(0)
        network.introduce(1)
        network.run(.seconds(3))
        #expect(network.areNominated)
        #expect(network.agents[0].selectedPair?.local.type == .serverReflexive)
    }

    @Test("A public address is a candidate of each suitable base, without a server")
    func publicAddress() throws {
        var network = VirtualNetwork()
        for host in ["10.0.0.5", "127.0.0.1", "fd00::5"] { network.addHost(0, host) }
        let outside = try #require(IPAddress("203.0.113.7"))
        for _ in 0...1 { network.agents[0].addPublicAddress(outside, now: network.now) }
        let reflexive = network.agents[0].localCandidates.filter { $0.type == .serverReflexive }
        let base = try #require(network.bases[0].first)
        #expect(reflexive.map(\.address) == [TransportAddress(ip: outside, port: base.port)])
        #expect(reflexive.first?.relatedAddress == base)
        // An address of the machine's own is no other one.
        network.agents[0].addPublicAddress(base.ip, now: network.now)
        #expect(network.agents[0].localCandidates.filter { $0.type == .serverReflexive }.count == 1)
    }

    @Test("A candidate equal to its base is redundant, and gathering ends at the limit with a silent server")
    func gathering() throws {
        var network = VirtualNetwork()
        network.addHost(0, "192.0.2.1")
        let server = try address("198.51.100.1", 3478)
        network.stunServer = server
        network.agents[0].gather(
            servers: [server, try address("198.51.100.2", 3478)].map { ICEServerAddress(kind: .stun, address: $0) },
            now: network.now)
        network.run(.milliseconds(2900))
        #expect(network.agents[0].localCandidates.count == 1)
        #expect(!network.events[0].contains(.gatheringComplete))
        network.run(.milliseconds(200))
        #expect(network.events[0].last == .gatheringComplete)
        // The binding that a server made is kept alive while the answer is awaited.
        let before = network.sent[0]
        network.run(.seconds(60))
        #expect((3...5).contains(network.sent[0] - before))
    }

    @Test("Without servers, gathering is complete immediately")
    func noServer() {
        var network = VirtualNetwork()
        network.addHost(0, "192.0.2.1")
        network.agents[0].gather(servers: [], now: network.now)
        network.run(.zero)
        #expect(network.events[0].last == .gatheringComplete)
        #expect(network.agents[0].nextDeadline == nil)
    }

    @Test("Equal roles are resolved by the tie-breakers", arguments: [Role.controlling, .controlled], 1...8)
    func roleConflict(role: Role, seed: Int) {
        var network = VirtualNetwork(roles: [role, role], seed: UInt64(seed))
        network.addHost(0, "192.0.2.1")
        network.addHost(1, "192.0.2.2")
        network.introduce(0)
        network.introduce(1)
        network.run(.seconds(3))
        #expect(network.areNominated)
        #expect(Set(network.agents.map(\.role)) == [.controlling, .controlled])
    }

    @Test("A loss of a fifth in each direction does not prevent the connection", arguments: 1...20)
    func loss(seed: Int) {
        var network = VirtualNetwork(seed: UInt64(seed))
        network.loss = 0.2
        for (agent, last) in [(0, "1"), (1, "2")] {
            network.addHost(agent, "192.0.2.\(last)")
            network.addHost(agent, "2001:db8::\(last)")
        }
        network.introduce(0)
        network.introduce(1)
        network.run(.seconds(10)) { $0.areNominated }
        #expect(network.areNominated)
        // Consent, too, lives with that loss.
        network.run(.seconds(120))
        #expect(network.agents.allSatisfy { $0.state != .failed })
    }

    @Test("A wrong password is rejected and reported")
    func wrongPassword() throws {
        var network = VirtualNetwork()
        network.addHost(0, "192.0.2.1")
        network.addHost(1, "192.0.2.2")
        let right = network.agents[1].localCredentials
        let wrong = try Credentials(
            usernameFragment: right.usernameFragment, password: String(repeating: "x", count: 24))
        network.agents[0].setRemote(credentials: wrong, now: network.now)
        for candidate in network.agents[1].localCandidates { network.announce(candidate, to: 0) }
        network.agents[0].endOfRemoteCandidates(now: network.now)
        network.run(.seconds(40))
        #expect(network.agents[0].state == .failed)
        #expect(network.agents[0].selectedPair == nil)
        #expect(network.agents[1].statistics.unauthenticatedRequests == 10)
        let report = try #require(network.agents[0].pairReports().first)
        #expect(report.fate == .refused(code: 401, reason: "Unauthenticated"))
    }

    @Test("A peer that never answers fails the pair after ten checks in 14 seconds, then the agent")
    func silence() throws {
        var network = VirtualNetwork()
        network.addHost(0, "192.0.2.1")
        network.addHost(1, "192.0.2.2")
        network.isSevered = true
        network.introduce(0)
        network.run(.seconds(14.9))
        #expect(network.agents[0].state == .checking)
        network.run(.seconds(1))
        #expect(network.agents[0].state == .failed)
        #expect(network.agents[0].pairReports().map(\.fate) == [.noAnswer(checks: 10)])
        #expect(
            network.agents[0].pairReports().first?.description
                == "host 192.0.2.1:4000 → host 192.0.2.2:4000: no answer to 10 checks")
        #expect(network.agents[0].nextDeadline == nil)
    }

    @Test("Without usable candidates the agent waits until the limit, since the peer can send checks")
    func nothingUsable() throws {
        var network = VirtualNetwork()
        network.addHost(0, "192.0.2.1")
        network.addHost(1, "192.0.2.2")
        network.introduce(0, withCandidates: false)
        network.agents[0].noteUnresolvedRemoteName()
        network.agents[0].endOfRemoteCandidates(now: network.now)
        network.run(.seconds(25))
        #expect(network.agents[0].state == .checking)
        network.introduce(1)
        network.run(.seconds(1))
        #expect(network.areNominated)
    }

    @Test("Without any message from the peer the agent fails at the limit")
    func limit() {
        var network = VirtualNetwork()
        network.addHost(0, "192.0.2.1")
        network.addHost(1, "192.0.2.2")
        network.introduce(0, withCandidates: false)
        network.run(.seconds(29))
        #expect(network.agents[0].state == .checking)
        network.run(.seconds(2))
        #expect(network.agents[0].state == .failed)
    }

    @Test("The same seed sends the same datagrams")
    func determinism() {
        func run() -> [Int] {
            var network = VirtualNetwork(seed: 7)
            network.loss = 0.3
            network.addHost(0, "192.0.2.1")
            network.addHost(1, "192.0.2.2")
            network.introduce(0)
            network.introduce(1)
            network.run(.seconds(60))
            return network.sent
        }
        #expect(run() == run())
    }
}
