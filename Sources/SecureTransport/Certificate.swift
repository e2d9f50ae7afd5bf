internal import RTCShareCOpenSSL

/// A certificate with its private key: the identity of this peer in DTLS (RFC 8827 §6.5).
///
/// It is stored as PEM text, so that it is a plain value for session files. The private key is secret: no description
/// contains it, and only the owner of a file with it may be able to read that file.
package struct Certificate: Hashable, Sendable {
    /// The certificate in PEM.
    package let certificatePEM: String
    /// The private key in PEM (PKCS #8, not encrypted). Secret.
    package let privateKeyPEM: String
    /// The certificate in DER.
    package let derBytes: [UInt8]
    /// The subject's common name; empty where it has none.
    package let commonName: String
    /// The start of validity, in seconds since 1970-01-01 UTC.
    package let notBefore: Int64
    /// The end of validity, in seconds since 1970-01-01 UTC.
    package let notAfter: Int64

    /// Creates a new self-signed certificate with a new ECDSA key on P-256.
    ///
    /// - Parameters:
    /// - commonName: The subject and issuer, 1 to 64 characters. It should name neither user nor machine.
    /// - hosts: The names and addresses of a server's certificate (RFC 5280 §4.2.1.6); none for a peer's.
    /// - notBefore: The start of validity in Unix seconds. A day before now tolerates a peer's slow clock.
    /// - notAfter: The end of validity in Unix seconds, after `notBefore`.
    package init(
        selfSignedFor commonName: String = "WebRTC", hosts: [String] = [], notBefore: Int64, notAfter: Int64
    ) throws(CertificateError) {
        guard (1...64).contains(commonName.unicodeScalars.count) else { throw .invalidCommonName }
        guard notBefore < notAfter else { throw .invalidValidity(notBefore: notBefore, notAfter: notAfter) }
        OpenSSLError.clear()
        guard let key = KeyHandle(adopting: copenssl_generate_p256()), let x509 = X509Handle(adopting: X509_new())
        else { throw .libraryFailure(reason: OpenSSLError.takeReason()) }
        guard Self.fill(x509, key: key, commonName: commonName, notBefore: notBefore, notAfter: notAfter),
            hosts.isEmpty || Self.add(hosts: hosts, to: x509),
            X509_sign(x509.pointer, key.pointer, EVP_sha256()) > 0
        else { throw .libraryFailure(reason: OpenSSLError.takeReason()) }
        guard let certificateText = MemoryBIO(), let keyText = MemoryBIO(),
            PEM_write_bio_X509(certificateText.pointer, x509.pointer) == 1,
            PEM_write_bio_PrivateKey(keyText.pointer, key.pointer, nil, nil, 0, nil, nil) == 1
        else { throw .libraryFailure(reason: OpenSSLError.takeReason()) }
        try self.init(certificatePEM: certificateText.readAll(), privateKeyPEM: keyText.readAll())
    }

    /// Creates a certificate and its private key from PEM.
    package init(certificatePEM: String, privateKeyPEM: String) throws(CertificateError) {
        let x509 = try Self.readCertificate(certificatePEM)
        let key = try Self.readKey(privateKeyPEM)
        guard X509_check_private_key(x509.pointer, key.pointer) == 1 else {
            OpenSSLError.clear()
            throw .keyMismatch
        }
        self.certificatePEM = certificatePEM
        self.privateKeyPEM = privateKeyPEM
        derBytes = x509.derBytes
        commonName = Self.commonName(of: x509)
        guard let notBefore = Self.unixSeconds(X509_get0_notBefore(x509.pointer)),
            let notAfter = Self.unixSeconds(X509_get0_notAfter(x509.pointer))
        else { throw .unreadableCertificate(reason: OpenSSLError.takeReason()) }
        self.notBefore = notBefore
        self.notAfter = notAfter
    }

    /// Returns the certificate's fingerprint, for `a=fingerprint`.
    package func fingerprint(_ algorithm: Fingerprint.Algorithm = .sha256) -> Fingerprint {
        Fingerprint(ofCertificate: derBytes, algorithm: algorithm)
    }

    /// Whether the certificate is valid at a time in Unix seconds.
    package func isValid(at unixSeconds: Int64) -> Bool {
        notBefore <= unixSeconds && unixSeconds <= notAfter
    }

    static func readCertificate(_ text: String) throws(CertificateError) -> X509Handle {
        OpenSSLError.clear()
        guard let bio = MemoryBIO(text),
            let x509 = X509Handle(adopting: PEM_read_bio_X509(bio.pointer, nil, refuseToAsk, nil))
        else { throw .unreadableCertificate(reason: OpenSSLError.takeReason()) }
        return x509
    }

    static func readKey(_ text: String) throws(CertificateError) -> KeyHandle {
        OpenSSLError.clear()
        guard let bio = MemoryBIO(text),
            let key = KeyHandle(adopting: PEM_read_bio_PrivateKey(bio.pointer, nil, refuseToAsk, nil))
        else { throw .unreadableKey(reason: OpenSSLError.takeReason()) }
        return key
    }

    /// A callback without which OpenSSL prompts for a pass phrase at the terminal.
    static let refuseToAsk:
        @convention(c) (UnsafeMutablePointer<CChar>?, Int32, Int32, UnsafeMutableRawPointer?) -> Int32 = {
            _, _, _, _ in -1
        }

    private static func fill(
        _ x509: borrowing X509Handle, key: borrowing KeyHandle, commonName: String, notBefore: Int64, notAfter: Int64
    ) -> Bool {
        let certificate = x509.pointer
        guard X509_set_version(certificate, 2) == 1,
            ASN1_TIME_set(X509_getm_notBefore(certificate), Int(notBefore)) != nil,
            ASN1_TIME_set(X509_getm_notAfter(certificate), Int(notAfter)) != nil,
            let name = X509_get_subject_name(certificate),
            Array(commonName.utf8).withUnsafeBufferPointer({
                X509_NAME_add_entry_by_txt(
                    name, "CN", MBSTRING_FLAG, $0.baseAddress, Int32(clamping: $0.count), -1, 0)
            }) == 1,
            X509_set_issuer_name(certificate, name) == 1,
            X509_set_pubkey(certificate, key.pointer) == 1
        else { return false }
        // Serial numbers of one issuer's certificates must differ: the digest of the new key does.
        var digest = [UInt8](repeating: 0, count: Fingerprint.Algorithm.sha256.byteCount)
        guard X509_pubkey_digest(certificate, EVP_sha256(), &digest, nil) == 1 else { return false }
        let serial = digest.prefix(8).reduce(UInt64(0)) { $0 << 8 | UInt64($1) } >> 1
        return ASN1_INTEGER_set_uint64(X509_get_serialNumber(certificate), max(1, serial)) == 1
    }

    /// Adds the names and addresses of a server's certificate.
    private static func add(hosts: [String], to x509: borrowing X509Handle) -> Bool {
        let names = hosts.filter { host in host.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F && $0 != UInt8(ascii: ",") } }
            .map { ($0.contains(":") || $0.allSatisfy { $0.isNumber || $0 == "." } ? "IP:" : "DNS:") + $0 }
        for (kind, value) in [(NID_subject_alt_name, names.joined(separator: ",")), (NID_ext_key_usage, "serverAuth")] {
            guard let part = X509V3_EXT_conf_nid(nil, nil, kind, value) else { return false }
            defer { X509_EXTENSION_free(part) }
            guard X509_add_ext(x509.pointer, part, -1) == 1 else { return false }
        }
        return true
    }

    private static func commonName(of x509: borrowing X509Handle) -> String {
        guard let subject = X509_get_subject_name(x509.pointer) else { return "" }
        let index = X509_NAME_get_index_by_NID(subject, NID_commonName, -1)
        guard index >= 0,
            let data = X509_NAME_ENTRY_get_data(X509_NAME_get_entry(subject, index))
        else { return "" }
        var text: UnsafeMutablePointer<UInt8>?
        let length = ASN1_STRING_to_UTF8(&text, data)
        guard length > 0, let text else { return "" }
        defer { CRYPTO_free(text, nil, 0) }
        return String(decoding: UnsafeBufferPointer(start: text, count: Int(length)), as: UTF8.self)
    }

    static func unixSeconds(_ time: UnsafePointer<ASN1_TIME>?) -> Int64? {
        guard let epoch = ASN1_TIME_set(nil, 0) else { return nil }
        defer { ASN1_TIME_free(epoch) }
        var days: Int32 = 0
        var seconds: Int32 = 0
        guard ASN1_TIME_diff(&days, &seconds, epoch, time) == 1 else { return nil }
        return Int64(days) * 86_400 + Int64(seconds)
    }
}

