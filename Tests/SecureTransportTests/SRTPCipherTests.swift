import Foundation
import RTCShareCSRTP
import Testing

@testable import RTCShareSecureTransport

/// The ciphers of libsrtp2, which are the whole process's.
@Suite struct SRTPCipherTests {
    /// Looks up libsrtp2's cipher of a number, by a function that its headers don't declare.
    private static func listed(_ number: srtp_cipher_type_id_t) throws -> srtp_cipher_type_t? {
        typealias Lookup = @convention(c) (srtp_cipher_type_id_t) -> UnsafePointer<srtp_cipher_type_t>?
        let symbol = try #require(dlsym(nil, "srtp_crypto_kernel_get_cipher_type"))
        return unsafeBitCast(symbol, to: Lookup.self)(number)?.pointee
    }

    @Test(
        "Our sessions use OpenSSL's ciphers; other users of libsrtp2 keep its built-in ones",
        arguments: SRTPProfile.allCases)
    func ownCiphers(profile: SRTPProfile) throws {
        let key = SRTPMasterKey(
            key: [UInt8](repeating: 1, count: profile.masterKeyByteCount),
            salt: [UInt8](repeating: 2, count: profile.masterSaltByteCount))
        _ = try SRTPSender(profile: profile, masterKey: key)
        var policy = srtp_policy_t()
        #expect(profile.apply(to: &policy))
        #expect(policy.rtp.cipher_type == policy.rtcp.cipher_type)
        let ours = try #require(try Self.listed(policy.rtp.cipher_type))
        #expect(String(cString: ours.description) == "AES of OpenSSL")
        for number in [SRTP_AES_ICM_128, SRTP_AES_ICM_256, SRTP_AES_GCM_128, SRTP_AES_GCM_256] {
            let builtIn = try #require(try Self.listed(srtp_cipher_type_id_t(number)))
            #expect(String(cString: builtIn.description) != "AES of OpenSSL")
        }
    }
}
