internal import RTCShareCSRTP

/// The reason why a packet was not protected, or not accepted.
package enum SRTPError: Error, Hashable, Sendable {
    /// The authentication tag is wrong: the packet is forged, damaged, or uses other keys.
    case authenticationFailed
    /// A packet with this index was received or sent before.
    case replayed
    /// The index is older than the replay window.
    case tooOld
    /// The packet is not RTP or RTCP, or is too short.
    case malformed
    /// The memory after the packet has fewer bytes than protection needs.
    case noRoom(needed: Int, capacity: Int)
    /// The master key has protected the maximum number of packets (RFC 3711 §9.2).
    case keyExhausted
    /// The key or the salt has the wrong length for the profile.
    case wrongKeyLength
    /// libsrtp2 failed in another way, with this status code.
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
    /// The failure and its reason.
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
