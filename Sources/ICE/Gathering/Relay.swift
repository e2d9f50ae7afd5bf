import RTCShareSTUN
import RTCShareWireFormat

/// An allocation at a TURN server for one base, and its relayed address.
///
///              start time               allocated
///     waiting ────────────────▶ asking ───────────▶ relaying
///        ▲                         │ refused            │ lost
///        │                         └─────▶ failed ◀─────┘
///        └── revived, if it was lost ────────┘
///     abandoned, from each state, when its base is removed
struct Relay: Sendable {
    private(set) var server: ICEServerAddress
    let base: Agent.Base
    private(set) var allocation: TURNAllocation
    /// The time to start; nil after the start.
    private(set) var start: Instant?
    /// The base of the relayed candidate, as long as it exists.
    private(set) var relayed: TransportAddress?
    /// Whether the base was removed, so that another relay can reuse this place.
    private(set) var isAbandoned = false
    /// The server to which a server over a stream redirected us, and the domain for its certificate.
    private(set) var alternate: (server: TransportAddress, domain: String?)?
    /// Our mapped address that the server sees.
    private(set) var mapped: TransportAddress?
    private var error: TURNError?
    /// Whether the system cannot send to the server, which has not answered yet.
    private var isRefused = false
    /// Whether the other IP version was requested already, or cannot be used.
    private var hasChangedFamily: Bool
    /// The number of new requests after an allocation was lost.
    private var revivals = 0
    /// The time at which the server granted the relayed address.
    private var granted: Instant?
    /// Whether the server has granted a relayed address before.
    private var hasGranted = false
    /// Alternative credentials, for a server that does not accept the current ones.
    private var otherCredentials: [LongTermCredentials] = []
    /// The latest credentials that were added, so that older ones do not count as renewed ones again.
    private var seenCredentials: [LongTermCredentials] = []
    /// Newer credentials than those of the address that the server granted, for the next one.
    private var renewedCredentials: LongTermCredentials?
    /// The time of the next keepalive of the NAT binding.
    private var keepalive: Instant?

    /// The maximum number of new requests. Each waits twice as long as the previous one, so that the last one comes
    /// after 63 seconds: coturn can bind our port to the former user name for up to 60.
    private static let revivalLimit = 6
    /// The lifetime after which the loss of an allocation counts as the first one again.
    private static let stableLifetime = Duration.seconds(60)
    private static let credentialsLimit = 4
    private static let seenLimit = 8

    /// Creates a relay that starts at a time. With `mayChangeFamily`, it requests the other IP version if the server
    /// has no address of the first one.
    init(
        server: ICEServerAddress, base: Agent.Base, allocation: TURNAllocation, start: Instant,
        mayChangeFamily: Bool = true
    ) {
        self.server = server
        self.base = base
        self.allocation = allocation
        self.start = start
        hasChangedFamily = !mayChangeFamily
        if case .turn(let credentials) = server.kind { seenCredentials = [credentials] }
    }

    var transport: TransportProtocol { server.transport }

    /// Whether gathering does not need to wait for the relay any longer.
    var isSettled: Bool { relayed != nil || error != nil || isRefused || isAbandoned }

    private var hasBegun: Bool { start == nil && !isAbandoned }

    /// Whether the server failed and receives no more requests.
    var hasFailed: Bool { error != nil && !isAbandoned }

    var deadline: Instant? {
        if isAbandoned { return nil }
        if let start { return start }
        return [allocation.nextDeadline, keepalive].compactMap { $0 }.min()
    }

    /// Whether a message that arrived by this route is from the relay's server.
    func isServer(_ source: TransportAddress, at local: TransportAddress, over transport: TransportProtocol) -> Bool {
        hasBegun && source == allocation.server && local == base.address && transport == self.transport
    }

    /// Whether another relay uses the same port and server, as with two URLs of one server.
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

    // MARK: Its life cycle

    /// Starts at the start time, and does everything that is due. Returns whether the relay has started.
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

