internal import RTCShareCSRTP

/// A test vector of a cipher: libsrtp2 accepts no cipher without a test.
struct SRTPCipherVector {
    /// The key in hexadecimal, like all of these.
    private let key: String
    private let nonce: String
    private let plaintext: String
    /// The ciphertext with the tag.
    private let ciphertext: String
    private let additional: String
    private let tagByteCount: Int32

    /// Test case 4 of McGrew and Viega's submission of GCM to NIST. The salt is not used.
    static let galoisCounter128 = SRTPCipherVector(
        key: gcmKey + gcmSalt, nonce: gcmNonce, plaintext: gcmPlaintext,
        ciphertext: "42831ec2217774244b7221b784d0d49ce3aa212f2c02a4e035c17e2329aca12e"
            + "21d514b25466931c7d8f6a5aac84aa051ba30b396a0aac973d58e0915bc94fbc3221a5db94fae95ae7121a47",
        additional: gcmAdditional, tagByteCount: 16)
    /// Test case 16 of the same submission.
    static let galoisCounter256 = SRTPCipherVector(
        key: gcmKey + gcmKey + gcmSalt, nonce: gcmNonce, plaintext: gcmPlaintext,
        ciphertext: "522dc1f099567d07f47f37a32a84427d643a8cdcbfe5c0c97598a2bd2555d1aa"
            + "8cb08e48590dbb3da7b08b1056828838c5f61e6393ba7a0abcc9f66276fc6ece0f4e1768cddf8853bb2d551b",
        additional: gcmAdditional, tagByteCount: 16)
    /// The vector of RFC 3711 appendix B.2.
    static let counter128 = SRTPCipherVector(
        key: "2b7e151628aed2a6abf7158809cf4f3c" + counterSalt, nonce: zeros, plaintext: zeros + zeros,
        ciphertext: "e03ead0935c95e80e166b16dd92b4eb4d23513162b02d0f72a43a2fe4a5f97ab", additional: "", tagByteCount: 0)
    /// The vector of RFC 6188 §7.1.
    static let counter256 = SRTPCipherVector(
        key: "57f82fe3613fd170a85ec93c40b1f0922ec4cb0dc025b58272147cc438944a98" + counterSalt, nonce: zeros,
        plaintext: zeros + zeros, ciphertext: "92bdd28a93c3f52511c677d08b5515a49da71b2378a854f67050756ded165bac",
        additional: "", tagByteCount: 0)

    private static let gcmKey = "feffe9928665731c6d6a8f9467308308"
    private static let gcmSalt = "000000000000000000000000"
    private static let gcmNonce = "cafebabefacedbaddecaf888"
    private static let gcmPlaintext =
        "d9313225f88406e5a55909c5aff5269a86a7a9531534f7da2e4c303d8a318a72"
        + "1c3c0c95956809532fcf0e2449a6b525b16aedf5aa0de657ba637b39"
    private static let gcmAdditional = "feedfacedeadbeeffeedfacedeadbeefabaddad2"
    private static let counterSalt = "f0f1f2f3f4f5f6f7f8f9fafbfcfd"
    private static let zeros = "00000000000000000000000000000000"

    /// The vector in libsrtp2's format, in memory that is never freed: libsrtp2 uses it as long as the process lasts.
    var testCase: UnsafePointer<srtp_cipher_test_case_t> {
        let test = UnsafeMutablePointer<srtp_cipher_test_case_t>.allocate(capacity: 1)
        test.initialize(to: srtp_cipher_test_case_t())
        (test.pointee.key, test.pointee.key_length_octets) = (Self.bytes(key), Int32(key.utf8.count / 2))
        test.pointee.idx = UnsafeMutablePointer(mutating: Self.bytes(nonce))
        test.pointee.plaintext = Self.bytes(plaintext)
        test.pointee.plaintext_length_octets = UInt32(plaintext.utf8.count / 2)
        test.pointee.ciphertext = Self.bytes(ciphertext)
        test.pointee.ciphertext_length_octets = UInt32(ciphertext.utf8.count / 2)
        (test.pointee.aad, test.pointee.aad_length_octets) = (Self.bytes(additional), Int32(additional.utf8.count / 2))
        test.pointee.tag_length_octets = tagByteCount
        return UnsafePointer(test)
    }

    private static func bytes(_ hexadecimal: String) -> UnsafePointer<UInt8> {
        let digits = hexadecimal.compactMap(\.hexDigitValue)
        let memory = UnsafeMutablePointer<UInt8>.allocate(capacity: max(1, digits.count / 2))
        for index in 0..<digits.count / 2 {
            (memory + index).initialize(to: UInt8(digits[2 * index] << 4 | digits[2 * index + 1]))
        }
        return UnsafePointer(memory)
    }
}
