import RTCShareSTUN
import RTCShareWireFormat

/// An allocation at a TURN server, asked for from one base, and the relayed address that it gives.
///
///              its time comes           allocated
///     waiting ────────────────▶ asking ───────────▶ relaying
///        ▲                         │ refused            │ lost
///        │                         └─────▶ failed ◀─────┘
///        └── revived, where it was lost ─────┘
///     abandoned, from each, once its base is gone
struct Relay: Sendable {
    private(set) var server: ICEServerAddress
    let base: Agent.Base
    private(set) var allocation: TURNAllocation
    /// When it begins; nil once it has.
    private(set) var start: Instant?
    /// The base of the relayed candidate, while there is one.
    private(set) var relayed: TransportAddress?
    /// Whether its base is gone: another may take its place.
    private(set) var isAbandoned = false
    /// Where a server over a stream sent us to, and the name to ask it for its certificate by.
    private(set) var alternate: (server: TransportAddress, domain: String?)?
    /// What the server sees of us.
    private(set) var mapped: TransportAddress?
    private var error: TURNError?
    /// Whether the system refuses to send to its server, which has not answered yet.
    private var isRefused = false
    /// Whether the other IP version was asked for already, or is of no use.
    private var hasChangedFamily: Bool
    /// How often an allocation that was lost was asked for again.
    private var revivals = 0
    /// When the server granted the address that it relays from.
    private var granted: Instant?
    /// What else its user may be called, for a server that does not accept the credentials it was asked with.
    private var otherCredentials: [LongTermCredentials] = []
    /// When the binding of translators on the way is next kept alive.
    private var keepalive: Instant?

    /// Each waits twice as long as the one before.
    private static let revivalLimit = 5
    /// How long an allocation has to last for its loss to count as the first.
    private static let stableLifetime = Duration.seconds(60)
    private static let credentialsLimit = 4

    /// One that begins at a time; `mayChangeFamily`: where the server has no address of its IP version, the other one is
    /// asked for.
    init(
        server: ICEServerAddress, base: Agent.Base, allocation: TURNAllocation, start: Instant,
        mayChangeFamily: Bool = true
    ) {
        self.server = server
        self.base = base
        self.allocation = allocation
        self.start = start
        hasChangedFamily = !mayChangeFamily
    }

    var transport: TransportProtocol { server.transport }

    /// Whether gathering need not wait for it any longer.
    var isSettled: Bool { relayed != nil || error != nil || isRefused || isAbandoned }

    private var hasBegun: Bool { start == nil && !isAbandoned }

    /// Whether its server gave nothing, and is not asked any more.
    var hasFailed: Bool { error != nil && !isAbandoned }

    var deadline: Instant? {
        if isAbandoned { return nil }
        if let start { return start }
        return [allocation.nextDeadline, keepalive].compactMap { $0 }.min()
    }

    /// Whether what came this way came from its server.
    func isServer(_ source: TransportAddress, at local: TransportAddress, over transport: TransportProtocol) -> Bool {
        hasBegun && source == allocation.server && local == base.address && transport == self.transport
    }

    /// Whether it goes from the same port to the same server as another, as where two URLs lead there.
    func sharesPort(with other: Relay) -> Bool {
        other.base.address == base.address && other.transport == transport && other.error == nil
            && other.allocation.server == allocation.server && !other.isAbandoned
    }

    var report: ServerReport {
        let failure = error ?? (isRefused ? .connectionLost(transport) : nil)
        return ServerReport(
            server: server, base: base.address,
            outcome: failure.map { .failed(.relay($0)) } ?? (relayed == nil ? .waiting : .answered),
            mappedAddress: mapped, relayedAddress: relayed, lifetime: relayed == nil ? nil : allocation.lifetime,
            roundTripTime: allocation.roundTripTime, alternateServer: alternate?.server)
    }

    // MARK: Its life

    /// Begins once its time has come, and does what is due; returns whether it has begun.
    mutating func advance(now: Instant) -> Bool {
        guard !isAbandoned else { return false }
        if let start {
            guard start <= now else { return false }
            self.start = nil
            allocation.start(now: now)
        }
        if let due = allocation.nextDeadline, due <= now { allocation.handleTimeout(now: now) }
        return true
    }

    /// What its server told, once it is noted here.
    mutating func pollEvent(now: Instant) -> TURNEvent? {
        let event = allocation.pollEvent()
        switch event {
        case .allocated(_, let reflexive): mapped = reflexive
        case .redirected(let other, let domain):
            alternate = (other, domain)
            // Over a stream the first transmit to the other server opens the connection there.
            if transport.isStream { allocation.start(now: now) }
        default: break
        }
        return event
    }

    /// What it has to say to its server next.
    mutating func pollTransmit() -> Transmit? {
        allocation.pollTransmit().map { transmit in
            Transmit(
                base: base.address, destination: transmit.server, bytes: transmit.bytes, transport: transport,
                isForRelay: true)
        }
    }

    /// Its address is made a candidate; over UDP the binding on the way to its server is kept alive from then on.
    mutating func relays(from address: TransportAddress, keepalive: Instant, now: Instant) {
        relayed = address
        granted = now
        if transport == .udp { self.keepalive = keepalive }
    }

    /// Whether the binding on the way to its server is to be kept alive now; the next time is `next`.
    mutating func takeKeepalive(now: Instant, next: Instant) -> Bool {
        guard let due = keepalive, due <= now else { return false }
        keepalive = next
        return true
    }