    /// Returns the allocation's next event, after the relay has recorded it.
    mutating func pollEvent(now: Instant) -> TURNEvent? {
        let event = allocation.pollEvent()
        switch event {
        case .allocated(_, let reflexive): mapped = reflexive
        case .redirected(let other, let domain):
            alternate = (other, domain)
            // Over a stream the first transmit to the other server opens the connection.
            if transport.isStream { allocation.start(now: now) }
        default: break
        }
        return event
    }

    /// Returns the next message to the server.
    mutating func pollTransmit() -> Transmit? {
        allocation.pollTransmit().map { transmit in
            Transmit(
                base: base.address, destination: transmit.server, bytes: transmit.bytes, transport: transport,
                isForRelay: true)
        }
    }

    /// Records the relayed address as a candidate. Over UDP the NAT binding is kept alive from then on.
    mutating func relays(from address: TransportAddress, keepalive: Instant, now: Instant) {
        relayed = address
        (granted, hasGranted) = (now, true)
        if transport == .udp { self.keepalive = keepalive }
    }

    /// Whether a keepalive is due, in which case the next one is due at `next`.
    mutating func takeKeepalive(now: Instant, next: Instant) -> Bool {
        guard let due = keepalive, due <= now else { return false }
        keepalive = next
        return true
    }

    /// Returns the IP version to request instead, if the server has no address of the requested one: an address of
    /// another version is better than none.
    func otherFamily(after error: TURNError) -> AddressFamily? {
        guard error == .unsupportedAddressFamily, !hasChangedFamily else { return nil }
        return allocation.configuration.family == .v4 ? .v6 : .v4
    }

    /// Requests an address of another IP version.
    mutating func changeFamily(by other: TURNAllocation, now: Instant) {
        hasChangedFamily = true
        allocation = other
        allocation.start(now: now)
    }

    /// Records the end of the allocation. Returns the relayed address that is lost with it.
    mutating func end(_ error: TURNError) -> TransportAddress? {
        self.error = error
        keepalive = nil
        return relayed.take()
    }

    /// Whether the relay retries after this error: the server has granted an allocation before, and it can become
    /// reachable again.
    func isRevivable(after error: TURNError, now: Instant) -> Bool {
        guard hasGranted, revivals(now: now) < Self.revivalLimit else { return false }
        return switch error {
        // A server that has lost a connection can still count its allocation for some time, and one that has rejected
        // old credentials still has theirs.
        case .allocationLost, .connectionLost, .unreachable, .quotaReached, .serverFull, .portInUse: true
        default: false
        }
    }

    /// Returns the number of new requests since an allocation was last stable.
    private func revivals(now: Instant) -> Int {
        granted.map { now - $0 >= Self.stableLifetime } ?? false ? 0 : revivals
    }

    /// Requests another allocation after a delay. Its address is a new candidate.
    mutating func revive(by other: TURNAllocation, now: Instant) {
        let count = revivals(now: now)
        ask(by: other, at: now.advanced(by: .seconds(1 << count)))
        revivals = count + 1
    }

    /// Requests another allocation after a failure. `other` must not have started.
    mutating func ask(by other: TURNAllocation, at start: Instant) {
        (allocation, self.start) = (other, start)
        (error, alternate, granted) = (nil, nil, nil)
        isRefused = false
    }

    /// Adds the credentials for this relay's server among all servers of a call. After the server has granted an
    /// address or failed, the first unseen ones are renewed ones. All others are alternatives, but after the server has
    /// granted an address, only unseen ones.
    mutating func addCredentials(from servers: [ICEServerAddress]) {
        let added = servers.compactMap { other -> LongTermCredentials? in
            guard other.address == server.address, other.transport == transport,
                case .turn(let credentials) = other.kind, other.kind != server.kind
            else { return nil }
            return credentials
        }
        let unseen = added.filter { !seenCredentials.contains($0) }
        seenCredentials = (seenCredentials + unseen).suffix(Self.seenLimit)
        if hasGranted || error != nil, let renewed = unseen.first { renewedCredentials = renewed }
        for other in hasGranted ? unseen : added
        where other != renewedCredentials && !otherCredentials.contains(other) { addOther(other) }
    }

