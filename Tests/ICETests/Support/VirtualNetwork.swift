import RTCShareICE
import RTCShareSTUN
import RTCShareWireFormat

/// A generator whose numbers follow from its seed alone.
struct SeededGenerator: RandomNumberGenerator, Sendable {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var value = state
        value = (value ^ (value >> 30)) &* 0xBF58_476D_1CE4_E5B9
        value = (value ^ (value >> 27)) &* 0x94D0_49BB_1331_11EB
        return value ^ (value >> 31)
    }
}

/// Two agents and the wires between them, in virtual time.
struct VirtualNetwork {
    /// A translator that gives one inside address an outside one, and lets in only what was sent to first.
    struct Translation {
        let inside: TransportAddress
        let outside: TransportAddress
        var permitted: Set<IPAddress> = []
    }

    private struct Flight {
        let arrival: Instant
        let source: TransportAddress
        let destination: TransportAddress
        let bytes: [UInt8]
        var transport = TransportProtocol.udp
    }

    var agents: [Agent]
    var bases: [[TransportAddress]] = [[], []]
    var now = Instant(nanoseconds: 0)
    var delay: Duration = .milliseconds(10)
    var loss = 0.0
    /// Destinations that nothing reaches.
    var blocked: Set<TransportAddress> = []
    /// Addresses from which nothing arrives.
    var muted: Set<TransportAddress> = []
    var isSevered = false
    var translations: [Translation] = []
    var stunServer: TransportAddress?
    var turnServers: [TURNServerModel] = []
    /// Datagrams between sockets are lost: only what relays and streams carry arrives.
    var blocksDirectPaths = false
    /// Application data that arrived, by the agent that it came to.
    var received: [[[UInt8]]] = [[], []]
    var events: [[AgentEvent]] = [[], []]
    var connectedAt: [Instant?] = [nil, nil]
    var sent = [0, 0]
    private var flights: [Flight] = []
    private var generator: SeededGenerator

    init(
        roles: [Role] = [.controlling, .controlled], seed: UInt64 = 1, timing: Timing = Timing(),
        policy: [ICETransportPolicy] = [.all, .all]
    ) {
        generator = SeededGenerator(seed: seed)
        agents = roles.enumerated().map { index, role in
            var own = SeededGenerator(seed: seed &* 31 &+ UInt64(index))
            var configuration = Configuration(role: role, credentials: .random(using: &own))
            configuration.timing = timing
            configuration.iceTransportPolicy = policy[index]
            return Agent(configuration: configuration, generator: own)
        }
    }

    mutating func addHost(_ agent: Int, _ text: String, port: UInt16 = 4000, interfaceOrder: Int = 0) {
        guard let address = TransportAddress(text, port: port) else { return }
        bases[agent].append(address)
        agents[agent].addLocalHost(address, interfaceOrder: interfaceOrder, now: now)
    }

    /// Gives `agent` the other's credentials and, unless told otherwise, candidates.
    mutating func introduce(_ agent: Int, withCandidates: Bool = true) {
        let other = agents[1 - agent]
        agents[agent].setRemote(credentials: other.localCredentials, now: now)
        guard withCandidates else { return }
        for candidate in other.localCandidates { announce(candidate, to: agent) }
        agents[agent].endOfRemoteCandidates(now: now)
    }

    mutating func announce(_ candidate: Candidate, to agent: Int) {
        agents[agent].addRemoteCandidate(
            foundation: candidate.foundation, component: 1, transport: candidate.transport.rawValue,
            priority: candidate.priority,
            address: candidate.address, type: candidate.type.rawValue, now: now)
    }

    /// Runs until `duration` has passed or `isDone` says so.
    mutating func run(_ duration: Duration, until isDone: (VirtualNetwork) -> Bool = { _ in false }) {
        let end = now.advanced(by: duration)
        var steps = 0
        while steps < 200_000 {
            steps += 1
            drain()
            if isDone(self) { return }
            let deadlines = agents.compactMap(\.nextDeadline) + flights.map(\.arrival)
            guard let next = deadlines.min(), next <= end else { break }
            now = max(now, next)
            deliver()
            for index in agents.indices where agents[index].nextDeadline.map({ $0 <= now }) ?? false {
                agents[index].handleTimeout(now: now)
            }
        }
        now = max(now, end)
        drain()
    }

    var areConnected: Bool { agents.allSatisfy { $0.state == .connected } }

    var areNominated: Bool { agents.allSatisfy { $0.selectedPair?.isNominated ?? false } }

    private mutating func drain() {
        for index in agents.indices {
            while let transmit = agents[index].pollTransmit() {
                sent[index] += 1
                launch(transmit)
            }
            while let event = agents[index].pollEvent() {
                events[index].append(event)
                if event == .stateChanged(.connected), connectedAt[index] == nil { connectedAt[index] = now }
            }
        }
    }

