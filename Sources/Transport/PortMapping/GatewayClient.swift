internal import RTCShareWireFormat

/// The requests to a router's PCP or NAT-PMP server for any number of ports, without I/O.
///
/// ```
///            open            answer                        half of the lifetime
///   (none) ──────► asked ───────────► open, until … ──────────────────────────► asked again
///                    │ silence or a refusal                                        │
///                    ▼                                                             ▼
///                 (none)                                      open, and asked again within a minute
/// ```
/// One request is pending at a time. PCP comes first. A router that answers by NAT-PMP gets further requests by that.
struct GatewayClient: Sendable {
    /// The reason why a request failed.
    enum Failure: Error, Hashable {
        /// The router did not answer in time.
        case silence
        case refused(PortMappingProtocol, PortMappingRefusal)
    }

    /// The outcome of a request.
    enum Event: Hashable, Sendable {
        /// The router forwards the port, or still forwards it.
        case opened(ForwardedPort, at: TransportAddress)
        case failed(ForwardedPort, Failure)
        /// The router was asked to forward the port no longer.
        case released(ForwardedPort)
    }

    private struct Entry {
        let port: ForwardedPort
        let nonceHigh: UInt32
        let nonceLow: UInt64
        /// Nil until the router forwards the port.
        var outside: TransportAddress?
        var expiry = Instant.distantFuture
        /// The time of the next request.
        var due: Instant
        /// Whether the router may have mapped the port without an answer that arrived.
        var isAsked = false
        var isLeaving = false
    }

    private enum Step: Hashable {
        case pcp(PCPMapRequest)
        case natPMPAddress
        case natPMPMap(NATPMPRequest, outside: IPAddress)
    }

    private struct Exchange {
        let port: ForwardedPort
        var step: Step
        var transmissions = 0
        var next: Instant
        var wait = GatewayClient.firstWait
        let end: Instant
    }

    /// The requested lifetime of a mapping in seconds. It is short, because a program that is killed can't release its
    /// mappings, and because a router that restarts forgets them until the next request.
    static let lifetime: UInt32 = 600
    /// The time before the first retransmission, which doubles from then on (RFC 6886 §3.1). PCP's 3 seconds are too
    /// long for a person who waits.
    static let firstWait = Duration.milliseconds(250)
    /// The time after which a request has failed.
    static let patience = Duration.seconds(2)
    /// The shortest and the longest time until a failed renewal is tried again (RFC 6887 §11.2.1 has the first).
    private static let (shortestRetry, longestRetry) = (Duration.seconds(4), Duration.seconds(60))
    /// The shortest time until a renewal.
    private static let shortestRenewal = Duration.seconds(1)
    /// The time after a restart of the router in which its epoch reveals no other.
    private static let restartPause = Duration.seconds(10)

    /// The protocol that the router has answered by; nil before.
    private(set) var method: PortMappingProtocol?
    private let local: IPAddress
    private var generator: any RandomNumberGenerator & Sendable
    private var entries: [Entry] = []
    private var exchange: Exchange?
    /// The router's epoch time, with the time at which it arrived.
    private var epoch: (server: UInt32, arrival: Instant)?
    /// The time at which the epoch last revealed a restart of the router.
    private var restart: Instant?
    private var transmits: [[UInt8]] = []
    private var events: [Event] = []

    init(local: IPAddress, generator: any RandomNumberGenerator & Sendable) {
        (self.local, self.generator) = (local, generator)
    }

    // MARK: Input

    /// Asks the router to forward a port until ``release(now:)``. A port that is forwarded already is renewed now.
    mutating func open(_ port: ForwardedPort, now: Instant) {
        if let index = entries.firstIndex(where: { $0.port == port }) {
            entries[index].due = now
            return advance(now: now)
        }
        entries.append(
            Entry(
                port: port, nonceHigh: .random(in: 0 ... .max, using: &generator),
                nonceLow: .random(in: 0 ... .max, using: &generator), due: now))
        advance(now: now)
    }

    /// Asks the router to forward no port any more.
    mutating func release(now: Instant) {
        exchange = nil
        entries.removeAll { $0.outside == nil && !$0.isAsked }
        for index in entries.indices {
            entries[index].isLeaving = true
            entries[index].due = now
        }
        advance(now: now)
    }

    /// Processes a datagram from the router.
    mutating func receive(_ bytes: RawSpan, now: Instant) {
        if let answer = NATPMPAnswer(parsing: bytes) {
            receive(answer, now: now)
        } else if let answer = PCPAnswer(parsing: bytes) {
            receive(answer, now: now)
        }
        advance(now: now)
    }

