internal import RTCSharePeerConnection
package import RTCShareSDP

/// Descriptions: as text, which the program hands on. Each function is several of the steps of W3C's `RTCPeerConnection`.
extension Connection {
    /// Makes the offer, with every candidate that is known: W3C's `createOffer()` and `setLocalDescription()`.
    public func offer() throws -> String {
        let offer = try makeOffer()
        pendingOffer = offer
        return offer.description
    }

    /// Takes the peer's answer to the offer that was made last, and begins to connect: W3C's `setRemoteDescription()` with
    /// an answer. One that is refused leaves all as it was, and another may follow.
    public func accept(answer: String) throws {
        guard let offer = pendingOffer else { throw ConnectionError.noPendingOffer }
        try accept(answer: SessionDescription.parse(answer), to: offer)
        pendingOffer = nil
    }

    /// Takes the peer's offer, begins to wait for its checks, and says what to answer, with every candidate that is known:
    /// W3C's `setRemoteDescription()` with an offer, `createAnswer()` and `setLocalDescription()`.
    public func answer(offer: String) throws -> String {
        try answer(offer: SessionDescription.parse(offer)).description
    }

    /// The offer, with every candidate that is known. A closed connection makes none.
    package func makeOffer() throws -> SessionDescription {
        guard !isClosed else { throw PeerConnectionError.ended }
        let offer = try peer.makeOffer()
        registerFragments()
        return offer
    }

    /// Has the next offer ask for something that the peer sends.
    package func addReceivingSection(isVideo: Bool) throws { try peer.addReceivingSection(isVideo: isVideo) }

    /// Takes the peer's answer to an offer of this identity, which another connection may have made.
    package func accept(answer: SessionDescription, to offer: SessionDescription) throws {
        try peer.accept(answer: answer, to: offer, now: MonotonicClock.now)
        registerFragments()
        offeredReflexive = ConnectivityFacts.reflexiveCandidates(of: offer)
        resolveRemoteNames()
        drain()
    }

    /// Takes the peer's offer, begins to wait for its checks, and returns the answer. A closed connection answers none.
    package func answer(offer: SessionDescription) throws -> SessionDescription {
        guard !isClosed else { throw PeerConnectionError.ended }
        let answer = try peer.answer(offer: offer, now: MonotonicClock.now)
        registerFragments()
        resolveRemoteNames()
        drain()
        return answer
    }
}
