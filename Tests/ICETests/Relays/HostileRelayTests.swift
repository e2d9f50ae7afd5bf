import RTCShareICE
import RTCShareSTUN
import RTCShareWireFormat
import TestSupport
import Testing

/// Datagrams of an off-path attacker, who guesses addresses but no credentials, to an agent that uses a relay.
@Suite struct HostileRelayTests {
    private func connected(seed: UInt64) throws -> VirtualNetwork {
        var network = VirtualNetwork(seed: seed)
        network.addHost(0, "192.0.2.1")
        network.addHost(1, "192.0.2.2")
        network.turnServers = [TURNServerModel(try #require(TransportAddress("198.51.100.1", port: 3478)))]
        network.blocksDirectPaths = true
        let server = try #require(network.turnServers[0].server)
        network.agents[0].gather(servers: [server], now: network.now)
        network.run(.seconds(1))
        network.introduce(0)
        network.introduce(1)
        network.run(.seconds(10))
        return network
    }

    @Test(
        "Forged errors, grants, data and noise change only counters, from the server's address and others",
        arguments: 1...4 as ClosedRange<UInt64>)
    func forgeries(seed: UInt64) throws {
        var network = try connected(seed: seed)
        #expect(network.areNominated)
        let base = try #require(network.bases[0].first)
        let server = network.turnServers[0].address
        let stranger = try #require(TransportAddress("203.0.113.66", port: 3478))
        let pair = network.agents[0].selectedPair
        let path = network.agents[0].nextMediaPath()
        let candidates = network.agents[0].localCandidates
        network.events[0] = []
        var generator = SeededGenerator(seed: seed)
        let methods: [RTCShareSTUN.Method] = [.allocate, .refresh, .createPermission, .channelBind, .binding, .data]
        for round in 0..<400 {
            let method = methods[round % methods.count]
            let code = [300, 400, 401, 403, 437, 438, 486, 508].randomElement(using: &generator) ?? 400
            let isError = Bool.random(using: &generator)
            let attributes: [Attribute] =
                isError
                ? [
                    .errorCode(ErrorCode(code: code, reason: "x")), .realm("evil"), .nonce([1, 2, 3]),
                    .alternateServer(stranger),
                ]
                : [
                    .lifetime(.zero), .xorMappedAddress(stranger), .xorRelayedAddress(stranger),
                    .xorPeerAddress(stranger), .data([0x80, 1]),
                ]
            let message = try STUNMessage(
                method == .data ? .indication : isError ? .errorResponse : .successResponse, method: method,
                transactionID: TransactionID(using: &generator), attributes: attributes
            ).encoded(integrityKey: Bool.random(using: &generator) ? [1, 2, 3] : nil)
            network.deliver(message, from: server, to: base, agent: 0)
            network.deliver(message, from: stranger, to: base, agent: 0)
            network.deliver(message, from: server, to: base, over: .tcp, agent: 0)
            let noise = (0..<round % 60).map { _ in UInt8.random(in: 0...255, using: &generator) }
            network.deliver([0x40, 0xFF, 0, 1, 9] + noise, from: server, to: base, agent: 0)
            network.deliver([0, 22] + noise, from: server, to: base, agent: 0)
        }
        #expect(network.agents[0].selectedPair == pair && network.agents[0].nextMediaPath() == path)
        #expect(network.agents[0].localCandidates == candidates)
        network.run(.seconds(60))
        #expect(network.areConnected)
        #expect(network.events[0].isEmpty)
        #expect(network.turnServers[0].allocations.count == 1)
    }

    @Test("ChannelData of the bound channel is accepted only from the server")
    func channelDataFromElsewhere() throws {
        var network = try connected(seed: 3)
        let base = try #require(network.bases[0].first)
        let forged: [UInt8] = [0x40, 0, 0, 2, 0x80, 1]
        network.deliver(forged, from: network.turnServers[0].address, to: base, agent: 0)
        #expect(network.received[0] == [[0x80, 1]])
        let stranger = try #require(TransportAddress("203.0.113.66", port: 3478))
        network.deliver(forged, from: stranger, to: base, agent: 0)
        network.deliver(forged, from: network.turnServers[0].address, to: base, over: .tcp, agent: 0)
        // A stranger's bytes are what they are: no relay's, so that DTLS and SRTP refuse them whole.
        #expect(network.received[0] == [[0x80, 1], forged])
    }

    @Test(
        "No file of the corpus traps or has an effect, whole, truncated or changed",
        .enabled(if: Corpus.stun.isThere, "no ../shared/corpora/stun-corpus beside the clone"))
    func corpus() throws {
        var network = try connected(seed: 5)
        let base = try #require(network.bases[0].first)
        let server = network.turnServers[0].address
        let pair = network.agents[0].selectedPair
        var generator = SeededGenerator(seed: 7)
        let files = try Corpus.stun.files().map(\.bytes).filter { $0.count < 4000 }
        #expect(files.count > 10)
        for bytes in files {
            var changed = bytes
            if !changed.isEmpty {
                changed[Int.random(in: changed.indices, using: &generator)] ^= UInt8.random(
                    in: 1...255, using: &generator)
            }
            for input in [bytes, changed, Array(bytes.prefix(bytes.count / 2))] {
                network.deliver(input, from: server, to: base, agent: 0)
                network.deliver(input, from: server, to: base, over: .tls, agent: 0)
            }
        }
        #expect(network.agents[0].selectedPair == pair)
        network.run(.seconds(30))
        #expect(network.areConnected)
    }
}
