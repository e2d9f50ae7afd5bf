import RTCShareICE
import RTCShareSTUN
import RTCShareWireFormat
import Testing

@Suite struct ConsentTests {
    private func connected(seed: UInt64 = 1, timing: Timing = Timing()) -> VirtualNetwork {
        var network = VirtualNetwork(seed: seed, timing: timing)
        network.addHost(0, "192.0.2.1")
        network.addHost(1, "192.0.2.2")
        network.introduce(0)
        network.introduce(1)
        network.run(.seconds(2))
        return network
    }

    @Test("A consent check is sent every five seconds, more or less a fifth", arguments: 1...5)
    func interval(seed: Int) throws {
        var network = connected(seed: UInt64(seed))
        network.run(.seconds(100))
        for agent in network.agents {
            let report = try #require(agent.pairReports().first)
            #expect((17...25).contains(report.statistics.consentRequestsSent))
            #expect(agent.state == .connected)
        }
    }

    @Test("Silence disconnects in five to eight seconds, and consent expires after thirty", arguments: 1...5)
    func expiry(seed: Int) {
        var network = connected(seed: UInt64(seed))
        network.run(.seconds(60))
        network.isSevered = true
        let severed = network.now
        network.run(.seconds(10)) { $0.agents[0].state == .disconnected }
        let silence = network.now - severed
        // The last answer may be up to six seconds older than the cut.
        #expect(silence < .seconds(8))
        #expect(network.agents[0].selectedPair != nil)
        network.run(.seconds(31))
        #expect(network.agents.allSatisfy { $0.state == .failed })
        #expect(network.agents[0].selectedPair == nil)
        #expect(network.agents[0].pairReports().first?.fate == .fellSilent)
        let sent = network.sent
        network.run(.seconds(60))
        #expect(network.sent == sent)
    }

    @Test("An early consent check detects an unreachable peer", arguments: 1...5)
    func askedOutOfTurn(seed: Int) throws {
        var network = connected(seed: UInt64(seed))
        network.run(.seconds(60))
        let before = try #require(network.agents[0].pairReports().first).statistics.consentRequestsSent
        // However often its owner wants to know: once a second, and no more of a peer that answers.
        for _ in 0..<100 {
            network.agents[0].checkConsent(now: network.now)
            network.run(.milliseconds(100))
        }
        let after = try #require(network.agents[0].pairReports().first).statistics.consentRequestsSent
        #expect((8...12).contains(after - before))
        #expect(network.areConnected)
        network.isSevered = true
        network.run(.seconds(1))
        for _ in 0..<20 {
            network.agents[0].checkConsent(now: network.now)
            network.run(.milliseconds(100))
        }
        #expect(network.agents[0].state == .disconnected)
    }

    @Test("A check that is wanted right after an answer is sent a second after that answer")
    func askedTooSoon() throws {
        var network = connected()
        network.run(.seconds(60)) { $0.agents[0].pairReports().first?.statistics.consentRequestsSent == 3 }
        network.run(.milliseconds(100))
        network.agents[0].checkConsent(now: network.now)
        network.run(.milliseconds(800))
        let early = try #require(network.agents[0].pairReports().first).statistics.consentRequestsSent
        network.run(.milliseconds(300))
        let late = try #require(network.agents[0].pairReports().first).statistics.consentRequestsSent
        #expect(early == 3 && late == 4)
    }

    @Test("A time in which the machine was suspended counts for consent", arguments: [10, 3600])
    func suspension(seconds: Int) throws {
        var timing = Timing()
        timing.restartPatience = .seconds(30)
        var network = connected(timing: timing)
        network.run(.seconds(58))
        let before = try #require(network.agents[0].pairReports().first).statistics.consentRequestsSent
        network.isSevered = true
        network.agents[0].wasSuspended(for: .seconds(seconds), now: network.now)
        network.run(.milliseconds(50))
        if seconds < 30 {
            let after = try #require(network.agents[0].pairReports().first).statistics.consentRequestsSent
            #expect(after == before + 1 && network.areConnected)
        } else {
            #expect(network.agents[0].needsRestart && network.agents[0].selectedPair == nil)
            #expect(network.events[0].last == .restartNeeded)
        }
        network.run(.seconds(2))
        #expect(network.agents[0].state == .disconnected && network.agents[1].state == .connected)
    }

    @Test("After a restart that found no route, the end of the former one needs another")
    func restartInVain() {
        var timing = Timing()
        timing.restartPatience = .seconds(600)
        var network = connected(timing: timing)
        var random = SeededGenerator(seed: 99)
        network.agents[0].restart(credentials: .random(using: &random), now: network.now)
        network.agents[0].setRemote(credentials: .random(using: &random), now: network.now)
        for candidate in network.agents[1].localCandidates { network.announce(candidate, to: 0) }
        network.run(.seconds(60))
        #expect(network.agents[0].state == .connected && !network.agents[0].needsRestart)
        network.isSevered = true
        network.run(.seconds(45))
        #expect(network.agents[0].needsRestart)
    }

    @Test("An answer after the silence connects again")
    func recovery() {
        var network = connected()
        network.isSevered = true
        network.run(.seconds(12))
        #expect(network.agents.allSatisfy { $0.state == .disconnected })
        network.isSevered = false
        network.run(.seconds(3))
        #expect(network.areConnected)
        #expect(network.events[0].filter { $0 == .stateChanged(.connected) }.count == 2)
    }

    @Test("If the selected pair fails, another working pair replaces it")
    func failover() throws {
        var network = VirtualNetwork()
        for (agent, last) in [(0, "1"), (1, "2")] {
            network.addHost(agent, "192.0.2.\(last)")
            network.addHost(agent, "2001:db8::\(last)")
        }
        network.introduce(0)
        network.introduce(1)
        network.run(.seconds(60))
        #expect(network.agents[0].selectedPair?.local.address.ip.isV4 == false)
        network.blocked = Set(network.bases.joined().filter { !$0.ip.isV4 })
        network.run(.seconds(12))
        #expect(network.areConnected && network.areNominated)
        for agent in network.agents {
            #expect(agent.selectedPair?.local.address.ip.isV4 == true)
        }
    }

    @Test("A closed agent neither sends nor answers")
    func close() {
        var network = connected()
        network.agents[0].close(now: network.now)
        let sent = network.sent[0]
        network.run(.seconds(60))
        #expect(network.sent[0] == sent)
        #expect(network.events[0].last == .stateChanged(.closed))
        #expect(network.agents[1].state == .failed)
    }
}
