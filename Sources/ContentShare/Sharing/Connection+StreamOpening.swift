internal import RTCShareSDP
internal import RTCShareTransport

/// Each of these methods takes one switch to the connection's event loop.
extension Connection {
    func open(_ openings: [StreamOpening]) throws(ContentShareError) {
        for opening in openings { try opening(self) }
    }

    /// Opens a new connection, and streams over it.
    func begin(with openings: [StreamOpening]) async throws {
        try await open()
        try open(openings)
    }

    /// Opens a new connection, gathers candidates for at most `patience`, opens the streams, and answers an offer.
    func answer(
        _ offer: SessionDescription, gatheringFor patience: Duration, with openings: [StreamOpening]
    ) async throws -> SessionDescription {
        try await open()
        try? await gather(patience: patience)
        try open(openings)
        return try answer(offer: offer)
    }
}
