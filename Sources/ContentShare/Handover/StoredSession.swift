package import RTCSharePeerConnection
package import RTCShareTransport
package import RTCShareWireFormat

/// The state of a session that another process resumes: the attendee, the identity that the offer announced, the local
/// addresses, and the viewer's answer.
///
/// It contains the connection's keys, so keep it in a ``PrivateFile``.
public struct StoredSession: Codable, Sendable {
    /// The attendee that shares.
    public let attendee: String
    /// The identity in the offer: certificate, credentials and synchronization sources.
    package let identity: LocalIdentity
    /// The offer that was given to the viewer.
    public let offer: String
    /// The viewer's answer. Nil until it is known.
    public var answer: String?
    private let endpoints: [Endpoint]

    private struct Endpoint: Codable {
        let address: String
        let port: UInt16
    }

    /// Stores a session of `attendee`, whose `offer` names `addresses`.
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

    /// The local addresses in the offer.
    package var addresses: [TransportAddress] { endpoints.compactMap { TransportAddress($0.address, port: $0.port) } }

    /// Opens the sockets at the addresses in the offer.
    package func openConnection(
        configuration: Connection.Configuration = Connection.Configuration()
    ) async throws -> Connection {
        try await Connection(
            as: .offerer, identity: identity, configuration: configuration.withCodecs(), endpoints: addresses)
    }
}

/// The reason why a session can't be handed over.
public enum HandoverError: Error, Hashable, Sendable {
    /// The session did not make the offer, or has an answer already.
    case notOffered
    /// The stored session has no answer.
    case unanswered
}

extension HandoverError: CustomStringConvertible {
    /// The failure with its reason and its remedy.
    public var description: String { explanation.text }
}

extension HandoverError: ExplainedError {
    /// The problem, and separately its remedy.
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
