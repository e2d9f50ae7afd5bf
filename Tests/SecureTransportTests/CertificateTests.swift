import Foundation
import RTCShareSecureTransport
import Testing

@Suite struct FingerprintTests {
    static let text =
        "sha-256 4A:AD:B9:B1:3F:82:18:3B:54:02:12:DF:3E:5D:49:6B:19:E5:7C:AB:3A:4B:65:2E:7D:46:3F:54:42:CD:54:F1"

    @Test("A fingerprint is written as it was parsed")
    func isWrittenAsItWasRead() throws {
        #expect(try Fingerprint(Self.text).description == Self.text)
        #expect(try Fingerprint(Self.text.lowercased()).description == Self.text)
        #expect(try Fingerprint("SHA-256 " + Self.text.dropFirst(8)).algorithm == .sha256)
    }

    @Test("Weak hashes are rejected", arguments: ["sha-1", "md5", "md2", "SHA-1"])
    func refusesHashesThatAreTooWeak(name: String) {
        #expect(throws: FingerprintError.tooWeak(algorithm: name.lowercased())) {
            try Fingerprint("\(name) 4A:AD:B9:B1:3F:82:18:3B:54:02:12:DF:3E:5D:49:6B:19:E5:7C:AB")
        }
    }

    @Test("The error for an invalid fingerprint says what is wrong")
    func tellsWhatIsWrong() {
        #expect(throws: FingerprintError.unknownAlgorithm("sha-3")) { try Fingerprint("sha-3 00") }
        #expect(throws: FingerprintError.wrongLength(algorithm: .sha256, byteCount: 2)) {
            try Fingerprint("sha-256 00:11")
        }
        #expect(throws: FingerprintError.malformed(offset: 4)) { try Fingerprint("sha-256 00:1G") }
        #expect(throws: FingerprintError.malformed(offset: 2)) { try Fingerprint("sha-256 0011") }
        #expect(throws: FingerprintError.malformed(offset: 3)) { try Fingerprint("sha-256 00:") }
        #expect(throws: FingerprintError.malformed(offset: 0)) { try Fingerprint("") }
    }

    @Test("A truncated or corrupted fingerprint is parsed or throws, without a trap")
    func corruption() {
        let bytes = Array(Self.text.utf8)
        for count in 0..<bytes.count {
            #expect(throws: FingerprintError.self) {
                try Fingerprint(String(decoding: bytes.prefix(count), as: UTF8.self))
            }
        }
        for index in bytes.indices {
            for bit in 0..<8 {
                var damaged = bytes
                damaged[index] ^= 1 << UInt8(bit)
                let parsed = try? Fingerprint(String(decoding: damaged, as: UTF8.self))
                if let parsed { #expect(parsed.bytes.count == parsed.algorithm.byteCount) }
            }
        }
    }

    @Test("A fingerprint matches only the same digest")
    func matchesOnlyTheSameDigest() throws {
        let fingerprint = try Fingerprint(Self.text)
        var bytes = fingerprint.bytes
        bytes[31] ^= 1
        #expect(fingerprint.matches(fingerprint))
        #expect(try !fingerprint.matches(Fingerprint(algorithm: .sha256, bytes: bytes)))
    }
}

@Suite struct CertificateTests {
    @Test("A certificate contains its name, validity and key")
    func holdsNameValidityAndKey() throws {
        let certificate = try #require(Identities.alice)
        #expect(certificate.commonName == "alice")
        #expect(certificate.notBefore == 1_700_000_000)
        #expect(certificate.notAfter == 1_900_000_000)
        #expect(certificate.isValid(at: 1_700_000_000))
        #expect(!certificate.isValid(at: 1_699_999_999))
        #expect(!certificate.isValid(at: 1_900_000_001))
    }

    @Test("A certificate survives a round trip through the session file")
    func survivesTheSessionFile() throws {
        let certificate = try #require(Identities.alice)
        let data = try JSONEncoder().encode(certificate)
        #expect(try JSONDecoder().decode(Certificate.self, from: data) == certificate)
    }

    @Test("No two generated certificates are equal")
    func isNeverTheSameTwice() throws {
        #expect(Identities.alice?.fingerprint() != Identities.bob?.fingerprint())
    }

    @Test("A certificate with another certificate's key is rejected")
    func refusesTheKeyOfAnother() throws {
        let alice = try #require(Identities.alice)
        let bob = try #require(Identities.bob)
        #expect(throws: CertificateError.keyMismatch) {
            try Certificate(certificatePEM: alice.certificatePEM, privateKeyPEM: bob.privateKeyPEM)
        }
    }

    @Test("Text that is not PEM is rejected")
    func refusesWhatIsNoPEM() throws {
        let alice = try #require(Identities.alice)
        #expect(throws: CertificateError.self) {
            try Certificate(certificatePEM: "", privateKeyPEM: alice.privateKeyPEM)
        }
        #expect(throws: CertificateError.self) {
            try Certificate(
                certificatePEM: String(alice.certificatePEM.dropLast(60)), privateKeyPEM: alice.privateKeyPEM)
        }
        #expect(throws: CertificateError.self) {
            try Certificate(certificatePEM: alice.certificatePEM, privateKeyPEM: "nonsense")
        }
    }

    @Test("An encrypted key is rejected without a prompt for its passphrase")
    func encryptedKeyRefused() throws {
        let alice = try #require(Identities.alice)
        let encrypted = """
            -----BEGIN EC PRIVATE KEY-----
            Proc-Type: 4,ENCRYPTED
            DEK-Info: AES-128-CBC,00112233445566778899AABBCCDDEEFF

            AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA
            -----END EC PRIVATE KEY-----
            """
        #expect(throws: CertificateError.self) {
            try Certificate(certificatePEM: alice.certificatePEM, privateKeyPEM: encrypted)
        }
    }

    @Test("Values that X.509 cannot represent are rejected")
    func refusesWhatX509CannotHold() {
        #expect(throws: CertificateError.invalidCommonName) {
            try Certificate(selfSignedFor: "", notBefore: 0, notAfter: 1)
        }
        #expect(throws: CertificateError.invalidCommonName) {
            try Certificate(selfSignedFor: String(repeating: "x", count: 65), notBefore: 0, notAfter: 1)
        }
        #expect(throws: CertificateError.invalidValidity(notBefore: 5, notAfter: 5)) {
            try Certificate(notBefore: 5, notAfter: 5)
        }
    }

    @Test("Descriptions contain no secret")
    func noDescriptionShowsASecret() throws {
        let certificate = try #require(Identities.alice)
        var dumped = ""
        dump(certificate, to: &dumped)
        dump(DTLSConfiguration(certificate: certificate), to: &dumped)
        let key = SRTPMasterKey(key: [UInt8](repeating: 0xA7, count: 16), salt: [UInt8](repeating: 0xA7, count: 12))
        let keys = SRTPKeyingMaterial(profile: .aeadAES128GCM, local: key, remote: key)
        dump(keys, to: &dumped)
        dump(key, to: &dumped)
        dumped += "\(certificate) \(keys) \(String(reflecting: keys)) \(String(reflecting: certificate))"
        #expect(!dumped.contains("PRIVATE"))
        #expect(!dumped.contains("167"))
    }
}
