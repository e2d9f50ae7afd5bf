package import RTCShareSTUN
package import RTCShareWireFormat

/// An allocation as it is kept while nobody uses it, for ``TURNAllocation/init(resuming:configuration:generator:)``. It
/// holds no password.
package struct AllocationState: Hashable, Sendable {
    /// The relayed address.
    package var relayed: TransportAddress
    /// What the server saw of us.
    package var reflexive: TransportAddress
    /// What the server asked for last.
    package var challenge: LongTermChallenge
    /// How long the server goes on holding it.
    package var lifetime: Duration

    /// An allocation that was kept.
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
    /// An allocation that another one left with ``leave()``: ``start(now:)`` asks the server whether it still holds it.
    ///
    /// The server knows an allocation by the two ends of its messages (RFC 8656 §3.2): it has to be asked from the same
    /// local address and port, over UDP. Permissions and channels are asked for anew.
    package init(
        resuming kept: AllocationState, configuration: TURNConfiguration,
        generator: any RandomNumberGenerator & Sendable
    ) throws(ChallengeError) {
        self.init(configuration: configuration, generator: generator)
        authentication = try LongTermAuthentication(configuration.credentials, challenge: kept.challenge)
        self.kept = kept
    }

    /// What is to be remembered of the allocation to take it up again later. Nil where there is none, and over a stream,
    /// with whose end the server drops it.
    package func kept(now: Instant) -> AllocationState? {
        guard case .allocated(let relayed, let reflexive) = state, !configuration.transport.isStream,
            let challenge = authentication?.challenge, let expiry
        else { return nil }
        return AllocationState(
            relayed: relayed, reflexive: reflexive, challenge: challenge, lifetime: max(.zero, expiry - now))
    }

    /// Ends here without giving the relayed address back: the server holds it until its lifetime ends.
    package mutating func leave() {
        guard !configuration.transport.isStream else { return }
        switch state {
        case .allocated, .resuming: stop(.left)
        case .idle, .allocating, .releasing, .released, .left, .failed: return
        }
        updateDeadline()
    }
}
