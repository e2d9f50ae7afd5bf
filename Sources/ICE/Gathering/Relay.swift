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
    let server: ICEServerAddress
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
    private var mapped: TransportAddress?
    private var error: TURNError?
    /// Whether the other IP version was asked for already, or is of no use.
    private var hasChangedFamily: Bool
    /// How often a lost allocation was asked for again.
    private var revivals = 0
    /// When the binding of translators on the way is next kept alive.
    private var keepalive: Instant?

    /// Each waits twice as long as the one before.
    private static let revivalLimit = 5

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
    var isSettled: Bool { relayed != nil || error != nil || isAbandoned }

    private var hasBegun: Bool { start == nil && !isAbandoned }

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
        ServerReport(
            server: server, base: base.address,
            outcome: error.map { .failed(.relay($0)) } ?? (relayed == nil ? .waiting : .answered),
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
            Transmit(base: base.address, destination: transmit.server, bytes: transmit.bytes, transport: transport)
        }
    }

    /// Its address is made a candidate; over UDP the binding on the way to its server is kept alive from then on.
    mutating func relays(from address: TransportAddress, keepalive: Instant) {
        relayed = address
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

    /// Whether an allocation that was had is worth asking for again after this: the server may have begun anew.
    func isRevivable(after error: TURNError) -> Bool {
        revivals < Self.revivalLimit && (error == .allocationLost || error == .connectionLost(transport))
    }

    /// Begins anew in a while; what the server gives then is told as a new candidate.
    mutating func revive(by other: TURNAllocation, now: Instant) {
        var revived = Relay(
            server: server, base: base, allocation: other, start: now.advanced(by: .seconds(1 << revivals)),
            mayChangeFamily: !hasChangedFamily)
        revived.revivals = revivals + 1
        self = revived
    }

    /// Its port is in use at its server, by an allocation from before: has that given back; false where it can't be.
    mutating func reclaim(now: Instant) -> Bool { allocation.reclaim(now: now) }

    /// Nothing comes back through it: its server is asked whether it still relays.
    mutating func verify(now: Instant) { allocation.verify(now: now) }

    /// The connection to its server ended, or datagrams can't be sent to it.
    mutating func transportFailed(now: Instant) {
        // A route can come back while an allocation lasts; its next refresh finds out.
        if transport == .udp, relayed != nil { return }
        allocation.transportFailed(now: now)
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
    func kept(now: Instant) -> KeptRelay? {
        guard relayed != nil, let allocation = allocation.kept(now: now) else { return nil }
        var server = server
        server.address = self.allocation.server
        return KeptRelay(server: server, base: base.address, allocation: allocation)
    }

    // MARK: What goes through it

    /// Lets a peer through (RFC 8656 §9); for one that is `selected`, by a channel (§12).
    mutating func permit(_ peer: TransportAddress, selected: Bool, now: Instant) {
        allocation.permit(peer.ip, now: now)
        if selected { allocation.bind(peer, now: now) }
    }

    /// What came from its server: a peer's bytes, or nil where they were its own and are dealt with.
    mutating func handle(_ bytes: RawSpan, from source: TransportAddress, now: Instant) -> RelayedData? {
        allocation.handle(bytes, from: source, now: now)
    }

    /// Bytes on their way to a peer; nil without a permission for it.
    mutating func enclose(_ bytes: [UInt8], to peer: TransportAddress) -> Transmit? {
        allocation.enclosed(bytes.span.bytes, to: peer).map { message in
            Transmit(base: base.address, destination: allocation.server, bytes: message, transport: transport)
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
