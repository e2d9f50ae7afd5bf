import Foundation
import Testing
import TestSupport

/// A server's certificate of a test's own, which is its own authority; the `openssl` command makes it.
struct TestCertificate {
    let certificate: URL
    let key: URL

    /// - Parameter subject: What it is for, as a subject alternative name: `DNS:localhost`, `IP:203.0.113.10`.
    init(for subject: String, in folder: TemporaryFolder) async throws {
        let name = UUID().uuidString
        certificate = folder.file("\(name).pem")
        key = folder.file("\(name).key")
        let made = try await RunningProgram.run(
            try #require(RunningProgram.find("openssl")),
            [
                "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", key.path, "-out", certificate.path, "-days",
                "2", "-subj", "/CN=rtcshare test", "-addext", "subjectAltName=\(subject)",
            ], in: folder, timeout: .seconds(30))
        try #require(made.status == 0, "\(made.standardError)")
    }
}