extension Certificate: Codable {
    private enum CodingKeys: String, CodingKey {
        case certificatePEM = "certificate"
        case privateKeyPEM = "privateKey"
    }

    /// Decodes both PEM texts and checks that they match.
    package init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        try self.init(
            certificatePEM: container.decode(String.self, forKey: .certificatePEM),
            privateKeyPEM: container.decode(String.self, forKey: .privateKeyPEM))
    }

    /// Encodes both PEM texts. The output contains the private key.
    package func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(certificatePEM, forKey: .certificatePEM)
        try container.encode(privateKeyPEM, forKey: .privateKeyPEM)
    }
}

extension Certificate: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The common name and the fingerprint, without the key.
    package var description: String { "certificate \(commonName.debugDescription), \(fingerprint())" }
    /// The same text as ``description``.
    package var debugDescription: String { description }
    /// A mirror without the key, so that a dump of a value around it shows none.
    package var customMirror: Mirror { Mirror(self, children: ["commonName": commonName]) }
}

/// The reason why a certificate is not available.
package enum CertificateError: Error, Hashable, Sendable {
    /// The common name does not have 1 to 64 characters.
    case invalidCommonName
    /// The validity ends before it starts.
    case invalidValidity(notBefore: Int64, notAfter: Int64)
    /// The text is not a certificate in PEM.
    case unreadableCertificate(reason: String)
    /// The text is not a private key in PEM, or the key is encrypted.
    case unreadableKey(reason: String)
    /// The private key does not match the certificate.
    case keyMismatch
    /// OpenSSL failed.
    case libraryFailure(reason: String)
}

extension CertificateError: CustomStringConvertible {
    /// The failure and its reason.
    package var description: String {
        switch self {
        case .invalidCommonName: "a certificate's common name has 1 to 64 characters"
        case .invalidValidity(let notBefore, let notAfter):
            "a certificate valid from \(notBefore) cannot end at \(notAfter)"
        case .unreadableCertificate(let reason): "no certificate in PEM: \(reason)"
        case .unreadableKey(let reason): "no private key in unencrypted PEM: \(reason)"
        case .keyMismatch: "the private key does not belong to the certificate"
        case .libraryFailure(let reason): "OpenSSL could not make a certificate: \(reason)"
        }
    }
}
