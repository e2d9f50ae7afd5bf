import RTCShareICE
import RTCShareSTUN
import RTCShareWireFormat
import Testing

/// A peer whose every message a test writes by hand, opposite one agent.
struct ScriptedPeer {
    let base: TransportAddress
    let address: TransportAddress
    let credentials: Credentials
    var agent: Agent
    var now = Instant(nanoseconds: 0)
    var generator = SeededGenerator(seed: 99)

    init(role: Role, isLite: Bool = false, limits: Limits = Limits()) throws {
        base = try #require(TransportAddress("192.0.2.1", port: 4000))
        address = try #require(TransportAddress("192.0.2.2", port: 5000))
        credentials = .random(using: &generator)
        var configuration = Configuration(role: role, credentials: .random(using: &generator))
        configuration.limits = limits
        agent = Agent(configuration: configuration, generator: generator)
        agent.addLocalHost(base, now: now)
        if isLite { meet(isLite: true) }
    }

    /// The base of the agent's TCP connections.
    var connections: TransportAddress { TransportAddress(ip: base.ip, port: 0) }

    mutating func meet(isLite: Bool = false) {
        agent.setRemote(credentials: credentials, isLite: isLite, now: now)
    }

    mutating func announce(_ address: TransportAddress? = nil, type: String = "host", transport: String = "UDP")
        -> RemoteCandidateOutcome
    {
        agent.addRemoteCandidate(
            foundation: "1", component: 1, transport: transport, priority: 2_130_706_431,
            address: address ?? self.address, type: type, now: now)
    }

    mutating func wait(_ duration: Duration) {
        let end = now.advanced(by: duration)
        while let next = agent.nextDeadline, next <= end {
            now = max(now, next)
            agent.handleTimeout(now: now)
        }
        now = end
    }

    mutating func deliver(_ message: STUNMessage, key: [UInt8]?, from source: TransportAddress? = nil) throws {
        let bytes = try message.encoded(integrityKey: key)
        agent.handle(datagram: bytes.span.bytes, from: source ?? address, to: base, now: now)
    }

    /// A request as a full agent sends it.
    mutating func request(
        _ attributes: [Attribute], username: String? = nil, password: String? = nil,
        from source: TransportAddress? = nil
    ) throws -> TransactionID {
        let id = TransactionID(using: &generator)
        let local = agent.localCredentials
        let name = username ?? "\(local.usernameFragment):\(credentials.usernameFragment)"
        let message = STUNMessage(
            .request, transactionID: id, attributes: [.username(name), .priority(1_862_270_975)] + attributes)
        try deliver(message, key: Array((password ?? local.password).utf8), from: source)
        return id
    }

    /// Takes and parses the messages that the agent has sent.
    mutating func received() throws -> [(message: STUNMessage, destination: TransportAddress)] {
        var messages: [(STUNMessage, TransportAddress)] = []
        while let transmit = agent.pollTransmit() {
            messages.append((try STUNMessage(parsing: transmit.bytes.span.bytes), transmit.destination))
        }
        return messages
    }

    /// The agent's checks, each answered with success.
    @discardableResult
    mutating func answerChecks(mapped: TransportAddress? = nil, from source: TransportAddress? = nil) throws
        -> [STUNMessage]
    {
        let checks = try received().filter { $0.message.messageClass == .request }
        for (check, destination) in checks {
            #expect(check.isAuthentic(key: Array(credentials.password.utf8)))
            try deliver(
                STUNMessage(
                    .successResponse, transactionID: check.transactionID,
                    attributes: [.xorMappedAddress(mapped ?? base)]),
                key: Array(credentials.password.utf8), from: source ?? destination)
        }
        return checks.map(\.message)
    }
}
