import RTCShareICE
import RTCShareSTUN
import RTCShareWireFormat
import Testing

/// ICE over TCP (RFC 6544), the framing of its streams (RFC 4571), and what is written around packets.
@Suite struct StreamTests {
    @Test("A peer's passive TCP candidate is connected to and checked, with length-prefixed messages")
    func active() throws {
        var peer = try ScriptedPeer(role: .controlling)
        peer.meet()
        let outcome = peer.agent.addRemoteCandidate(
            foundation: "1", component: 1, transport: "TCP", priority: 1_518_280_447, address: peer.address,
            type: "host", tcpType: "passive", now: peer.now)
        #expect(outcome == .added)
        peer.agent.endOfRemoteCandidates(now: peer.now)
        let local = try #require(peer.agent.localCandidates.last)
        #expect(local.transport == .tcp && local.address.port == 9 && local.priority >> 24 == 90)
        #expect(local.priority >> 21 & 7 == 6)
        let base = peer.connections
        #expect(peer.agent.framing(of: peer.address, from: base, over: .tcp) == .lengthPrefixed)
        #expect(peer.agent.framing(of: peer.address, from: base, over: .tls) == nil)
        #expect(peer.agent.framing(of: peer.address, from: peer.base, over: .tcp) == nil)
        var framer = RFC4571Framer()
        var nominations: [Bool] = []
        for _ in 0..<2 {
            let polled = peer.agent.pollTransmit()
            let transmit = try #require(polled)
            #expect(transmit.transport == .tcp && transmit.base == base && transmit.destination == peer.address)
            framer.append(transmit.bytes.span.bytes)
            let next = framer.next()
            let bytes = try #require(next)
            let check = try STUNMessage(parsing: bytes.span.bytes)
            nominations.append(check.usesCandidate)
            #expect(check.priority.map { $0 >> 24 } == 80)
            let answer = try STUNMessage(
                .successResponse, transactionID: check.transactionID,
                attributes: [.xorMappedAddress(TransportAddress(ip: peer.base.ip, port: 40_000))]
            ).encoded(integrityKey: Array(peer.credentials.password.utf8))
            peer.agent.handle(datagram: answer.span.bytes, from: peer.address, to: base, over: .tcp, now: peer.now)
            peer.wait(.milliseconds(100))
        }
        #expect(nominations == [false, true])
        let pair = try #require(peer.agent.selectedPair)
        #expect(pair.local.type == .peerReflexive && pair.local.transport == .tcp && pair.isNominated)
        let media = peer.agent.nextMediaPath()
        let path = try #require(media)
        #expect(path.transport == .tcp && path.envelope.prefixByteCount == 2 && path.base == base)
    }

    @Test("A connection that cannot be opened fails the pair; active and simultaneous candidates are not paired")
    func failing() throws {
        var peer = try ScriptedPeer(role: .controlling)
        peer.meet()
        for type in ["active", "so", nil] {
            let outcome = peer.agent.addRemoteCandidate(
                foundation: "1", component: 1, transport: "tcp", priority: 1, address: peer.address, type: "host",
                tcpType: type, now: peer.now)
            #expect(outcome == .ignoredTransport)
        }
        // The same address over UDP and over TCP is two candidates.
        _ = peer.announce()
        peer.agent.addRemoteCandidate(
            foundation: "2", component: 1, transport: "tcp", priority: 1, address: peer.address, type: "host",
            tcpType: "passive", now: peer.now)
        #expect(peer.agent.remoteCandidates.count == 2 && peer.agent.pairReports().count == 2)
        peer.wait(.milliseconds(100))
        peer.agent.transmitFailed(base: peer.connections, destination: peer.address, over: .tcp, now: peer.now)
        #expect(peer.agent.pairReports().map(\.fate).contains(.connectionLost))
        #expect(peer.agent.pairReports().map(\.state) == [.inProgress, .inProgress])
    }

    @Test("A connection that can't be opened is retried for as long as a check lasts")
    func reopening() throws {
        var peer = try ScriptedPeer(role: .controlling, isLite: true)
        peer.agent.addRemoteCandidate(
            foundation: "2", component: 1, transport: "tcp", priority: 1, address: peer.address, type: "host",
            tcpType: "passive", now: peer.now)
        var openings: [Int] = []
        for elapsed in 0..<200 {
            while let transmit = peer.agent.pollTransmit() {
                #expect(transmit.transport == .tcp)
                openings.append(elapsed)
                peer.agent.transmitFailed(base: peer.connections, destination: peer.address, over: .tcp, now: peer.now)
            }
            peer.wait(.milliseconds(100))
        }
        #expect(openings == [0, 10, 30, 70, 110])
        #expect(peer.agent.pairReports().map(\.fate) == [.connectionLost])
        #expect(peer.agent.pairReports().map(\.state) == [.failed])
    }

