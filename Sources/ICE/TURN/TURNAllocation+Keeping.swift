package import RTCShareSTUN
package import RTCShareWireFormat

/// The stored state of an unused allocation, for ``TURNAllocation/init(resuming:configuration:generator:)``. It
/// contains no password.
package struct AllocationState: Hashable, Sendable {
    /// The relayed address.
    package var relayed: TransportAddress
    /// Our mapped address that the server saw.
    package var reflexive: TransportAddress
    /// The server's latest challenge.
    package var challenge: LongTermChallenge
    /// The remaining lifetime at the server.
    package var lifetime: Duration

    package init(
        relayed: TransportAddress, reflexive: TransportAddress, challenge: LongTermChallenge, lifetime: Duration
    ) {
        self.relayed = relayed
        self.reflexive = reflexive
        self.challenge = challenge
        self.lifetime = lifetime
    }
}

extension TURNAllocation {
    /// Creates an allocation that another one left with ``leave()``. ``start(now:)`` sends a request that shows whether
    /// the server still has it.
    ///
    /// The server identifies an allocation by the two ends of its messages (RFC 8656 §3.2), so that requests must come
    /// from the same local address and port, over UDP. Permissions and channels are requested again.
    package init(
        resuming kept: AllocationState, configuration: TURNConfiguration,
        generator: any RandomNumberGenerator & Sendable
    ) throws(ChallengeError) {
        self.init(configuration: configuration, generator: generator)
        authentication = try LongTermAuthentication(configuration.credentials, challenge: kept.challenge)
        self.kept = kept
    }

    /// Returns the state that resumes the allocation later. It is nil if there is no allocation, and over a stream,
    /// with whose end the server deletes it.
    package func kept(now: Instant) -> AllocationState? {
        guard case .allocated(let relayed, let reflexive) = state, !configuration.transport.isStream,
            let challenge = authentication?.challenge, let expiry
        else { return nil }
        return AllocationState(
            relayed: relayed, reflexive: reflexive, challenge: challenge, lifetime: max(.zero, expiry - now))
    }

    /// Ends the allocation here without releasing the relayed address: the server keeps it until its lifetime ends.
    package mutating func leave() {
        guard !configuration.transport.isStream else { return }
        switch state {
        case .allocated, .resuming: stop(.left)
        case .idle, .allocating, .releasing, .released, .left, .failed: return
        }
        updateDeadline()
    }
}
