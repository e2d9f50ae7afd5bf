import RTCShareICE
import RTCShareSTUN
import RTCShareWireFormat
import Testing

/// An allocation and the other end of its wire, in virtual time: the test reads each request and writes each answer.
struct ScriptedTURNServer {
    static let username = "ann"
    static let password = "correct horse"
    static let realm = "relay.example"

    var allocation: TURNAllocation
    var now = Instant(nanoseconds: 0)
    var nonce = Array("nonce 1".utf8)
    var events: [TURNEvent] = []
    let address: TransportAddress
    let relayed: TransportAddress
    let reflexive: TransportAddress
    let peer: TransportAddress

    init(transport: TransportProtocol = .udp, change: (inout TURNConfiguration) -> Void = { _ in }) throws {
        address = try #require(TransportAddress("192.0.2.1", port: 3478))
        relayed = try #require(TransportAddress("192.0.2.1", port: 50_000))
        reflexive = try #require(TransportAddress("198.51.100.7", port: 4000))
        peer = try #require(TransportAddress("203.0.113.9", port: 9000))
        let credentials = try #require(LongTermCredentials(username: Self.username, password: Self.password))
        var configuration = TURNConfiguration(server: address, transport: transport, credentials: credentials)
        change(&configuration)
        allocation = TURNAllocation(configuration: configuration, generator: SeededGenerator(seed: 7))
    }

    static func key() throws -> [UInt8] {
        try STUNMessage.longTermKey(username: username, realm: realm, password: password)
    }

    /// All that the allocation sent.
    mutating func sent() -> [TURNTransmit] {
        var transmits: [TURNTransmit] = []
        while let transmit = allocation.pollTransmit() { transmits.append(transmit) }
        while let event = allocation.pollEvent() { events.append(event) }
        return transmits
    }

    mutating func messages() throws -> [STUNMessage] {
        try sent().map { try STUNMessage(parsing: $0.bytes.span.bytes) }
    }

    /// The only message that the allocation sent.
    mutating func message(sourceLocation: SourceLocation = #_sourceLocation) throws -> STUNMessage {
        let messages = try messages()
        #expect(messages.count == 1, sourceLocation: sourceLocation)
        return try #require(messages.first, sourceLocation: sourceLocation)
    }

    @discardableResult
    mutating func deliver(_ bytes: [UInt8], from source: TransportAddress? = nil) -> RelayedData? {
        let data = allocation.handle(bytes.span.bytes, from: source ?? allocation.server, now: now)
        while let event = allocation.pollEvent() { events.append(event) }
        return data
    }

    mutating func answer(_ request: STUNMessage, _ attributes: [Attribute] = []) throws {
        let message = STUNMessage(
            .successResponse, method: request.method, transactionID: request.transactionID, attributes: attributes)
        deliver(try message.encoded(integrityKey: Self.key()))
    }

    mutating func refuse(_ request: STUNMessage, _ code: Int, _ attributes: [Attribute] = []) throws {
        let message = STUNMessage(
            .errorResponse, method: request.method, transactionID: request.transactionID,
            attributes: [.errorCode(ErrorCode(code: code, reason: "Words"))] + attributes)
        deliver(try message.encoded())
    }

    mutating func challenge(_ request: STUNMessage, code: Int = 401) throws {
        try refuse(request, code, [.realm(Self.realm), .nonce(nonce)])
    }

    /// Goes through the allocation with its challenge.
    mutating func allocate(lifetime: Duration = .seconds(600)) throws {
        allocation.start(now: now)
        try challenge(message())
        try answer(
            message(), [.xorRelayedAddress(relayed), .xorMappedAddress(reflexive), .lifetime(lifetime)])
        #expect(allocation.state == .allocated(relayed: relayed, reflexive: reflexive))
    }

    /// Lets time pass, deadline after deadline, and returns what was sent and when.
    mutating func wait(_ duration: Duration) throws -> [(at: Duration, message: STUNMessage)] {
        let end = now.advanced(by: duration)
        let start = now
        var log: [(at: Duration, message: STUNMessage)] = []
        while let deadline = allocation.nextDeadline, deadline <= end {
            now = max(now, deadline)
            allocation.handleTimeout(now: now)
            for message in try messages() { log.append((now - start, message)) }
        }
        now = end
        return log
    }

    /// Lets time pass, with every request answered as a good server does; returns the requests.
    mutating func serve(_ duration: Duration) throws -> [(at: Duration, message: STUNMessage)] {
        let end = now.advanced(by: duration)
        let start = now
        var log: [(at: Duration, message: STUNMessage)] = []
        while let deadline = allocation.nextDeadline, deadline <= end {
            now = max(now, deadline)
            allocation.handleTimeout(now: now)
            for message in try messages() {
                log.append((now - start, message))
                try answer(message, message.method == .refresh ? [.lifetime(.seconds(600))] : [])
            }
        }
        now = end
        return log
    }
}