    private mutating func addOther(_ credentials: LongTermCredentials) {
        if otherCredentials.count == Self.credentialsLimit { otherCredentials.removeFirst() }
        otherCredentials.append(credentials)
    }

    /// Replaces the credentials with renewed ones before the next request for an address, because a server can bind a
    /// port of ours to the first user name from there. Returns nil if there are none.
    mutating func takeRenewedCredentials() -> LongTermCredentials? {
        guard let next = renewedCredentials.take() else { return nil }
        if case .turn(let former) = server.kind { addOther(former) }
        server.kind = .turn(next)
        return next
    }

    /// Replaces credentials that the server does not accept with the next ones. Returns nil if there are none.
    mutating func takeOtherCredentials(after error: TURNError) -> LongTermCredentials? {
        guard case .wrongCredentials = error else { return nil }
        guard
            let next = renewedCredentials.take() ?? (otherCredentials.isEmpty ? nil : otherCredentials.removeFirst())
        else { return nil }
        server.kind = .turn(next)
        return next
    }

    /// Releases a former allocation that occupies our port at the server. Returns false if that is not possible.
    mutating func reclaim(now: Instant) -> Bool { allocation.reclaim(now: now) }

    /// Verifies that the server still relays, because no packets arrive through it.
    mutating func verify(now: Instant) { allocation.verify(now: now) }

    /// Handles the end of the connection to the server, or datagrams that can't be sent to it. Datagrams are
    /// retransmitted, since a route can come back. Returns a new failure of a server that has not answered.
    mutating func transportFailed(now: Instant) -> ServerFailure? {
        guard transport == .udp else {
            allocation.transportFailed(now: now)
            return nil
        }
        guard !isSettled else { return nil }
        isRefused = true
        return ServerFailure(server: server, base: base.address, error: .relay(.connectionLost(transport)))
    }

    /// Releases the relayed address (RFC 8656 §8), or with `leaving` keeps it at the server for another agent. The
    /// request is sent once, since nothing waits for the response.
    mutating func release(leaving: Bool = false, now: Instant) {
        guard hasBegun else { return }
        if leaving { allocation.leave() }
        allocation.release(now: now)
    }

    /// Stops all requests after the base was removed. Returns the relayed address that is lost with it.
    mutating func abandon() -> TransportAddress? {
        isAbandoned = true
        return relayed
    }

    /// Returns the state that another agent needs to resume the relay; nil if the allocation ends with its connection.
    func kept(now: Instant) -> RelayState? {
        guard relayed != nil, let allocation = allocation.kept(now: now) else { return nil }
        var server = server
        server.address = self.allocation.server
        return RelayState(server: server, base: base.address, allocation: allocation)
    }

    // MARK: Its traffic

    /// Creates a permission for a peer (RFC 8656 §9), and a channel if it is `selected` (§12).
    mutating func permit(_ peer: TransportAddress, selected: Bool, now: Instant) {
        allocation.permit(peer.ip, now: now)
        if selected { allocation.bind(peer, now: now) }
    }

    /// Handles a message from the server. Returns a peer's data; nil for the server's own message.
    mutating func handle(_ bytes: RawSpan, from source: TransportAddress, now: Instant) -> RelayedData? {
        isRefused = false
        return allocation.handle(bytes, from: source, now: now)
    }

    /// Returns data for a peer in a message to the server; nil without a permission for the peer.
    mutating func enclose(_ bytes: [UInt8], to peer: TransportAddress) -> Transmit? {
        allocation.enclosed(bytes.span.bytes, to: peer).map { message in
            Transmit(
                base: base.address, destination: allocation.server, bytes: message, transport: transport,
                isForRelay: true)
        }
    }

    /// Returns the route of media to a peer; nil without a permission for it.
    mutating func mediaPath(to peer: TransportAddress) -> MediaPath? {
        allocation.envelope(to: peer).map { envelope in
            MediaPath(
                base: base.address, destination: allocation.server, transport: transport, envelope: envelope)
        }
    }
}
