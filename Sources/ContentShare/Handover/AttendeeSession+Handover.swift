internal import RTCSharePeerConnection
package import RTCShareSDP
public import RTCShareTransport

extension AttendeeSession {
    /// Closes the sockets, and returns the state with which another process continues: it has the identity in the offer
    /// of ``Connection/offer()``, and accepts the viewer's `answer`. This session is over then, and the viewer is not
    /// notified.
    ///
    /// Relayed addresses are lost when their sockets are closed.
    public func handOver(answer: String) async throws -> StoredSession {
        guard let offer = await connection.pendingOffer else { throw HandoverError.notOffered }
        return try await handOver(offer: offer, answer: SessionDescription.parse(answer))
    }

    /// Hands the session over, with a parsed offer of this session.
    package func handOver(offer: SessionDescription, answer: SessionDescription) async throws -> StoredSession {
        guard let identity, !hasBegun, await !connection.isNegotiated else { throw HandoverError.notOffered }
        // An answer that does not fit the offer is found here, where a person can request another one.
        _ = try Negotiation.negotiate(offer: offer, answer: answer)
        let stored = StoredSession(
            attendee: attendee, identity: identity, addresses: await connection.localAddresses,
            offer: offer.description, answer: answer.description)
        await connection.close()
        return stored
    }

    /// Resumes a session that another process handed over, and starts to connect.
    public static func takingUp(
        _ stored: StoredSession, configuration: Connection.Configuration = Connection.Configuration()
    ) async throws -> AttendeeSession {
        guard let answer = stored.answer else { throw HandoverError.unanswered }
        let offer = try SessionDescription.parse(stored.offer)
        let parsed = try SessionDescription.parse(answer)
        let attendee = try AttendeeID(stored.attendee)
        let connection = try await stored.openConnection(configuration: configuration)
        do {
            let session = try AttendeeSession(attendee: attendee, connection: connection)
            try await connection.accept(answer: parsed, to: offer)
            return session
        } catch {
            await connection.close()
            throw error
        }
    }
}
