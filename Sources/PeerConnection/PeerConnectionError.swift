/// An error for a call that the connection's state does not allow.
package enum PeerConnectionError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The maximum number of media sections is reached.
    case tooManyMedia(limit: Int)
    /// A stream's or track's id has characters that a description does not allow (RFC 8830 §2).
    case notAToken(String)
    /// A later answer has other ICE credentials, but its offer did not restart ICE: the answer may be another peer's.
    case restartNotOffered
    /// The answer to an offer that restarts ICE has the former credentials.
    case restartNotAnswered
    /// The answer belongs to an offer that was rolled back.
    case staleOffer
    /// The peer's offer crosses an offer of this side that restarts ICE.
    case offerOutstanding
    /// A later offer has another DTLS role, which would start another association.
    case setupChanged
    /// A later description has another certificate's fingerprint.
    case fingerprintChanged
    /// The connection has ended.
    case ended

    /// The error and its remedy.
    package var description: String {
        switch self {
        case .tooManyMedia(let limit):
            "a connection has room for \(limit) media; stop one of them, or use another connection"
        case .notAToken(let text):
            "\"\(text)\" has characters that may not stand in an id; use letters, digits and the signs "
                + "!#$%&'*+-.^_`{|}~ only"
        case .restartNotOffered:
            "this answer has other ICE credentials than were agreed on, although the offer asked for no restart; hand "
                + "over the answer of this peer, and make a new offer for another one"
        case .restartNotAnswered:
            "the offer restarts ICE, but this answer has the credentials of before (RFC 8839 §4.4.1.1.1); check that it "
                + "is the answer to this very offer"
        case .staleOffer:
            "this answer is to an offer that was taken back; make a new one"
        case .offerOutstanding:
            "this offer crosses one of this side's that restarts ICE; have that answered, or take it back first "
                + "(rollbackOffer)"
        case .setupChanged:
            "this offer has another DTLS role (a=setup) than the connection, which would start another association; "
                + "make a new offer for another peer, or to restart with this one"
        case .fingerprintChanged:
            "this description has another certificate than the connection was made with; make a new offer for another "
                + "peer, or to restart with this one"
        case .ended:
            "the connection has ended; make a new offer for a new one"
        }
    }
}
