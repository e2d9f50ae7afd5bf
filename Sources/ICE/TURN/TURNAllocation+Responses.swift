import RTCShareSTUN
import RTCShareWireFormat

extension TURNAllocation {
    /// Handles a response to one of our requests (RFC 8489 §9.2.5 defines which ones are accepted).
    mutating func handleResponse(_ message: STUNMessage, now: Instant) {
        guard let request = requests[message.transactionID], message.method == request.purpose.method,
            isBelieved(message, as: request)
        else {
            statistics.unexpectedResponses += 1
            return
        }
        requests[message.transactionID] = nil
        if request.transmissions == 1 { roundTripTime = now - request.sent }
        if message.messageClass == .successResponse, message.unknownRequiredAttributes.isEmpty {
            finish(request.purpose, with: message, now: now)
        } else {
            refuse(request, with: message, now: now)
        }
    }

    /// Whether a response is accepted. Success must be authentic. An error can come without integrity, since the server
    /// may not know our key; then the 96 random bits of its transaction authenticate it. Wrong integrity is never
    /// accepted.
    private func isBelieved(_ message: STUNMessage, as request: Request) -> Bool {
        guard request.isAuthenticated, let authentication else { return true }
        if message.messageClass == .errorResponse, !message.hasIntegrity { return true }
        return authentication.isAuthentic(message)
    }

    private mutating func finish(_ purpose: Purpose, with message: STUNMessage, now: Instant) {
        switch purpose {
        case .allocate:
            guard let relayed = message.relayedAddress, let reflexive = message.mappedAddress,
                relayed.ip.isV4 == (configuration.family == .v4), let lifetime = message.lifetime, lifetime > .zero
            else {
                fail(.malformedResponse)
                return
            }
            state = .allocated(relayed: relayed, reflexive: reflexive)
            extend(by: lifetime, now: now)
            emit(.allocated(relayed: relayed, reflexive: reflexive))
        case .refresh:
            guard let lifetime = message.lifetime, lifetime > .zero else {
                fail(.malformedResponse)
                return
            }
            kept = nil
            if case .resuming(let relayed, let reflexive) = state {
                state = .allocated(relayed: relayed, reflexive: reflexive)
                emit(.allocated(relayed: relayed, reflexive: reflexive))
            }
            extend(by: lifetime, now: now)
        case .clear: request(.allocate, now: now)
        case .release:
            stop(.released)
            emit(.released)
        case .permission(let ip):
            let renewal = now.advanced(by: timing.permissionRefresh)
            permissions[ip]?.refreshDue = renewal
        case .channel(let peer):
            let renewal = now.advanced(by: timing.channelRefresh)
            channels[peer]?.isBound = true
            channels[peer]?.refreshDue = renewal
        }
    }

    private mutating func extend(by lifetime: Duration, now: Instant) {
        self.lifetime = lifetime
        refreshDue = now.advanced(by: max(lifetime / 2, lifetime - timing.refreshMargin))
        expiry = now.advanced(by: lifetime)
    }

    private mutating func refuse(_ request: Request, with message: STUNMessage, now: Instant) {
        guard let error = message.errorCode else {
            refuse(request.purpose, as: ErrorCode(code: 0, reason: "no error code"))
            return
        }
        switch error.code {
        case ErrorCode.unauthenticated.code where !request.isAuthenticated || kept != nil:
            // The server's challenge can have changed since it was stored.
            authenticate(request, challenge: message, staleNonces: request.staleNonces, now: now)
        case ErrorCode.staleNonce.code where request.isAuthenticated:
            guard request.staleNonces < Self.staleNonceLimit else {
                conclude(request.purpose, .staleNonceAgain)
                return
            }
            authenticate(request, challenge: message, staleNonces: request.staleNonces + 1, now: now)
        case 300 where request.purpose == .allocate: redirect(message, now: now)
        // The allocation ended while the request was pending.
        case 437 where request.purpose == .clear: self.request(.allocate, now: now)
        default: refuse(request.purpose, as: error)
        }
    }

    /// The maximum number of consecutive repetitions of a request because of its nonce.
    private static let staleNonceLimit = 3

    private mutating func authenticate(
        _ request: Request, challenge: STUNMessage, staleNonces: Int, now: Instant
    ) {
        kept = nil
        do throws(ChallengeError) {
            authentication = try LongTermAuthentication(configuration.credentials, challenge: challenge)
        } catch {
            return conclude(request.purpose, TURNError(error))
        }
        self.request(request.purpose, staleNonces: staleNonces, now: now)
    }

    /// Follows ALTERNATE-SERVER (RFC 8489 §10) once, to an address of the same family that is not the current one.
    private mutating func redirect(_ message: STUNMessage, now: Instant) {
        guard !wasRedirected, let other = message.alternateServer, other != server,
            other.ip.isV4 == server.ip.isV4, other.port != 0, !other.ip.isUnspecified
        else {
            fail(.redirectedInCircles)
            return
        }
        wasRedirected = true
        server = other
        authentication = nil
        stop(configuration.transport.isStream ? .idle : .allocating)
        emit(.redirected(other, domain: message.alternateDomain))
        if !configuration.transport.isStream { request(.allocate, now: now) }
    }

    private mutating func refuse(_ purpose: Purpose, as error: ErrorCode) {
        switch (purpose, error.code) {
        case (.permission(let ip), let code) where code != 437 && code != 401 && code != 441:
            refusePermission(ip, Self.shortened(error))
        case (.channel(let peer), let code) where code != 437 && code != 401 && code != 441: refuseChannel(peer)
        // The former allocation belongs to another user.
        case (.clear, _): conclude(purpose, .portInUse)
        case (.allocate, 437): conclude(purpose, .portInUse)
        case (_, 437): conclude(purpose, .allocationLost)
        case (_, 401), (_, 441):
            conclude(
                purpose,
                .wrongCredentials(
                    realm: authentication?.realm ?? "", canExpire: configuration.credentials.canExpire))
        case (_, 403): conclude(purpose, .forbidden)
        case (_, 440): conclude(purpose, .unsupportedAddressFamily)
        case (_, 442): conclude(purpose, .unsupportedTransport)
        case (_, 486): conclude(purpose, .quotaReached)
        case (_, 508): conclude(purpose, .serverFull)
        default:
            let error = Self.shortened(error)
            conclude(purpose, .refused(code: error.code, reason: error.reason))
        }
    }

    /// Ends the allocation with an error. An allocation that is being released has ended anyway.
    private mutating func conclude(_ purpose: Purpose, _ error: TURNError) {
        guard purpose != .release else {
            stop(.released)
            emit(.released)
            return
        }
        fail(error)
    }

    /// Returns the server's error with a reason that is safe to display: short, and without control characters.
    private static func shortened(_ error: ErrorCode) -> ErrorCode {
        ErrorCode(code: error.code, reason: String(error.reason.printable.prefix(64)))
    }
}
