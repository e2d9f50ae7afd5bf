internal import RTCShareWireFormat

/// The reason why a DTLS connection failed. No SRTP key was available by then.
package enum DTLSError: Error, Hashable, Sendable {
    /// The peer's certificate does not match its session description (RFC 5763 §5).
    case fingerprintMismatch(expected: [Fingerprint], actual: Fingerprint)
    /// The peer sent a fatal alert, with this number and name (RFC 5246 §7.2).
    case peerAlert(code: UInt8, name: String)
    /// The handshake failed on this side, with OpenSSL's reason.
    case handshakeFailed(reason: String)
    /// The handshake took too long.
    case timedOut(after: Duration)
    /// The peer selected none of the offered SRTP profiles (RFC 5764 §4.1).
    case noSRTPProfile
    /// The peer closed the connection before the handshake was complete.
    case closedInHandshake
    /// OpenSSL failed in an operation that does not depend on the peer.
    case libraryFailure(operation: String, reason: String)
}

extension DTLSError: CustomStringConvertible {
    /// The failure, its reason, and advice on what to check.
    package var description: String {
        switch self {
        case .fingerprintMismatch(let expected, let actual):
            "the peer's certificate has fingerprint \(actual), its session description promises "
                + (expected.isEmpty ? "none" : expected.map(\.description).joined(separator: " or "))
                + ": the description belongs to another session, or somebody is in between"
        case .peerAlert(let code, let name):
            "the peer ended DTLS with alert \(code), \(name)"
        case .handshakeFailed(let reason):
            "the DTLS handshake failed: \(reason)"
        case .timedOut(let duration):
            "no DTLS handshake within \(duration.seconds.formattedSeconds) s: the peer does not answer, or does not "
                + "receive what is sent"
        case .noSRTPProfile:
            "the peer agreed to none of the SRTP profiles offered: it may not speak DTLS-SRTP"
        case .closedInHandshake:
            "the peer closed DTLS before its handshake was through"
        case .libraryFailure(let operation, let reason):
            "OpenSSL failed in \(operation): \(reason)"
        }
    }
}

extension Double {
    /// The number as text, without a fraction if it is whole.
    fileprivate var formattedSeconds: String {
        rounded() == self ? String(Int64(exactly: self) ?? .max) : String(self)
    }
}
