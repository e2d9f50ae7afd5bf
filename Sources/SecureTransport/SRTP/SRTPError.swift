internal import RTCShareCSRTP

/// Why a packet was not protected, or not accepted.
package enum SRTPError: Error, Hashable, Sendable {
    /// The tag is not the one that the key makes: forged, damaged, or from other keys.
    case authenticationFailed
    /// A packet with this index was seen before, or sent before.
    case replayed
    /// The index is further back than the replay window reaches.
    case tooOld
    /// Not an RTP or RTCP packet, or too short to be protected.
    case malformed
    /// The memory has less room behind the packet than protection needs, in bytes.
    case noRoom(needed: Int, capacity: Int)
    /// The master key has protected as many packets as it may (RFC 3711 §9.2).
    case keyExhausted
    /// A key or salt of the wrong length for the profile.
    case wrongKeyLength
    /// libsrtp2 failed in another way; its status code.
    case libraryFailure(code: Int)

    init(status: srtp_err_status_t) {
        self =
            switch status {
            case srtp_err_status_auth_fail: .authenticationFailed
            case srtp_err_status_replay_fail: .replayed
            case srtp_err_status_replay_old, srtp_err_status_pkt_idx_old: .tooOld
            case srtp_err_status_bad_param, srtp_err_status_parse_err: .malformed
            case srtp_err_status_key_expired: .keyExhausted
            default: .libraryFailure(code: Int(status.rawValue))
            }
    }
}

extension SRTPError: CustomStringConvertible {
    /// What failed and why.
    package var description: String {
        switch self {
        case .authenticationFailed: "the packet's authentication tag does not match"
        case .replayed: "a packet with this index was there before"
        case .tooOld: "the packet is older than the replay window"
        case .malformed: "not a packet that SRTP can work on"
        case .noRoom(let needed, let capacity): "protection needs \(needed) bytes of memory, there are \(capacity)"
        case .keyExhausted: "the master key has been used for as many packets as it may"
        case .wrongKeyLength: "the master key or salt has the wrong length for the profile"
        case .libraryFailure(let code): "libsrtp2 failed with status \(code)"
        }
    }
}
