import RTCShareICE
import RTCShareSTUN
import RTCShareWireFormat
import Testing

@Suite struct AgentRuleTests {
    @Test("Host priorities are unique and in the order of RFC 8421: by interface, IPv6 first, loopback last")
    func hostPriorities() throws {
        var peer = try ScriptedPeer(role: .controlling)
        let ordered = ["2001:db8::1", "192.0.2.10", "2001:db8::2", "198.51.100.1", "169.254.1.1", "::1", "127.0.0.1"]
        for (ip, order) in zip(ordered.reversed(), [3, 3, 2, 1, 1, 0, 0]) {
            let base = try #require(TransportAddress(ip, port: 1))
            peer.agent.addLocalHost(base, interfaceOrder: order, now: peer.now)
        }
        let candidates = peer.agent.localCandidates.filter { $0.address != peer.base }
            .sorted { $0.priority > $1.priority }
        #expect(candidates.map(\.address.ip.description) == ordered)
        #expect(Set(candidates.map(\.priority)).count == ordered.count)
        #expect(Set(candidates.map(\.foundation)).count == ordered.count)
        #expect(candidates.allSatisfy { $0.priority >> 24 == 126 && $0.priority & 255 == 255 })
    }

    @Test("Pair priority is that of RFC 8445 §6.1.2.3, and alike on both sides")
    func pairPriority() throws {
        var network = VirtualNetwork()
        network.addHost(0, "192.0.2.1")
        network.addHost(1, "192.0.2.2", interfaceOrder: 5)
        network.introduce(0)
        network.introduce(1)
        let priorities = network.agents.map { UInt64($0.localCandidates[0].priority) }
        let expected = priorities[1] << 32 + 2 * priorities[0] + 1
        #expect(network.agents.map { $0.pairReports().map(\.priority) } == [[expected], [expected]])
    }

    @Test(
        "Addresses are paired within their scope: loopback and link-local ones only with their like",
        arguments: [
            ("192.0.2.1", ["192.0.2.2", "10.0.0.1", "127.0.0.1", "127.8.8.8", "169.254.169.254"], 2),
            ("10.0.0.1", ["192.0.2.2", "192.168.1.1", "127.0.0.1"], 2),
            ("127.0.0.1", ["127.0.0.1", "127.8.8.8", "192.0.2.2", "10.0.0.1", "169.254.1.1"], 2),
            ("169.254.1.1", ["169.254.1.2", "192.0.2.2", "127.0.0.1"], 1),
            ("2001:db8::1", ["2001:db8::2", "fd00::1", "::1", "fe80::1", "192.0.2.2"], 2),
            ("fe80::1", ["fe80::2", "2001:db8::2", "::1"], 1),
            ("::1", ["::1", "fe80::2", "2001:db8::2"], 1),
        ], ["udp", "tcp"])
    func scopes(rule: (base: String, peers: [String], paired: Int), transport: String) throws {
        var generator = SeededGenerator(seed: 5)
        var agent = Agent(
            configuration: Configuration(role: .controlling, credentials: .random(using: &generator)),
            generator: generator)
        let now = Instant(nanoseconds: 0)
        agent.addLocalHost(try #require(TransportAddress(rule.base, port: 4000)), now: now)
        agent.setRemote(credentials: .random(using: &generator), now: now)
        for peer in rule.peers {
            let outcome = agent.addRemoteCandidate(
                foundation: "1", component: 1, transport: transport, priority: 1,
                address: try #require(TransportAddress(peer, port: 5000)), type: "host",
                tcpType: transport == "tcp" ? "passive" : nil, now: now)
            #expect(outcome == .added)
        }
        let paired = agent.pairReports().map(\.remote.address.ip.description)
        #expect(paired.sorted() == rule.peers.prefix(rule.paired).sorted())
    }

    @Test("A check has the attributes of RFC 8445 §7.1")
    func checkContents() throws {
        var peer = try ScriptedPeer(role: .controlling)
        peer.meet()
        #expect(peer.announce() == .added)
        let sent = try peer.received()
        let check = try #require(sent.first?.message)
        #expect(sent.count == 1 && sent[0].destination == peer.address)
        #expect(
            check.username
                == "\(peer.credentials.usernameFragment):\(peer.agent.localCredentials.usernameFragment)")
        #expect(check.priority.map { $0 >> 24 } == 110)
        #expect(check.iceControlling != nil && check.iceControlled == nil && !check.usesCandidate)
        #expect(check.hasFingerprint && check.isAuthentic(key: Array(peer.credentials.password.utf8)))
    }

