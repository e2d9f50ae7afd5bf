internal import RTCShareCOpenSSL
internal import RTCShareCSRTP

/// A DTLS-SRTP protection profile, which determines encryption and authentication (RFC 5764 §4.1.2, RFC 7714 §14.2).
package enum SRTPProfile: UInt16, CaseIterable, Sendable, Codable {
    /// AES-128 in Galois/counter mode with a tag of 16 bytes.
    case aeadAES128GCM = 0x0007
    /// AES-128 in counter mode with HMAC-SHA1 and a tag of 10 bytes, which every WebRTC peer supports (RFC 8827 §6.5).
    case aes128CMHMACSHA1Tag80 = 0x0001
    /// AES-256 in Galois/counter mode with a tag of 16 bytes.
    case aeadAES256GCM = 0x0008

    /// The offered profiles in order of preference: GCM costs a fifth of counter mode with HMAC.
    package static let preferred: [SRTPProfile] = [.aeadAES128GCM, .aes128CMHMACSHA1Tag80]

    /// The length of a master key in bytes.
    package var masterKeyByteCount: Int { self == .aeadAES256GCM ? 32 : 16 }

    /// The length of a master salt in bytes: 14 (RFC 3711 §8.2), or 12 for GCM (RFC 7714 §12).
    package var masterSaltByteCount: Int { self == .aes128CMHMACSHA1Tag80 ? 14 : 12 }

    /// The number of bytes that protection adds to an RTP packet.
    package var rtpOverhead: Int { self == .aes128CMHMACSHA1Tag80 ? 10 : 16 }

    /// The number of bytes that protection adds to a compound RTCP packet: the tag, and the index with the encryption
    /// flag.
    package var rtcpOverhead: Int { rtpOverhead + 4 }

    /// OpenSSL's name of the profile.
    var opensslName: String {
        switch self {
        case .aeadAES128GCM: "SRTP_AEAD_AES_128_GCM"
        case .aes128CMHMACSHA1Tag80: "SRTP_AES128_CM_SHA1_80"
        case .aeadAES256GCM: "SRTP_AEAD_AES_256_GCM"
        }
    }

    /// Sets the policy for RTP and RTCP, with ``SRTPCipher``. Returns false if libsrtp2 was built without the profile.
    func apply(to policy: inout srtp_policy_t) -> Bool {
        let profile =
            switch self {
            case .aeadAES128GCM: srtp_profile_aead_aes_128_gcm
            case .aes128CMHMACSHA1Tag80: srtp_profile_aes128_cm_sha1_80
            case .aeadAES256GCM: srtp_profile_aead_aes_256_gcm
            }
        guard srtp_crypto_policy_set_from_profile_for_rtp(&policy.rtp, profile) == srtp_err_status_ok,
            srtp_crypto_policy_set_from_profile_for_rtcp(&policy.rtcp, profile) == srtp_err_status_ok
        else { return false }
        policy.rtp.cipher_type = SRTPCipher.number(for: policy.rtp.cipher_type)
        policy.rtcp.cipher_type = SRTPCipher.number(for: policy.rtcp.cipher_type)
        return true
    }
}

extension SRTPProfile: CustomStringConvertible {
    /// The name in IANA's registry of DTLS-SRTP protection profiles, as in `srtpCipher` of webrtc-stats.
    package var description: String {
        switch self {
        case .aeadAES128GCM: "SRTP_AEAD_AES_128_GCM"
        case .aes128CMHMACSHA1Tag80: "SRTP_AES128_CM_HMAC_SHA1_80"
        case .aeadAES256GCM: "SRTP_AEAD_AES_256_GCM"
        }
    }
}
