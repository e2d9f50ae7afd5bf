internal import Glibc
internal import RTCShareSecureTransport

/// A certificate and its key, for HTTPS.
public struct ServerCertificate: Sendable {
    private enum Origin {
        case files(certificate: String, key: String)
        case own(Certificate)
    }

    private let origin: Origin

    /// Uses two PEM files: the certificate with its issuers, and the key. A server uses changed files after at most a
    /// minute.
    public init(certificateFile: String, keyFile: String) {
        origin = .files(certificate: certificateFile, key: keyFile)
    }

    /// Creates a self-signed certificate for these names and addresses. It is valid from a day before `unixTime`, for a
    /// year. Browsers warn of it once. A person can compare its ``fingerprint``.
    public init(selfSignedFor names: [String], unixTime: Int64) throws {
        let day: Int64 = 86_400
        origin = .own(
            try Certificate(
                selfSignedFor: "rtcshare", hosts: names, notBefore: unixTime - day, notAfter: unixTime + 365 * day))
    }

    /// Restores a certificate from its ``pem``.
    package init(pem: (certificate: String, key: String)) throws {
        origin = .own(try Certificate(certificatePEM: pem.certificate, privateKeyPEM: pem.key))
    }

    /// The certificate and the secret key as text. Nil for a certificate from files.
    package var pem: (certificate: String, key: String)? {
        guard case .own(let certificate) = origin else { return nil }
        return (certificate.certificatePEM, certificate.privateKeyPEM)
    }

    /// The SHA-256 fingerprint, as browsers show it. Nil for a certificate from files.
    public var fingerprint: String? {
        guard case .own(let certificate) = origin else { return nil }
        return certificate.fingerprint().description.split(separator: " ").last.map(String.init)
    }

    /// Returns whether a certificate is valid at a time, in seconds since 1 January 1970. Always true for one from
    /// files.
    package func isValid(at unixTime: Int64) -> Bool {
        guard case .own(let certificate) = origin else { return true }
        return certificate.isValid(at: unixTime)
    }

    /// The name in messages.
    var name: String {
        switch origin {
        case .files(let certificate, _): "the TLS certificate \(certificate)"
        case .own: "the self-signed certificate"
        }
    }

    /// Returns numbers that change with each of the files: its identity, size and time. Empty for a certificate that is
    /// not from files.
    func fileVersions() -> [[Int]] {
        guard case .files(let certificateFile, let keyFile) = origin else { return [] }
        return [certificateFile, keyFile].map { path in
            var status = stat()
            guard stat(path, &status) == 0 else { return [] }
            return [
                Int(truncatingIfNeeded: status.st_dev), Int(truncatingIfNeeded: status.st_ino),
                Int(truncatingIfNeeded: status.st_size), Int(truncatingIfNeeded: status.st_mtim.tv_sec),
                Int(truncatingIfNeeded: status.st_mtim.tv_nsec),
            ]
        }
    }

    /// - Throws: An error if a file can't be read, or if key and certificate don't match.
    func makeContext() throws -> TLSContext {
        switch origin {
        case .files(let certificateFile, let keyFile):
            try TLSContext(certificateFile: certificateFile, keyFile: keyFile)
        case .own(let certificate): try TLSContext(certificate)
        }
    }
}
