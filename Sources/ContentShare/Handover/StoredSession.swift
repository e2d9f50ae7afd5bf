package import RTCSharePeerConnection
package import RTCShareSDP
public import RTCShareTransport
package import RTCShareWireFormat

/// A session as one process leaves it for another, which takes it up and sends by itself: who shares, the identity that
/// the offer announced, where it listens, and what the viewer answered.
///
/// It has the keys of the connection in it: keep it in a ``PrivateFile``.
public struct StoredSession: Codable, Sendable {
    /// The attendee that shares.
    public let attendee: String
    /// What the offer announced: certificate, credentials, sources.
    package let identity: LocalIdentity
    /// The offer as it was handed out.
    public let offer: String
    /// The viewer's answer, once it is known.
    public var answer: String?
    private let endpoints: [Endpoint]

    private struct Endpoint: Codable {
        let address: String
        let port: UInt16
    }

    /// A session of `attendee`, whose `offer` names `addresses`.
    package init(
        attendee: AttendeeID, identity: LocalIdentity, addresses: [TransportAddress], offer: String,
        answer: String? = nil
    ) {
        self.attendee = attendee.rawValue
        self.identity = identity
        endpoints = addresses.map { Endpoint(address: $0.ip.description, port: $0.port) }
        self.offer = offer
        self.answer = answer
    }

    /// Where the offer listens.
    package var addresses: [TransportAddress] { endpoints.compactMap { TransportAddress($0.address, port: $0.port) } }

    /// Opens the sockets that the offer named.
    package func openConnection(
        configuration: Connection.Configuration = Connection.Configuration()
    ) async throws -> Connection {
        try await Connection(as: .offerer, identity: identity, configuration: configuration, endpoints: addresses)
    }
}

/// Why a session can't be handed over.
public enum HandoverError: Error, Hashable, Sendable {
    /// The session did not make the offer itself, or has begun already.
    case notOffered
    /// What was stored has no answer of the viewer's.
    case unanswered
}

extension HandoverError: CustomStringConvertible {
    /// The failure, its reason and its remedy.
    public var description: String { explanation.text }
}

extension HandoverError: ExplainedError {
    /// The problem and, separately, its remedy.
    package var explanation: Explanation {
        switch self {
        case .notOffered:
            Explanation(
                "this session can't be handed over: only a session that made the offer and has no answer yet can",
                remedy: "make it with AttendeeSession.offering(as:)")
        case .unanswered: Explanation("the stored session has no answer", remedy: "store it with the viewer's answer")
        }
    }
}

extension AttendeeSession {
    /// Closes the sockets, and gives what another process needs to go on with them: it has the identity that the offer, made
    /// by ``Connection/offer()``, announced, and takes the viewer's `answer`. This session is over then; nobody was
    /// told of it.
    ///
    /// Relayed addresses end with their sockets here.
    public func handOver(answer: String) async throws -> StoredSession {
        guard let offer = await connection.pendingOffer else { throw HandoverError.notOffered }
        return try await handOver(offer: offer, answer: SessionDescription.parse(answer))
    }

    /// The same with an offer of this session's.
    package func handOver(offer: SessionDescription, answer: SessionDescription) async throws -> StoredSession {
        guard let identity, !hasBegun, await !connection.isNegotiated else { throw HandoverError.notOffered }
        // What does not fit the offer is found here, where somebody can ask for another answer.
        _ = try Negotiation.negotiate(offer: offer, answer: answer)
        let stored = StoredSession(
            attendee: attendee, identity: identity, addresses: await connection.localAddresses,
            offer: offer.description, answer: answer.description)
        await connection.close()
        return stored
    }

    /// Takes up what another process handed over, and begins to connect.
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
