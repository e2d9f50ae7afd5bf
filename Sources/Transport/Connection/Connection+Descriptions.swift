internal import RTCSharePeerConnection
package import RTCShareSDP

/// Offers and answers, as text that the program sends to the peer. Each function combines several steps of W3C's
/// `RTCPeerConnection`.
extension Connection {
    /// Makes the offer, with every known candidate: W3C's `createOffer()` and `setLocalDescription()`.
    public func offer() throws -> String {
        let offer = try makeOffer()
        pendingOffer = offer
        return offer.description
    }

    /// Sets the peer's answer to the last offer, and starts to connect: W3C's `setRemoteDescription()` with an answer.
    /// A rejected answer changes nothing, and another may follow.
    public func accept(answer: String) throws {
        guard let offer = pendingOffer else { throw ConnectionError.noPendingOffer }
        try accept(answer: SessionDescription.parse(answer), to: offer)
        pendingOffer = nil
    }

    /// Sets the peer's offer, starts to wait for its checks, and returns the answer, with every known candidate: W3C's
    /// `setRemoteDescription()` with an offer, `createAnswer()` and `setLocalDescription()`.
    public func answer(offer: String) throws -> String {
        try answer(offer: SessionDescription.parse(offer)).description
    }

    /// Creates the offer, with every known candidate. Throws if the connection is closed.
    package func makeOffer() throws -> SessionDescription {
        guard !isClosed else { throw PeerConnectionError.ended }
        let offer = try peer.makeOffer()
        registerFragments()
        return offer
    }

    /// Adds a section to the next offer in which the peer sends.
    package func addReceivingSection(isVideo: Bool) throws { try peer.addReceivingSection(isVideo: isVideo) }

    /// Sets the peer's answer to an offer of this identity, which another connection may have created.
    package func accept(answer: SessionDescription, to offer: SessionDescription) throws {
        try peer.accept(answer: answer, to: offer, now: MonotonicClock.now)
        registerFragments()
        offeredReflexive = ConnectivityFacts.reflexiveCandidates(of: offer)
        resolveRemoteNames()
        drain()
    }

    /// Sets the peer's offer, starts to wait for its checks, and returns the answer. Throws if the connection is
    /// closed.
    package func answer(offer: SessionDescription) throws -> SessionDescription {
        guard !isClosed else { throw PeerConnectionError.ended }
        let answer = try peer.answer(offer: offer, now: MonotonicClock.now)
        registerFragments()
        resolveRemoteNames()
        drain()
        return answer
    }
}
