import RTCShareICE
import RTCShareSTUN
import RTCShareWireFormat
import Testing

/// Relayed candidates that one agent offers and another one uses.
@Suite struct RelayStateTests {
    /// A network whose first agent has offered a relayed candidate and left it; the agent in its place has its socket and
    /// its credentials, and knows nothing else.
    private struct Handover {
        var network: VirtualNetwork
        let kept: [RelayState]
        let offered: Candidate
        let base: TransportAddress

        init(policy: ICETransportPolicy = .relay) throws {
            var timing = Timing()
            timing.relayLifetime = .seconds(3600)
            network = VirtualNetwork(timing: timing, policy: [policy, .all])
            network.addHost(0, "192.0.2.1")
            network.addHost(1, "192.0.2.2")
            network.blocksDirectPaths = true
            network.turnServers = [TURNServerModel(try #require(TransportAddress("198.51.100.1", port: 3478)))]
            let server = try #require(network.turnServers[0].server)
            network.agents[0].gather(servers: [server], now: network.now)
            network.run(.seconds(1))
            base = try #require(network.bases[0].first)
            kept = network.agents[0].relayStates(now: network.now)
            offered = try #require(network.agents[0].localCandidates.first { $0.type == .relayed })
            network.agents[0].keepsRelays = true
            network.agents[0].close(now: network.now)
            network.run(.seconds(1))
            var configuration = Configuration(
                role: .controlling, credentials: network.agents[0].localCredentials)
            configuration.iceTransportPolicy = policy
            network.agents[0] = Agent(configuration: configuration, generator: SeededGenerator(seed: 99))
            network.events[0] = []
        }

        /// The viewer knows the offer; the second agent takes up what was kept, and hears the answer.
        mutating func resume() {
            network.agents[0].addLocalHost(base, now: network.now)
            network.agents[1].setRemote(credentials: network.agents[0].localCredentials, now: network.now)
            network.announce(offered, to: 1)
            network.agents[1].endOfRemoteCandidates(now: network.now)
            network.agents[0].resume(kept, now: network.now)
            network.run(.seconds(9)) { $0.events[0].contains(.gatheringComplete) }
        }
    }

    @Test(
        "Another agent resumes a relayed address 50 minutes later, for checks, consent and media",
        arguments: ICETransportPolicy.allCases)
    func resumes(policy: ICETransportPolicy) throws {
        var handover = try Handover(policy: policy)
        #expect(handover.kept.count == 1 && handover.kept[0].base == handover.base)
        #expect(handover.kept[0].allocation.relayed == handover.offered.address)
        #expect(handover.network.turnServers[0].allocations.count == 1)
        handover.network.run(.seconds(3000))
        handover.resume()
        var network = handover.network
        network.introduce(0)
        network.run(.seconds(5)) { $0.areNominated }
        #expect(network.areNominated)
        #expect(network.agents[0].selectedPair?.local.address == handover.offered.address)
        #expect(network.agents[0].selectedPair?.local.priority == handover.offered.priority)
        #expect(network.turnServers[0].log.count { $0.method == .allocate } == 2, "one challenged, one granted")
        network.run(.seconds(2000))
        #expect(network.areConnected)
        let packet: [UInt8] = [0x80, 1, 2, 3, 4]
        network.sendMedia(packet, from: 0)
        network.sendMedia(packet, from: 1)
        network.run(.milliseconds(100))
        #expect(network.received == [[packet], [packet]])
        network.agents[0].close(now: network.now)
        network.run(.seconds(1))
        #expect(network.turnServers[0].allocations.isEmpty, "who took it up gives it back")
    }

    @Test("An expired allocation is reported as lost, and gathering completes anyway")
    func expired() throws {
        var handover = try Handover()
        handover.network.run(.seconds(3600))
        handover.resume()
        let network = handover.network
        #expect(network.events[0].last == .gatheringComplete)
        #expect(network.agents[0].localCandidates.isEmpty && network.agents[0].state == .new)
        let report = try #require(network.agents[0].serverReports().first)
        #expect(report.outcome == .failed(.relay(.allocationLost)))
    }

    @Test("Nothing is resumed without the original socket, or from a socket with another mapped address")
    func otherAddress() throws {
        var handover = try Handover()
        handover.network.agents[0].resume(handover.kept, now: handover.network.now)
        #expect(handover.network.agents[0].serverReports().first?.outcome == .failed(.localAddressGone))

        var translated = try Handover()
        let outside = try #require(TransportAddress("203.0.113.1", port: 40_000))
        translated.network.translations = [.init(inside: translated.base, outside: outside)]
        translated.resume()
        #expect(
            translated.network.agents[0].serverReports().first?.outcome == .failed(.relay(.allocationLost)))
    }

    @Test("A failed attempt leaves the address for the next agent if configured", arguments: [true, false])
    func failedTry(leaves: Bool) throws {
        var handover = try Handover()
        handover.resume()
        handover.network.agents[0].keepsRelays = leaves
        handover.network.introduce(0)
        // The viewer is gone by now.
        handover.network.bases[1] = []
        handover.network.run(.seconds(40)) { $0.agents[0].state == .failed }
        handover.network.run(.seconds(1))
        #expect(handover.network.agents[0].state == .failed)
        #expect(handover.network.turnServers[0].allocations.isEmpty == !leaves)
    }
}
