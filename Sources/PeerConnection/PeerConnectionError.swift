/// A call that a connection's state rules out.
public enum PeerConnectionError: Error, Sendable, Hashable, CustomStringConvertible {
    /// There are as many media sections as one connection can have.
    case tooManyMedia(limit: Int)
    /// A stream's or track's id has characters that may not stand in a description (RFC 8830 §2).
    case notAToken(String)
    /// A later description has other ICE credentials, or the other part in DTLS: a restart, or another peer.
    case restartUnsupported
    /// A later description has another certificate's fingerprint.
    case fingerprintChanged
    /// The connection has ended.
    case ended

    /// What is wrong and what to do.
    public var description: String {
        switch self {
        case .tooManyMedia(let limit):
            "a connection has room for \(limit) media; stop one of them, or use another connection"
        case .notAToken(let text):
            "\"\(text)\" has characters that may not stand in an id; use letters, digits and the signs "
                + "!#$%&'*+-.^_`{|}~ only"
        case .restartUnsupported:
            "this description would begin another transport (its ICE credentials or its a=setup differ from those that "
                + "were agreed on); make a new offer for another peer, or for this one to begin anew"
        case .fingerprintChanged:
            "this description has another certificate than the connection was made with; make a new offer for another "
                + "peer, or for this one to begin anew"
        case .ended:
            "the connection has ended; make a new offer for a new one"
        }
    }
}
