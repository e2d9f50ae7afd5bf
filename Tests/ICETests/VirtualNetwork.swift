import ICE
import STUN
import WireFormat

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
    }

    var agents: [Agent]
    var bases: [[TransportAddress]] = [[], []]
    var now = Instant(nanoseconds: 0)
    var delay: Duration = .milliseconds(10)
    var loss = 0.0
    /// Destinations that nothing reaches.
    var blocked: Set<TransportAddress> = []
    var isSevered = false
    var translations: [Translation] = []
    var stunServer: TransportAddress?
    var events: [[AgentEvent]] = [[], []]
    var connectedAt: [Instant?] = [nil, nil]
    var sent = [0, 0]
    private var flights: [Flight] = []
    private var generator: SeededGenerator

    init(roles: [Role] = [.controlling, .controlled], seed: UInt64 = 1, timing: Timing = Timing()) {
        generator = SeededGenerator(seed: seed)
        agents = roles.enumerated().map { index, role in
            var own = SeededGenerator(seed: seed &* 31 &+ UInt64(index))
            var configuration = Configuration(role: role, credentials: .random(using: &own))
            configuration.timing = timing
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
            foundation: candidate.foundation, component: 1, transport: "udp", priority: candidate.priority,
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
        if let index = translations.firstIndex(where: { $0.inside == source }) {
            translations[index].permitted.insert(transmit.destination.ip)
            source = translations[index].outside
        }
        guard !isSevered, !blocked.contains(transmit.destination) else { return }
        guard loss == 0 || Double.random(in: 0..<1, using: &generator) >= loss else { return }
        flights.append(
            Flight(
                arrival: now.advanced(by: delay), source: source, destination: transmit.destination,
                bytes: transmit.bytes))
    }

    private mutating func deliver() {
        let arrived = flights.filter { $0.arrival <= now }
        flights.removeAll { $0.arrival <= now }
        for flight in arrived {
            if flight.destination == stunServer {
                answer(flight)
                continue
            }
            var destination = flight.destination
            if let translation = translations.first(where: { $0.outside == destination }) {
                guard translation.permitted.contains(flight.source.ip) else { continue }
                destination = translation.inside
            } else if translations.contains(where: { $0.inside == destination }) {
                continue
            }
            guard let index = bases.firstIndex(where: { $0.contains(destination) }) else { continue }
            agents[index].handle(
                datagram: flight.bytes.span.bytes, from: flight.source, to: destination, now: now)
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