    /// The IP version to ask for instead, where its server has none of the one that was asked for: an address of another
    /// version is better than none.
    func otherFamily(after error: TURNError) -> AddressFamily? {
        guard error == .unsupportedAddressFamily, !hasChangedFamily else { return nil }
        return allocation.configuration.family == .v4 ? .v6 : .v4
    }

    /// Asks for an address of another IP version.
    mutating func changeFamily(by other: TURNAllocation, now: Instant) {
        hasChangedFamily = true
        allocation = other
        allocation.start(now: now)
    }

    /// It could not be had, or is lost; returns the relayed address that is gone with it.
    mutating func end(_ error: TURNError) -> TransportAddress? {
        self.error = error
        keepalive = nil
        return relayed.take()
    }

    /// Whether to ask again by itself after this: the server granted an allocation once, and it or the way to it may be
    /// back in a while.
    func isRevivable(after error: TURNError, now: Instant) -> Bool {
        guard granted != nil || revivals > 0, revivals(now: now) < Self.revivalLimit else { return false }
        return switch error {
        // A server that has lost a connection may count its allocation for a while.
        case .allocationLost, .connectionLost, .unreachable, .quotaReached, .serverFull: true
        default: false
        }
    }

    /// How often the allocation was asked for again since it last stood for a while.
    private func revivals(now: Instant) -> Int {
        granted.map { now - $0 >= Self.stableLifetime } ?? false ? 0 : revivals
    }

    /// Asks again in a while; what the server gives then is told as a new candidate.
    mutating func revive(by other: TURNAllocation, now: Instant) {
        let count = revivals(now: now)
        ask(by: other, at: now.advanced(by: .seconds(1 << count)))
        revivals = count + 1
    }

    /// Asks again, after it has failed, by an allocation that has not begun.
    mutating func ask(by other: TURNAllocation, at start: Instant) {
        (allocation, self.start) = (other, start)
        (error, alternate, granted) = (nil, nil, nil)
        isRefused = false
    }

    /// Notes other credentials for the same server, to be tried where it does not accept those before.
    mutating func add(_ credentials: LongTermCredentials) {
        guard server.kind != .turn(credentials), !otherCredentials.contains(credentials),
            otherCredentials.count < Self.credentialsLimit
        else { return }
        otherCredentials.append(credentials)
    }

    /// Takes the next credentials in place of those that its server does not accept; nil where there are none.
    mutating func takeOtherCredentials(after error: TURNError) -> LongTermCredentials? {
        guard case .wrongCredentials = error, !otherCredentials.isEmpty else { return nil }
        let next = otherCredentials.removeFirst()
        server.kind = .turn(next)
        return next
    }

    /// Its port is in use at its server, by an allocation from before: has that given back; false where it can't be.
    mutating func reclaim(now: Instant) -> Bool { allocation.reclaim(now: now) }

    /// Nothing comes back through it: its server is asked whether it still relays.
    mutating func verify(now: Instant) { allocation.verify(now: now) }

    /// The connection to its server ended, or datagrams can't be sent to it: a route can come back, so that those are sent
    /// again as if they were lost. Returns the failure of a server that has not answered, where that is news.
    mutating func transportFailed(now: Instant) -> ServerFailure? {
        guard transport == .udp else {
            allocation.transportFailed(now: now)
            return nil
        }
        guard !isSettled else { return nil }
        isRefused = true
        return ServerFailure(server: server, base: base.address, error: .relay(.connectionLost(transport)))
    }

    /// Gives the relayed address back (RFC 8656 §8), or with `leaving` lets the server keep it for who takes it up: said
    /// once, as nobody waits for the answer.
    mutating func release(leaving: Bool = false, now: Instant) {
        guard hasBegun else { return }
        if leaving { allocation.leave() }
        allocation.release(now: now)
    }

    /// Its base is gone: nothing is asked from it any more. Returns the relayed address that is gone with it.
    mutating func abandon() -> TransportAddress? {
        isAbandoned = true
        return relayed
    }

    /// What is to be remembered of it for another agent to take it up: nothing where it ends with its connection.
    func kept(now: Instant) -> RelayState? {
        guard relayed != nil, let allocation = allocation.kept(now: now) else { return nil }
        var server = server
        server.address = self.allocation.server
        return RelayState(server: server, base: base.address, allocation: allocation)
    }

    // MARK: What goes through it

    /// Lets a peer through (RFC 8656 §9); for one that is `selected`, by a channel (§12).
    mutating func permit(_ peer: TransportAddress, selected: Bool, now: Instant) {
        allocation.permit(peer.ip, now: now)
        if selected { allocation.bind(peer, now: now) }
    }

    /// What came from its server: a peer's bytes, or nil where they were its own and are dealt with.
    mutating func handle(_ bytes: RawSpan, from source: TransportAddress, now: Instant) -> RelayedData? {
        isRefused = false
        return allocation.handle(bytes, from: source, now: now)
    }

    /// Bytes on their way to a peer; nil without a permission for it.
    mutating func enclose(_ bytes: [UInt8], to peer: TransportAddress) -> Transmit? {
        allocation.enclosed(bytes.span.bytes, to: peer).map { message in
            Transmit(
                base: base.address, destination: allocation.server, bytes: message, transport: transport,
                isForRelay: true)
        }
    }

    /// The way of media to a peer; nil without a permission for it.
    mutating func mediaPath(to peer: TransportAddress) -> MediaPath? {
        allocation.envelope(to: peer).map { envelope in
            MediaPath(
                base: base.address, destination: allocation.server, transport: transport, envelope: envelope)
        }
    }
}
