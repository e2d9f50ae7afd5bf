internal import RTCSharePeerConnection
internal import RTCShareSDP
internal import RTCShareStreams
internal import RTCShareTransport

/// Opens a stream over a connection, on the connection's event loop.
typealias StreamOpening = @Sendable (isolated Connection) throws(ContentShareError) -> Void

extension SendingStream {
    /// Opens this stream as one kind of an attendee's media, if the connection's descriptions have a section for it. If it is
    /// not `isActive`, it is held back at first.
    func opening(_ kind: SharedMedia, of attendee: AttendeeID, isActive: Bool) -> StreamOpening {
        { connection throws(ContentShareError) in
            let isContent = kind == .content || kind == .contentAudio
            do {
                guard let media = try SharedMedia.kinds([kind], of: attendee).first else { return }
                let limit = isContent ? ContentShareController.maximumShares : 1
                try self.open(media, atMost: limit, isActive: isActive, on: connection)
            } catch let error as SenderError {
                switch error {
                case .taken: throw .alreadyShared(by: isContent ? (try? attendee.content) ?? attendee : attendee)
                case .limit(let limit): throw .tooManyShares(limit: limit)
                case .closed: throw .ended
                }
            } catch {
                throw .configuration("\(error)")
            }
        }
    }
}

/// Each of these takes one visit of the event loop.
extension Connection {
    /// Opens streams over the connection.
    func open(_ openings: [StreamOpening]) throws(ContentShareError) {
        for opening in openings { try opening(self) }
    }

    /// Opens a new connection, and streams over it.
    func begin(with openings: [StreamOpening]) async throws {
        try await open()
        try open(openings)
    }

    /// Opens a new connection, asks its servers for `patience` at most, opens streams, and answers an offer.
    func answer(
        _ offer: SessionDescription, gatheringFor patience: Duration, with openings: [StreamOpening]
    ) async throws -> SessionDescription {
        try await open()
        try? await gather(patience: patience)
        try open(openings)
        return try answer(offer: offer)
    }
}