    /// Sends, repeats and ends requests whose time has come.
    mutating func advance(now: Instant) {
        while true {
            if let current = exchange {
                if current.end <= now {
                    fail(.silence, now: now)
                } else if current.next <= now {
                    transmit(now: now)
                    return
                } else {
                    return
                }
            } else if let entry = entries.filter({ $0.due <= now }).min(by: { $0.due < $1.due }) {
                exchange = Exchange(
                    port: entry.port, step: firstStep(of: entry), next: now, end: now.advanced(by: Self.patience))
            } else {
                return
            }
        }
    }

    // MARK: Output

    /// The time of the next ``advance(now:)``; nil if there is nothing to do.
    var nextDeadline: Instant? {
        exchange.map { min($0.next, $0.end) } ?? entries.map(\.due).min()
    }

    /// Returns the next datagram to the router.
    mutating func pollTransmit() -> [UInt8]? { transmits.isEmpty ? nil : transmits.removeFirst() }

    /// Returns the next event.
    mutating func pollEvent() -> Event? { events.isEmpty ? nil : events.removeFirst() }

    // MARK: Requests

    private func firstStep(of entry: Entry) -> Step {
        if method != .natPMP { return .pcp(pcpRequest(of: entry)) }
        guard entry.isLeaving else { return .natPMPAddress }
        return .natPMPMap(.map(entry.port, outside: 0, lifetime: 0), outside: entry.outside?.ip ?? .v4(0))
    }

    private func pcpRequest(of entry: Entry) -> PCPMapRequest {
        PCPMapRequest(
            nonceHigh: entry.nonceHigh, nonceLow: entry.nonceLow, port: entry.port, client: local,
            suggested: entry.isLeaving
                ? nil : entry.outside ?? TransportAddress(ip: .v4(0), port: entry.port.number),
            lifetime: entry.isLeaving ? 0 : Self.lifetime)
    }

    private mutating func transmit(now: Instant) {
        guard var current = exchange else { return }
        if let index = entries.firstIndex(where: { $0.port == current.port }) { entries[index].isAsked = true }
        switch current.step {
        case .pcp(let request):
            transmits.append(request.encoded)
            // Some routers with NAT-PMP ignore other versions.
            if method == nil, current.transmissions > 0 { transmits.append(NATPMPRequest.outsideAddress.encoded) }
        case .natPMPAddress: transmits.append(NATPMPRequest.outsideAddress.encoded)
        case .natPMPMap(let request, _): transmits.append(request.encoded)
        }
        current.transmissions += 1
        current.next = now.advanced(by: current.wait)
        current.wait *= 2
        exchange = current
    }

    /// Continues an exchange with another request.
    private mutating func proceed(to step: Step, now: Instant) {
        exchange?.step = step
        exchange?.transmissions = 0
        exchange?.next = now
        exchange?.wait = Self.firstWait
    }

    // MARK: Answers

    private mutating func receive(_ answer: PCPAnswer, now: Instant) {
        guard case .pcp(let request) = exchange?.step else { return }
        switch answer {
        case .unsupportedVersion:
            // Without the request's nonce, it counts only before the router has answered.
            if method == nil { fail(.refused(.pcp, .unsupported), now: now) }
        case .refused(let code, let mapping, _, let epoch):
            guard mapping.answers(request) else { return }
            method = .pcp
            note(epoch, now: now)
            fail(.refused(.pcp, PortMappingRefusal(pcp: code)), now: now)
        case .mapped(let mapping, let lifetime, let epoch):
            guard mapping.answers(request) else { return }
            method = .pcp
            note(epoch, now: now)
            succeed(at: mapping.outside, lifetime: lifetime, now: now)
        }
    }

