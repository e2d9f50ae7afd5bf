import RTCShareSTUN
package import RTCShareWireFormat

/// One allocation at one TURN server over one local port or connection (RFC 8656), without input or output.
///
/// The owner passes messages and the time to ``handle(_:from:now:)`` and ``handleTimeout(now:)``, and after each call
/// drains ``pollTransmit()`` and ``pollEvent()``. ``nextDeadline`` is the time of the next timeout. Over a stream the
/// owner splits the bytes with `StreamFramer` and passes whole frames.
package struct TURNAllocation: Sendable {
    /// The state of the allocation.
    package internal(set) var state = TURNState.idle
    /// The server, which a redirect changes.
    package internal(set) var server: TransportAddress
    /// Counts of ignored input.
    package internal(set) var statistics = TURNStatistics()
    /// The lifetime that the server granted in its latest response.
    package internal(set) var lifetime: Duration?
    /// The latest round-trip time of a request that was sent once.
    package internal(set) var roundTripTime: Duration?
    /// The time of the next ``handleTimeout(now:)``; nil if only a message can change the state.
    package internal(set) var nextDeadline: Instant?

    let configuration: TURNConfiguration
    var timing: TURNTiming { configuration.timing }
    var generator: any RandomNumberGenerator & Sendable
    var authentication: LongTermAuthentication?
    /// The stored state of an allocation to resume; nil after the server's first response about it.
    var kept: AllocationState?
    var wasRedirected = false
    var hasReclaimed = false
    var requests: [TransactionID: Request] = [:]
    var refreshDue: Instant?
    /// The end of the lifetime that the server granted.
    var expiry: Instant?
    var permissions: [IPAddress: Permission] = [:]
    var channels: [TransportAddress: Channel] = [:]
    var channelPeers: [ChannelNumber: TransportAddress] = [:]
    var nextChannel = ChannelNumber.range.lowerBound

    private var transmits: [TURNTransmit] = []
    private var events: [TURNEvent] = []

    /// The purpose of a request.
    enum Purpose: Hashable, Sendable {
        case allocate
        case refresh
        case release
        /// The release of a former allocation for our port.
        case clear
        case permission(IPAddress)
        case channel(TransportAddress)
    }

    /// A pending request.
    struct Request: Sendable {
        let purpose: Purpose
        let bytes: [UInt8]
        /// Whether the request has credentials.
        let isAuthenticated: Bool
        /// The number of earlier requests that were rejected because of their nonces.
        let staleNonces: Int
        let sent: Instant
        var transmissions = 1
        var wait: Duration
        var due: Instant
    }

    /// The permission of a peer's address to send to us.
    struct Permission: Sendable {
        /// The time of the next refresh; nil while a request is pending.
        var refreshDue: Instant?
    }

    /// A peer with a channel.
    struct Channel: Sendable {
        let number: ChannelNumber
        /// Whether the server has bound the channel. If it rejects the binding, Send indications carry the data.
        var isBound = false
        /// The time of the next refresh; nil while a request is pending.
        var refreshDue: Instant?
    }

    /// Creates an allocation without requests. `generator` must be cryptographically strong: an attacker who guesses
    /// transaction identifiers can forge the server's responses.
    package init(configuration: TURNConfiguration, generator: any RandomNumberGenerator & Sendable) {
        self.configuration = configuration
        self.generator = generator
        server = configuration.server
    }

    /// Requests a relayed address. Over a stream, call it after the connection is open.
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

    /// Releases the allocation that the server has for our port and user, for example from before a crash, and requests
    /// another one, after ``TURNError/portInUse``. (RFC 8656 §7.4 requires clients to change the port, which the
    /// allocation cannot choose.) Returns false if this was tried already. Call it only if no other allocation of ours
    /// uses the port.
    package mutating func reclaim(now: Instant) -> Bool {
        guard state == .failed(.portInUse), authentication != nil, !hasReclaimed else { return false }
        hasReclaimed = true
        state = .allocating
        request(.clear, now: now)
        updateDeadline()
        return true
    }

    /// Verifies immediately that the server still has the allocation, for example because no packets arrive through it.
    package mutating func verify(now: Instant) {
        guard isAllocated, !requests.values.contains(where: { $0.purpose == .refresh }) else { return }
        request(.refresh, now: now)
        updateDeadline()
    }

    /// Releases the relayed address and stops relaying. ``TURNEvent/released`` follows, immediately if there is nothing
    /// to release.
    package mutating func release(now: Instant) {
        switch state {
        case .allocated, .resuming:
            stop(.releasing)
            request(.release, now: now)
        case .allocating where authentication != nil:
            // The server can have granted an allocation whose response has not arrived yet.
            stop(.releasing)
            request(.release, now: now)
        case .idle, .allocating:
            stop(.released)
            emit(.released)
        case .releasing, .released, .left, .failed: return
        }
        updateDeadline()
    }

    /// Does everything that is due at `now`. Early calls are harmless.
    package mutating func handleTimeout(now: Instant) {
        retransmit(now: now)
        // Refreshes are sent long before the end: if none was answered in time, the allocation is lost.
        if let expiry, expiry <= now, isAllocated { fail(.unreachable(configuration.transport)) }
        renew(now: now)
        updateDeadline()
    }

    /// Handles the end of the connection, or the system's failure to send to the server.
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

    /// Processes a datagram, or a frame of a stream, from `source`. Returns a peer's data, if it contains any.
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

    /// Returns the next message to send.
    package mutating func pollTransmit() -> TURNTransmit? {
        transmits.takeFirst()
    }

    /// Returns the next event.
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
