internal import RTCShareWireFormat

/// Why a DTLS connection failed. Nothing was released by then that SRTP could be used with.
package enum DTLSError: Error, Hashable, Sendable {
    /// The peer's certificate is not the one that its session description promises (RFC 5763 §5).
    case fingerprintMismatch(expected: [Fingerprint], actual: Fingerprint)
    /// The peer sent a fatal alert; the alert's number and name (RFC 5246 §7.2).
    case peerAlert(code: UInt8, name: String)
    /// The handshake went wrong on this side; OpenSSL's reason.
    case handshakeFailed(reason: String)
    /// The handshake took longer than it may.
    case timedOut(after: Duration)
    /// The peer agreed to no SRTP profile that was offered (RFC 5764 §4.1).
    case noSRTPProfile
    /// The peer closed the connection before the handshake was through.
    case closedInHandshake
    /// OpenSSL could not do something that does not depend on the peer.
    case libraryFailure(operation: String, reason: String)
}

extension DTLSError: CustomStringConvertible {
    /// What failed, why, and what to look at.
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
    /// Without a fraction where there is none.
    fileprivate var formattedSeconds: String {
        rounded() == self ? String(Int64(exactly: self) ?? .max) : String(self)
    }
}