    @Test("A listener has a passive candidate, and a peer's connection to it is checked over that connection")
    func passive() throws {
        var peer = try ScriptedPeer(role: .controlled)
        // The page's port often has the number of the media port.
        peer.agent.addListener(peer.base, now: peer.now)
        peer.agent.addPublicAddress(try #require(IPAddress("198.51.100.1")), now: peer.now)
        let candidates = peer.agent.localCandidates.filter { $0.tcpType == .passive }
        #expect(candidates.map(\.type) == [.host, .serverReflexive])
        #expect(candidates.map(\.address.port) == [peer.base.port, peer.base.port])
        #expect(
            candidates.map { $0.priority >> 24 } == [90, 100] && candidates.map { $0.priority >> 21 & 7 } == [4, 2])
        #expect(candidates[0].foundation != peer.agent.localCandidates[0].foundation)
        peer.meet()
        let outcome = peer.agent.addRemoteCandidate(
            foundation: "1", component: 1, transport: "tcp", priority: 1, address: peer.address, type: "host",
            tcpType: "active", now: peer.now)
        #expect(outcome == .ignoredTransport && peer.agent.pairReports().isEmpty)
        peer.wait(.seconds(1))
        #expect(peer.agent.pollTransmit() == nil)

        let source = TransportAddress(ip: peer.address.ip, port: 40_000)
        try peer.request([.useCandidate], over: source)
        #expect(peer.agent.isProven(source, at: BaseAddress(peer.base, over: .tcp)))
        #expect(!peer.agent.isProven(source, at: BaseAddress(peer.base)))
        let messages = try peer.receivedOverStreams()
        #expect(messages.map(\.messageClass) == [.successResponse, .request])
        try peer.answer(messages[1], over: source)
        let pair = try #require(peer.agent.selectedPair)
        #expect(pair.isNominated && pair.local.tcpType == .passive && pair.remote.tcpType == .active)
        #expect(pair.local.type == .host)
        let path = try #require(peer.agent.mediaStream)
        #expect(path.base == peer.base && path.destination == source && path.envelope.prefixByteCount == 2)
        #expect(peer.agent.framing(of: source, from: peer.base, over: .tcp) == nil)
    }

    @Test("After the end of a peer's connection, its next connection carries media")
    func passiveEnds() throws {
        var peer = try ScriptedPeer(role: .controlled)
        peer.agent.addListener(peer.base, now: peer.now)
        peer.meet()
        for port in UInt16(40_000)..<40_003 {
            let source = TransportAddress(ip: peer.address.ip, port: port)
            try peer.request([.useCandidate], over: source)
            let check = try #require(try peer.receivedOverStreams().last)
            try peer.answer(check, over: source)
            #expect(peer.agent.selectedPair?.remote.address == source && peer.agent.state == .connected)
            #expect(peer.agent.remoteCandidates.count == 1 && peer.agent.pairReports().count == 1)
            peer.agent.transmitFailed(base: peer.base, destination: source, over: .tcp, now: peer.now)
            #expect(peer.agent.selectedPair == nil && peer.agent.state == .disconnected)
            peer.wait(.seconds(1))
            #expect(peer.agent.pollTransmit() == nil)
        }
    }

    @Test("UDP replaces a connection of the peer's that was ready first")
    func preference() throws {
        var peer = try ScriptedPeer(role: .controlling)
        peer.agent.addListener(peer.base, now: peer.now)
        peer.meet()
        let source = TransportAddress(ip: peer.address.ip, port: 40_000)
        try peer.request([], over: source)
        let check = try #require(try peer.receivedOverStreams().last)
        try peer.answer(check, over: source)
        #expect(peer.agent.selectedPair?.remote.tcpType == .active)
        _ = peer.announce()
        peer.wait(.milliseconds(300))
        try peer.answerChecks()
        peer.wait(.milliseconds(100))
        try peer.answerChecks()
        #expect(peer.agent.selectedPair?.remote.tcpType == nil && peer.agent.selectedPair?.isNominated == true)
    }

