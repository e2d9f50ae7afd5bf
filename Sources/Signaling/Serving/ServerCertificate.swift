internal import RTCShareSecureTransport

/// A certificate and its key, for HTTPS.
public struct ServerCertificate: Sendable {
    private enum Origin {
        case files(certificate: String, key: String)
        case own(Certificate)
    }

    private let origin: Origin

    /// What two files in PEM hold: the certificate with those that it is signed by, and the key.
    public init(certificateFile: String, keyFile: String) {
        origin = .files(certificate: certificateFile, key: keyFile)
    }

    /// Draws one that nobody vouches for, for these names and addresses; valid from a day before `unixTime`, for a year.
    /// Browsers warn of it once; ``fingerprint`` shows a person that it is this one.
    public init(selfSignedFor names: [String], unixTime: Int64) throws {
        let day: Int64 = 86_400
        origin = .own(
            try Certificate(
                selfSignedFor: "rtcshare", hosts: names, notBefore: unixTime - day, notAfter: unixTime + 365 * day))
    }

    /// What ``pem`` gave.
    package init(pem: (certificate: String, key: String)) throws {
        origin = .own(try Certificate(certificatePEM: pem.certificate, privateKeyPEM: pem.key))
    }

    /// Both as text, of one that was drawn here. The key is secret.
    package var pem: (certificate: String, key: String)? {
        guard case .own(let certificate) = origin else { return nil }
        return (certificate.certificatePEM, certificate.privateKeyPEM)
    }

    /// SHA-256 of one that was drawn here, as browsers show it.
    public var fingerprint: String? {
        guard case .own(let certificate) = origin else { return nil }
        return certificate.fingerprint().description.split(separator: " ").last.map(String.init)
    }

    /// Whether one that was drawn here is valid at a time, in seconds since 1 January 1970.
    package func isValid(at unixTime: Int64) -> Bool {
        guard case .own(let certificate) = origin else { return true }
        return certificate.isValid(at: unixTime)
    }

    /// - Throws: where a file can't be read, or the two don't belong together.
    func makeContext() throws -> TLSContext {
        switch origin {
        case .files(let certificateFile, let keyFile):
            try TLSContext(certificateFile: certificateFile, keyFile: keyFile)
        case .own(let certificate): try TLSContext(certificate)
        }
    }
}
