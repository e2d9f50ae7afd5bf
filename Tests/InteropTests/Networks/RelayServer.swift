import Foundation
import TestSupport
import Testing

extension TestNetwork {
    static let username = "alice"
    static let password = "wonderland"
    static let realm = "networks.test"

    /// Starts coturn on the server: STUN with a second address and port (RFC 5780), TURN over UDP and TCP for one user
    /// or, with a secret, for those with credentials from it; with a certificate, over TLS at the port of HTTPS too.
    @discardableResult
    func startServer(
        versions: Versions = .v4, certificate: TestCertificate? = nil, secret: String? = nil
    ) async throws -> RunningProgram {
        let addresses =
            (versions.hasV4 ? [Self.serverV4, Self.alternateV4] : []) + (versions.hasV6 ? [Self.serverV6] : [])
        var arguments = addresses.flatMap { ["--listening-ip", $0] }
        if versions.hasV4 { arguments += ["--relay-ip", Self.serverV4] }
        if versions.hasV6 { arguments += ["--relay-ip", Self.serverV6] }
        if let certificate {
            arguments += ["--tls-listening-port", "443"]
            arguments += ["--cert", certificate.certificate.path, "--pkey", certificate.key.path]
        } else {
            arguments.append("--no-tls")
        }
        if let secret {
            arguments += ["--use-auth-secret", "--static-auth-secret", secret, "--verbose"]
        } else {
            arguments += ["--lt-cred-mech", "--user", "\(Self.username):\(Self.password)"]
        }
        arguments += [
            "-n", "--no-dtls", "--no-cli", "--realm", Self.realm, "--userdb", "turn.db", "--pidfile", "turn.pid",
            "--log-file", "stdout", "--simple-log", "--min-port", "50000", "--max-port", "50999",
            "--relay-threads", "1",
        ]
        let program = try start(try #require(Self.find("turnserver")), arguments, on: .server)
        try await program.wait(for: "coturn", timeout: .seconds(10)) {
            // A socket at port 3478, in hexadecimal, that listens: TCP comes after UDP there.
            ["tcp", "tcp6"].contains { table in
                let text = try? kernelTable("/proc/\(program.processIdentifier)/net/\(table)")
                return text?.split(separator: "\n").contains { $0.contains(":0D96 ") && $0.contains(" 0A ") } ?? false
            }
        }
        return program
    }
}