    @Test("A listener that is removed takes its connections with it")
    func removal() throws {
        var peer = try ScriptedPeer(role: .controlled)
        peer.agent.addListener(peer.base, now: peer.now)
        peer.meet()
        let source = TransportAddress(ip: peer.address.ip, port: 40_000)
        try peer.request([.useCandidate], over: source)
        try peer.answer(try #require(try peer.receivedOverStreams().last), over: source)
        peer.agent.removeListener(peer.base, now: peer.now)
        #expect(peer.agent.selectedPair == nil && peer.agent.localCandidates.map(\.tcpType) == [nil])
        try peer.request([.useCandidate], over: source)
        #expect(try peer.receivedOverStreams().isEmpty)
    }

    @Test("Where only relays are allowed, nobody can connect")
    func relayOnly() throws {
        var configuration = Configuration(
            role: .controlled,
            credentials: try .init(usernameFragment: "abcd", password: String(repeating: "p", count: 22)))
        configuration.iceTransportPolicy = .relay
        var agent = Agent(configuration: configuration, generator: SeededGenerator(seed: 1))
        agent.addListener(try #require(TransportAddress("192.0.2.1", port: 4000)), now: Instant(nanoseconds: 0))
        #expect(agent.localCandidates.isEmpty)
    }

    @Test("Messages are reassembled from any pieces; empty ones are skipped")
    func framing() throws {
        let messages: [[UInt8]] = [[1], Array(repeating: 7, count: 1200), [2, 3]]
        var stream: [UInt8] = [0, 0]
        for message in messages { stream += RFC4571Framer.framed(message) ?? [] }
        for size in [1, 2, 3, 7, 500, stream.count] {
            var framer = RFC4571Framer()
            var found: [[UInt8]] = []
            for start in stride(from: 0, to: stream.count, by: size) {
                framer.append(stream[start..<min(start + size, stream.count)].span.bytes)
                while let message = framer.next() { found.append(message) }
            }
            #expect(found == messages && framer.bufferedByteCount == 0)
        }
        #expect(RFC4571Framer.framed(Array(repeating: 0, count: 65_536)) == nil)
    }

    @Test("Parsers read a packet of any length from its envelope", arguments: [true, false])
    func envelopes(isStream: Bool) throws {
        var server = try ScriptedTURNServer(transport: isStream ? .tcp : .udp)
        try server.allocate()
        let none = server.allocation.envelope(to: server.peer)
        #expect(none == nil)
        server.allocation.permit(server.peer.ip, now: server.now)
        try server.answer(server.message())
        let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: 1280, alignment: 16)
        defer { memory.deallocate() }
        func complete(_ envelope: Envelope, _ payload: [UInt8]) throws -> [UInt8] {
            memory.initializeMemory(as: UInt8.self, repeating: 0xAA)
            UnsafeMutableRawBufferPointer(rebasing: memory[envelope.prefixByteCount...]).copyBytes(from: payload)
            let count = try #require(envelope.complete(memory, payloadByteCount: payload.count))
            return Array(memory[..<count])
        }
        for count in 0...40 {
            let payload = (0..<count).map { UInt8($0) }
            let made = server.allocation.envelope(to: server.peer)
            let bytes = try complete(try #require(made), payload)
            let message = try STUNMessage(parsing: bytes.span.bytes)
            #expect(message.method == .send && message.peerAddress == server.peer)
            let range = STUNMessage.range(of: .data, in: bytes.span.bytes)
            #expect(range.map { Array(bytes[$0]) } == payload)
        }
        server.allocation.bind(server.peer, now: server.now)
        try server.answer(server.message())
        for count in 0...40 {
            let payload = (0..<count).map { UInt8($0) }
            let made = server.allocation.envelope(to: server.peer)
            let bytes = try complete(try #require(made), payload)
            #expect(bytes.count == (isStream ? 4 + (count + 3) / 4 * 4 : 4 + count))
            let enclosed = server.allocation.enclosed(payload.span.bytes, to: server.peer)
            #expect(enclosed == bytes)
        }
        let made = server.allocation.envelope(to: server.peer)
        #expect(made?.complete(memory, payloadByteCount: 1278) == nil && made != nil)
    }
}

extension ScriptedPeer {
    /// Sends a request over a connection of the peer's to the listener at ``base``.
    fileprivate mutating func request(_ attributes: [Attribute], over source: TransportAddress) throws {
        let local = agent.localCredentials
        let message = STUNMessage(
            .request, transactionID: TransactionID(using: &generator),
            attributes: [
                .username("\(local.usernameFragment):\(credentials.usernameFragment)"), .priority(1_000_000),
            ] + attributes)
        let bytes = try message.encoded(integrityKey: Array(local.password.utf8))
        agent.handle(datagram: bytes.span.bytes, from: source, to: base, over: .tcp, now: now)
    }

    fileprivate mutating func answer(_ check: STUNMessage, over source: TransportAddress) throws {
        let answer = try STUNMessage(
            .successResponse, transactionID: check.transactionID, attributes: [.xorMappedAddress(base)]
        ).encoded(integrityKey: Array(credentials.password.utf8))
        agent.handle(datagram: answer.span.bytes, from: source, to: base, over: .tcp, now: now)
    }

    /// Takes and parses the messages that the agent has sent over streams.
    fileprivate mutating func receivedOverStreams() throws -> [STUNMessage] {
        var messages: [STUNMessage] = []
        while let transmit = agent.pollTransmit() {
            guard transmit.transport == .tcp else { continue }
            var framer = RFC4571Framer()
            framer.append(transmit.bytes.span.bytes)
            while let message = framer.next() { messages.append(try STUNMessage(parsing: message.span.bytes)) }
        }
        return messages
    }
}