    private mutating func launch(_ transmit: Transmit) {
        var source = transmit.base
        guard transmit.transport == .udp else { return launchStream(transmit) }
        if let index = translations.firstIndex(where: { $0.inside == source }) {
            translations[index].permitted.insert(transmit.destination.ip)
            source = translations[index].outside
        }
        guard !isSevered, !blocked.contains(transmit.destination), !muted.contains(source) else { return }
        guard loss == 0 || Double.random(in: 0..<1, using: &generator) >= loss else { return }
        flights.append(
            Flight(
                arrival: now.advanced(by: delay), source: source, destination: transmit.destination,
                bytes: transmit.bytes))
    }

    /// Delivers data of a stream to a TURN server; other destinations refuse the connection.
    private mutating func launchStream(_ transmit: Transmit) {
        let isServed = turnServers.contains { $0.address == transmit.destination && $0.transport == transmit.transport }
        guard isServed, !isSevered, !blocked.contains(transmit.destination) else {
            for index in agents.indices where bases[index].contains(transmit.base) {
                agents[index].transmitFailed(
                    base: transmit.base, destination: transmit.destination, over: transmit.transport, now: now)
            }
            return
        }
        flights.append(
            Flight(
                arrival: now.advanced(by: delay), source: transmit.base, destination: transmit.destination,
                bytes: transmit.bytes, transport: transmit.transport))
    }

    /// Takes in what arrived at an agent, and keeps what is no STUN message.
    mutating func deliver(
        _ bytes: [UInt8], from source: TransportAddress, to destination: TransportAddress,
        over transport: TransportProtocol = .udp, agent index: Int
    ) {
        switch agents[index].unwrap(bytes.span.bytes, from: source, to: destination, over: transport, now: now) {
        case .consumed: return
        case .message(let peer, let base, let payload):
            let message = Array(bytes[payload])
            if STUNMessage.isSTUN(message.span.bytes) {
                agents[index].handle(message: message.span.bytes, from: peer, to: base, now: now)
            } else {
                received[index].append(message)
            }
        }
    }

    /// Has an agent send application data on its media path, as a peer connection does.
    @discardableResult
    mutating func sendMedia(_ payload: [UInt8], from agent: Int) -> MediaPath? {
        guard let path = agents[agent].nextMediaPath() else { return nil }
        let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: 1280, alignment: 16)
        defer { memory.deallocate() }
        UnsafeMutableRawBufferPointer(rebasing: memory[path.envelope.prefixByteCount...]).copyBytes(from: payload)
        guard let count = path.envelope.complete(memory, payloadByteCount: payload.count) else { return nil }
        launch(
            Transmit(
                base: path.base, destination: path.destination, bytes: Array(memory[..<count]),
                transport: path.transport))
        return path
    }

    /// Takes TURN servers' and streams' share of what arrived; false where it is a datagram between sockets.
    private mutating func deliverElsewhere(_ flight: Flight) -> Bool {
        for index in turnServers.indices {
            let outputs: [TURNServerModel.Output]
            if turnServers[index].address == flight.destination, turnServers[index].transport == flight.transport {
                outputs = turnServers[index].receive(
                    flight.bytes, from: .init(address: flight.source, transport: flight.transport), now: now)
            } else if turnServers[index].owns(flight.destination), !bases.joined().contains(flight.destination) {
                outputs = turnServers[index].receive(
                    flight.bytes, from: flight.source, at: flight.destination, now: now)
            } else {
                continue
            }
            for output in outputs where !isSevered {
                flights.append(
                    Flight(
                        arrival: now.advanced(by: delay), source: output.source, destination: output.destination,
                        bytes: output.bytes, transport: output.transport))
            }
            return true
        }
        guard flight.transport.isStream else { return false }
        guard let index = bases.firstIndex(where: { $0.contains(flight.destination) }) else { return true }
        deliver(flight.bytes, from: flight.source, to: flight.destination, over: flight.transport, agent: index)
        return true
    }

    private mutating func deliver() {
        let arrived = flights.filter { $0.arrival <= now }
        flights.removeAll { $0.arrival <= now }
        for flight in arrived {
            if flight.destination == stunServer {
                answer(flight)
                continue
            }
            if deliverElsewhere(flight) { continue }
            let isRelayed = turnServers.contains { $0.owns(flight.source) || $0.address == flight.source }
            if blocksDirectPaths, !isRelayed { continue }
            var destination = flight.destination
            if let translation = translations.first(where: { $0.outside == destination }) {
                guard translation.permitted.contains(flight.source.ip) else { continue }
                destination = translation.inside
            } else if translations.contains(where: { $0.inside == destination }) {
                continue
            }
            guard let index = bases.firstIndex(where: { $0.contains(destination) }) else { continue }
            deliver(flight.bytes, from: flight.source, to: destination, agent: index)
        }
    }

    private mutating func answer(_ flight: Flight) {
        guard let request = try? STUNMessage(parsing: flight.bytes.span.bytes), request.messageClass == .request,
            let bytes = try? STUNMessage(
                .successResponse, transactionID: request.transactionID,
                attributes: [.xorMappedAddress(flight.source)]
            ).encoded()
        else { return }
        launch(Transmit(base: flight.destination, destination: flight.source, bytes: bytes))
    }
}