    @Test("The controlling agent nominates once, with USE-CANDIDATE on a check of its own")
    func regularNomination() throws {
        var peer = try ScriptedPeer(role: .controlling)
        peer.meet()
        _ = peer.announce()
        #expect(try peer.answerChecks().map(\.usesCandidate) == [false])
        peer.wait(.milliseconds(30))
        #expect(peer.agent.selectedPair?.isNominated == false)
        #expect(try peer.answerChecks().map(\.usesCandidate) == [true])
        #expect(peer.agent.selectedPair?.isNominated == true)
        peer.wait(.seconds(3))
        #expect(try peer.received().isEmpty)
    }

    @Test("A lite peer makes us the controlling agent, and needs no request of its own")
    func litePeer() throws {
        var peer = try ScriptedPeer(role: .controlled, isLite: true)
        #expect(peer.agent.role == .controlling)
        _ = peer.announce()
        try peer.answerChecks()
        peer.wait(.milliseconds(30))
        try peer.answerChecks()
        #expect(peer.agent.state == .connected)
        #expect(peer.agent.selectedPair?.isNominated == true)
    }

    @Test("A response from another address than the check's destination fails the pair")
    func asymmetry() throws {
        var peer = try ScriptedPeer(role: .controlling)
        peer.meet()
        _ = peer.announce()
        let elsewhere = try #require(TransportAddress("192.0.2.66", port: 5000))
        try peer.answerChecks(from: elsewhere)
        #expect(peer.agent.pairReports().map(\.fate) == [.answeredFromElsewhere(elsewhere)])
        #expect(peer.agent.selectedPair == nil)
    }

    @Test("A response without the password's integrity changes nothing")
    func forgedAnswer() throws {
        var peer = try ScriptedPeer(role: .controlling)
        peer.meet()
        _ = peer.announce()
        let check = try #require(try peer.received().first?.message)
        let answer = STUNMessage(
            .successResponse, transactionID: check.transactionID, attributes: [.xorMappedAddress(peer.base)])
        try peer.deliver(answer, key: nil)
        try peer.deliver(answer, key: Array("wrong".utf8))
        #expect(peer.agent.pairReports().map(\.state) == [.inProgress])
        #expect(peer.agent.statistics.unexpectedResponses == 2)
        // The right answer still counts afterwards, but only once.
        try peer.deliver(answer, key: Array(peer.credentials.password.utf8))
        try peer.deliver(answer, key: Array(peer.credentials.password.utf8))
        #expect(peer.agent.pairReports().map(\.state) == [.succeeded])
        #expect(peer.agent.statistics.unexpectedResponses == 3)
    }

    @Test(
        "Requests that do not authenticate are rejected and leave no trace",
        arguments: [(username: "nobody:else", password: String?.none, code: 401), (":", nil, 401), ("", nil, 401)])
    func refusedRequest(username: String, password: String?, code: Int) throws {
        var peer = try ScriptedPeer(role: .controlled)
        peer.meet()
        let id = try peer.request([], username: username, password: password)
        let answer = try #require(try peer.received().first?.message)
        #expect(answer.transactionID == id)
        #expect(answer.errorCode?.code == code && !answer.hasIntegrity)
        #expect(peer.agent.remoteCandidates.isEmpty && peer.agent.pairReports().isEmpty)
    }

    @Test("A wrong password is 401, no integrity at all is 400, an unknown required attribute is 420")
    func errorCodes() throws {
        var peer = try ScriptedPeer(role: .controlled)
        peer.meet()
        _ = try peer.request([], password: String(repeating: "y", count: 24))
        try peer.deliver(
            STUNMessage(
                .request, transactionID: TransactionID(using: &peer.generator),
                attributes: [.software("somebody with enough to say")]), key: nil)
        _ = try peer.request([.unknown(AttributeType(rawValue: 0x7FF0), [1, 2, 3])])
        let answers = try peer.received().map(\.message)
        #expect(answers.map(\.errorCode?.code) == [401, 400, 420])
        #expect(answers[2].attributes.contains(.unknownAttributes([AttributeType(rawValue: 0x7FF0)])))
        #expect(answers[2].isAuthentic(key: Array(peer.agent.localCredentials.password.utf8)))
        #expect(peer.agent.statistics.unauthenticatedRequests == 2)
        #expect(peer.agent.pairReports().isEmpty)
    }