    private mutating func receive(_ answer: NATPMPAnswer, now: Instant) {
        guard let current = exchange, let entry = entries.first(where: { $0.port == current.port }) else { return }
        switch current.step {
        case .pcp:
            if method == nil, answer.isUnsupportedVersion {
                method = .natPMP
                // The epoch of PCP, if there was one, was another server's.
                epoch = nil
                return proceed(to: firstStep(of: entry), now: now)
            }
            // The answer to the second request of a router that has not answered the first one.
            guard method == nil, current.transmissions > 1, answer.operation == NATPMPRequest.outsideAddress.operation
            else { return }
            method = .natPMP
            finishAddress(answer, of: entry, now: now)
        case .natPMPAddress:
            guard answer.operation == NATPMPRequest.outsideAddress.operation else { return }
            finishAddress(answer, of: entry, now: now)
        case .natPMPMap(let request, let outside):
            guard answer.operation == request.operation else { return }
            switch answer.content {
            case .outsideAddress: return
            case .refused(let code): fail(.refused(.natPMP, PortMappingRefusal(natPMP: code)), now: now)
            case .mapped(let inside, let port, let lifetime):
                guard inside == entry.port.number else { return }
                note(answer.epoch, now: now)
                succeed(at: TransportAddress(ip: outside, port: port), lifetime: lifetime, now: now)
            }
        }
    }

    private mutating func finishAddress(_ answer: NATPMPAnswer, of entry: Entry, now: Instant) {
        switch answer.content {
        case .mapped: return
        case .refused(let code): fail(.refused(.natPMP, PortMappingRefusal(natPMP: code)), now: now)
        case .outsideAddress(let address):
            note(answer.epoch, now: now)
            let request = NATPMPRequest.map(
                entry.port, outside: entry.outside?.port ?? entry.port.number, lifetime: Self.lifetime)
            proceed(to: .natPMPMap(request, outside: address), now: now)
        }
    }

    private mutating func succeed(at outside: TransportAddress, lifetime: UInt32, now: Instant) {
        guard let index = entries.firstIndex(where: { $0.port == exchange?.port }) else { return }
        if entries[index].isLeaving { return leave(index) }
        guard outside.ip.canBeOutside, outside.port != 0 else {
            return fail(.refused(method ?? .pcp, .noOutsideAddress), now: now)
        }
        guard lifetime > 0 else { return fail(.refused(method ?? .pcp, .noResources), now: now) }
        exchange = nil
        entries[index].outside = outside
        entries[index].expiry = now.advanced(by: .seconds(Int64(lifetime)))
        // RFC 6887 §11.2.1. A longer lifetime than the requested one is not waited for: the router can restart.
        let renewal = Duration.seconds(Int64(min(lifetime, Self.lifetime))) / 2
        entries[index].due = now.advanced(by: max(renewal, Self.shortestRenewal))
        events.append(.opened(entries[index].port, at: outside))
    }

    private mutating func fail(_ failure: Failure, now: Instant) {
        guard let index = entries.firstIndex(where: { $0.port == exchange?.port }) else { return }
        exchange = nil
        if entries[index].isLeaving {
            guard failure == .silence else { return leave(index) }
            // A router that is silent now would be silent for the others.
            events += entries.map { .released($0.port) }
            entries = []
            return
        }
        let port = entries[index].port
        let rest = entries[index].expiry - now
        // A lost answer ends nothing before the lifetime has passed.
        if failure != .silence || entries[index].outside == nil || rest <= .zero {
            events.append(.failed(port, failure))
        }
        guard entries[index].outside != nil else {
            entries.remove(at: index)
            return
        }
        // Another router may have replaced this one.
        if failure == .silence, rest <= .zero { method = nil }
        let wait = rest > .zero ? min(max(rest / 2, Self.shortestRetry), Self.longestRetry) : Self.longestRetry
        entries[index].due = now.advanced(by: wait)
    }

    private mutating func leave(_ index: Int) {
        exchange = nil
        events.append(.released(entries.remove(at: index).port))
    }

    // MARK: Epochs

    /// Records the router's epoch time. If the router has lost its mappings since the last answer, all are requested
    /// again.
    private mutating func note(_ server: UInt32, now: Instant) {
        defer { epoch = (server, now) }
        guard let epoch, !Self.isContinuous(from: epoch, to: (server, now), method) else { return }
        if let restart, now - restart < Self.restartPause { return }
        restart = now
        for index in entries.indices where entries[index].outside != nil && entries[index].port != exchange?.port {
            entries[index].due = now
        }
    }

    /// Returns whether a router's epoch time has advanced like the clock (RFC 6887 §8.5, RFC 6886 §3.6).
    private static func isContinuous(
        from former: (server: UInt32, arrival: Instant), to current: (server: UInt32, arrival: Instant),
        _ method: PortMappingProtocol?
    ) -> Bool {
        let server = Double(current.server) - Double(former.server)
        let client = (current.arrival - former.arrival).seconds
        if method == .natPMP { return server + 2 >= client * 7 / 8 }
        return server >= -1 && client + 2 >= server - server / 16 && server + 2 >= client - client / 16
    }
}
