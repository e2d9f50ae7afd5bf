import RTCShareSTUN
package import RTCShareWireFormat

/// One allocation at one TURN server over one local port or connection (RFC 8656), without input or output.
///
/// Messages and the time go in through ``handle(_:from:now:)`` and ``handleTimeout(now:)``; after each call
/// ``pollTransmit()`` and ``pollEvent()`` are asked until they have no more. ``nextDeadline`` says when the time is
/// wanted next. Over a stream the owner takes the bytes apart with `StreamFramer` and hands in whole frames.
package struct TURNAllocation: Sendable {
    /// Where the allocation stands.
    package internal(set) var state = TURNState.idle
    /// The server, which a redirection changes.
    package internal(set) var server: TransportAddress
    /// What was let fall.
    package internal(set) var statistics = TURNStatistics()
    /// What the server granted, from its newest answer on.
    package internal(set) var lifetime: Duration?
    /// The newest round trip of a request that was sent once.
    package internal(set) var roundTripTime: Duration?
    /// When ``handleTimeout(now:)`` is wanted; nil where only a message can change anything.
    package internal(set) var nextDeadline: Instant?

    let configuration: TURNConfiguration
    var timing: TURNTiming { configuration.timing }
    var generator: any RandomNumberGenerator & Sendable
    var authentication: LongTermAuthentication?
    /// What is to be taken up again; nil once the server has said something of it.
    var kept: AllocationState?
    var wasRedirected = false
    var hasReclaimed = false
    var requests: [TransactionID: Request] = [:]
    var refreshDue: Instant?
    /// When the lifetime that the server granted ends.
    var expiry: Instant?
    var permissions: [IPAddress: Permission] = [:]
    var channels: [TransportAddress: Channel] = [:]
    var channelPeers: [ChannelNumber: TransportAddress] = [:]
    var nextChannel = ChannelNumber.range.lowerBound

    private var transmits: [TURNTransmit] = []
    private var events: [TURNEvent] = []

    /// What a request is for.
    enum Purpose: Hashable, Sendable {
        case allocate
        case refresh
        case release
        /// Gives back what the server has for our port from before.
        case clear
        case permission(IPAddress)
        case channel(TransportAddress)
    }

    /// A request under way.
    struct Request: Sendable {
        let purpose: Purpose
        let bytes: [UInt8]
        /// Whether it bears credentials.
        let isAuthenticated: Bool
        /// How often its like was refused for its nonce.
        let staleNonces: Int
        let sent: Instant
        var transmissions = 1
        var wait: Duration
        var due: Instant
    }

    /// A peer's address that may send to us.
    struct Permission: Sendable {
        /// When it is renewed; nil while a request is under way.
        var refreshDue: Instant?
    }

    /// A peer with a channel.
    struct Channel: Sendable {
        let number: ChannelNumber
        /// Whether the server has it; where it refused it, data goes on in Send indications.
        var isBound = false
        /// When it is renewed; nil while a request is under way.
        var refreshDue: Instant?
    }

    /// An allocation that has not asked for anything yet. `generator` must be cryptographically strong: who can guess
    /// transaction identifiers can answer for the server.
    package init(configuration: TURNConfiguration, generator: any RandomNumberGenerator & Sendable) {
        self.configuration = configuration
        self.generator = generator
        server = configuration.server
    }

    /// Asks for a relayed address; over a stream, once the connection is there.
    package mutating func start(now: Instant) {
        guard state == .idle else { return }
        if let kept {
            state = .resuming(relayed: kept.relayed, reflexive: kept.reflexive)
            request(.refresh, now: now)
        } else {
            state = .allocating
            request(.allocate, now: now)
        }
        updateDeadline()
    }

    /// After ``TURNError/portInUse``: gives back what the server holds for our port under our name, as from before a
    /// crash, and asks once more (RFC 8656 §7.4 has clients change the port, which is not the allocation's to choose).
    /// False where that was tried already. To be called only where no other allocation of ours uses the port.
    package mutating func reclaim(now: Instant) -> Bool {
        guard state == .failed(.portInUse), authentication != nil, !hasReclaimed else { return false }
        hasReclaimed = true
        state = .allocating
        request(.clear, now: now)
        updateDeadline()
        return true
    }

    /// Asks the server at once whether it still has the allocation, as where nothing comes through it any more.
    package mutating func verify(now: Instant) {
        guard isAllocated, !requests.values.contains(where: { $0.purpose == .refresh }) else { return }
        request(.refresh, now: now)
        updateDeadline()
    }

    /// Gives the relayed address back; nothing is relayed from here on. ``TURNEvent/released`` follows, at once where
    /// there is nothing to give back.
    package mutating func release(now: Instant) {
        switch state {
        case .allocated, .resuming:
            stop(.releasing)
            request(.release, now: now)
        case .allocating where authentication != nil:
            // The server may have granted what we have not heard of yet.
            stop(.releasing)
            request(.release, now: now)
        case .idle, .allocating:
            stop(.released)
            emit(.released)
        case .releasing, .released, .left, .failed: return
        }
        updateDeadline()
    }

    /// Tells the allocation that time has passed; early calls are harmless.
    package mutating func handleTimeout(now: Instant) {
        retransmit(now: now)
        // A refresh is under way long before the end: what nobody answered in time is lost.
        if let expiry, expiry <= now, isAllocated { fail(.unreachable(configuration.transport)) }
        renew(now: now)
        updateDeadline()
    }

    /// Says that the connection ended or that the system cannot send to the server.
    package mutating func transportFailed(now: Instant) {
        switch state {
        case .idle, .allocating, .resuming, .allocated: fail(.connectionLost(configuration.transport))
        case .releasing:
            stop(.released)
            emit(.released)
        case .released, .left, .failed: break
        }
        updateDeadline()
    }

    /// Takes in a datagram, or a frame of a stream, that came from `source`. Returns what a peer sent, if that is what
    /// it was.
    package mutating func handle(_ bytes: RawSpan, from source: TransportAddress, now: Instant) -> RelayedData? {
        switch state {
        case .idle, .released, .left, .failed: return nil
        case .allocating, .resuming, .allocated, .releasing: break
        }
        guard source == server else {
            statistics.strangeSources += 1
            return nil
        }
        if ChannelData.isChannelData(bytes) { return handleChannelData(bytes) }
        let message: STUNMessage
        do {
            message = try STUNMessage(parsing: bytes)
        } catch {
            statistics.malformedMessages += 1
            return nil
        }
        switch message.messageClass {
        case .indication: return handleIndication(message, bytes)
        case .request: statistics.ignoredMessages += 1
        case .successResponse, .errorResponse:
            handleResponse(message, now: now)
            updateDeadline()
        }
        return nil
    }

    /// The next message to send.
    package mutating func pollTransmit() -> TURNTransmit? {
        transmits.takeFirst()
    }

    /// The next thing that happened.
    package mutating func pollEvent() -> TURNEvent? {
        events.takeFirst()
    }

    var isAllocated: Bool { if case .allocated = state { true } else { false } }

    mutating func send(_ bytes: [UInt8]) {
        guard transmits.count < configuration.transmitLimit else {
            statistics.overLimit += 1
            return
        }
        transmits.append(TURNTransmit(server: server, bytes: bytes))
    }

    mutating func emit(_ event: TURNEvent) {
        events.append(event)
    }

    mutating func fail(_ error: TURNError) {
        stop(.failed(error))
        emit(.failed(error))
    }

    mutating func stop(_ new: TURNState) {
        state = new
        requests = [:]
        permissions = [:]
        channels = [:]
        channelPeers = [:]
        refreshDue = nil
        expiry = nil
    }

    mutating func updateDeadline() {
        var earliest = [refreshDue, expiry].compactMap { $0 }.min()
        func consider(_ instant: Instant?) {
            guard let instant else { return }
            earliest = min(earliest ?? instant, instant)
        }
        for request in requests.values { consider(request.due) }
        for permission in permissions.values { consider(permission.refreshDue) }
        for channel in channels.values { consider(channel.refreshDue) }
        nextDeadline = earliest
    }
}