    @Test(
        "Role conflict: the larger tie-breaker becomes or stays controlling (RFC 8445 §7.3.1.1)",
        arguments: [
            (Role.controlling, UInt64.min, Role.controlling, Int?(487)),
            (.controlling, .max, .controlled, nil),
            (.controlled, .max, .controlled, 487),
            (.controlled, .min, .controlling, nil),
        ])
    func roleConflict(role: Role, theirs: UInt64, after: Role, error: Int?) throws {
        var peer = try ScriptedPeer(role: role)
        peer.meet()
        let attribute = role == .controlling ? Attribute.iceControlling(theirs) : .iceControlled(theirs)
        let id = try peer.request([attribute])
        let answer = try #require(try peer.received().first { $0.message.transactionID == id }?.message)
        #expect(answer.errorCode?.code == error)
        #expect(peer.agent.role == after)
    }

    @Test("An answered 487 makes us change roles and check again")
    func roleConflictAnswer() throws {
        var peer = try ScriptedPeer(role: .controlling)
        peer.meet()
        _ = peer.announce()
        let check = try #require(try peer.received().first?.message)
        try peer.deliver(
            STUNMessage(.errorResponse, transactionID: check.transactionID, attributes: [.errorCode(.roleConflict)]),
            key: Array(peer.credentials.password.utf8))
        #expect(peer.agent.role == .controlled)
        peer.wait(.milliseconds(30))
        let second = try #require(try peer.received().first?.message)
        #expect(second.iceControlled != nil && second.transactionID != check.transactionID)
        #expect(second.iceControlled != check.iceControlling)
    }

    @Test("A 487 to a request for consent makes us change roles too")
    func roleConflictInConsent() throws {
        var peer = try ScriptedPeer(role: .controlling)
        peer.meet()
        _ = peer.announce()
        for _ in 0..<2 {
            try peer.answerChecks()
            peer.wait(.milliseconds(30))
        }
        var requests: [STUNMessage] = []
        while requests.isEmpty {
            peer.wait(.milliseconds(100))
            requests = try peer.received().map(\.message)
        }
        let check = requests[0]
        #expect(check.iceControlling != nil)
        try peer.deliver(
            STUNMessage(.errorResponse, transactionID: check.transactionID, attributes: [.errorCode(.roleConflict)]),
            key: Array(peer.credentials.password.utf8))
        #expect(peer.agent.role == .controlled && peer.agent.state == .connected)
        peer.wait(.seconds(1))
        #expect(try peer.answerChecks().allSatisfy { $0.iceControlled != nil })
        #expect(peer.agent.state == .connected)
    }

    @Test("The controlled agent waits for its own check before it follows a nomination")
    func nominationAwaitsCheck() throws {
        var peer = try ScriptedPeer(role: .controlled)
        peer.meet()
        _ = try peer.request([.iceControlling(1), .useCandidate])
        #expect(peer.agent.selectedPair == nil)
        try peer.answerChecks()
        #expect(peer.agent.selectedPair?.isNominated == true)
        #expect(peer.agent.selectedPair?.remote.type == .peerReflexive)
    }

    @Test("A peer that nominates again and again causes one event")
    func repeatedNomination() throws {
        var peer = try ScriptedPeer(role: .controlled)
        peer.meet()
        for _ in 0..<5 {
            _ = try peer.request([.iceControlling(1), .useCandidate])
            try peer.answerChecks()
            peer.wait(.milliseconds(50))
        }
        var selections = 0
        while let event = peer.agent.pollEvent() {
            if case .selectedPair(let pair) = event, pair.isNominated { selections += 1 }
        }
        #expect(selections == 1)
    }

    @Test("Nomination follows the peer's latest one; among pairs nominated at once the best wins")
    func renomination() throws {
        var peer = try ScriptedPeer(role: .controlled)
        peer.meet()
        let other = try #require(TransportAddress("192.0.2.3", port: 5000))
        _ = peer.announce()
        _ = peer.announce(other, type: "srflx")
        for _ in 0..<3 {
            try peer.answerChecks()
            peer.wait(.milliseconds(30))
        }
        _ = try peer.request([.iceControlling(1), .useCandidate])
        #expect(peer.agent.selectedPair?.remote.address == peer.address)
        // Both nominated at the same time: equal priorities here keep the first.
        _ = try peer.request([.iceControlling(1), .useCandidate], from: other)
        #expect(peer.agent.selectedPair?.remote.address == peer.address)
        // The first is still alive but no longer nominated: the peer has moved.
        _ = try peer.request([.iceControlling(1)])
        _ = try peer.request([.iceControlling(1), .useCandidate], from: other)
        #expect(peer.agent.selectedPair?.remote.address == other)
    }

    @Test(
        "Unusable candidates are counted by reason",
        arguments: [
            ("192.0.2.9", 9, "tcp", "host", RemoteCandidateOutcome.ignoredTransport),
            ("192.0.2.9", 9, "udp", "carrier-pigeon", .ignoredType),
            ("0.0.0.0", 9, "udp", "host", .ignoredAddress),
            ("224.0.0.251", 5353, "udp", "host", .ignoredAddress),
            ("::ffff:127.0.0.1", 9, "udp", "host", .ignoredAddress),
            ("192.0.2.9", 0, "udp", "host", .ignoredAddress),
        ])
    func uselessCandidates(ip: String, port: Int, transport: String, type: String, outcome: RemoteCandidateOutcome)
        throws
    {
        var peer = try ScriptedPeer(role: .controlling)
        let address = try #require(TransportAddress(ip, port: UInt16(port)))
        #expect(peer.announce(address, type: type, transport: transport) == outcome)
        #expect(peer.agent.statistics.remoteCandidatesIgnored == 1)
        #expect(peer.agent.remoteCandidates.isEmpty)
    }

    @Test("Limits apply to candidates, early requests and strangers' messages")
    func limits() throws {
        var limits = Limits()
        limits.remoteCandidates = 5
        limits.pairs = 3
        limits.earlyChecks = 4
        limits.transmits = 10
        var peer = try ScriptedPeer(role: .controlled, limits: limits)
        for port in 1...50 {
            let source = try #require(TransportAddress("198.51.100.7", port: UInt16(port)))
            _ = try peer.request([.iceControlling(1)], from: source)
        }
        #expect(try peer.received().count == 10)
        peer.meet()
        for port in 100...150 {
            let source = try #require(TransportAddress("198.51.100.7", port: UInt16(port)))
            _ = try peer.request([.iceControlling(1)], from: source)
            _ = peer.announce(source)
        }
        #expect(peer.agent.remoteCandidates.count == 5)
        #expect(peer.agent.pairReports().count <= 3)
        #expect(peer.agent.statistics.overLimit > 0)
    }

    @Test("An announced candidate replaces the peer-reflexive one")
    func announcedAfterLearned() throws {
        var peer = try ScriptedPeer(role: .controlled)
        peer.meet()
        _ = try peer.request([.iceControlling(1)])
        #expect(peer.agent.remoteCandidates.map(\.type) == [.peerReflexive])
        #expect(peer.announce() == .known)
        #expect(peer.agent.remoteCandidates.map(\.type) == [.host])
        #expect(peer.agent.pairReports().map(\.remote.type) == [.host])
    }

    @Test("No corruption or truncation of a request traps, and none is accepted")
    func corruption() throws {
        var peer = try ScriptedPeer(role: .controlled)
        peer.meet()
        let name = "\(peer.agent.localCredentials.usernameFragment):\(peer.credentials.usernameFragment)"
        let request = try STUNMessage(
            .request, transactionID: TransactionID(using: &peer.generator),
            attributes: [.username(name), .priority(1), .iceControlling(1), .useCandidate]
        ).encoded(integrityKey: Array(peer.agent.localCredentials.password.utf8))
        // FINGERPRINT, the last eight bytes, is not what authenticates.
        for index in request.indices.dropLast(8) {
            for bit in 0..<8 {
                var damaged = request
                damaged[index] ^= 1 << UInt8(bit)
                peer.agent.handle(datagram: damaged.span.bytes, from: peer.address, to: peer.base, now: peer.now)
            }
            let shortened = Array(request[..<index])
            peer.agent.handle(datagram: shortened.span.bytes, from: peer.address, to: peer.base, now: peer.now)
        }
        #expect(peer.agent.remoteCandidates.isEmpty)
    }

    @Test("Random credentials have the alphabet and entropy of RFC 8445 §5.3; invalid ones are rejected")
    func credentials() throws {
        var generator = SeededGenerator(seed: 3)
        let random = Credentials.random(using: &generator)
        #expect(random.usernameFragment.count == 8 && random.password.count == 24)
        #expect(try Credentials(usernameFragment: random.usernameFragment, password: random.password) == random)
        #expect(!"\(random)".contains(random.password))
        #expect(throws: ICEError.invalidUsernameFragment) {
            try Credentials(usernameFragment: "abc", password: random.password)
        }
        #expect(throws: ICEError.invalidUsernameFragment) {
            try Credentials(usernameFragment: "ab:cd", password: random.password)
        }
        #expect(throws: ICEError.invalidPassword) {
            try Credentials(usernameFragment: "abcd", password: String(repeating: "a", count: 21))
        }
    }
}
