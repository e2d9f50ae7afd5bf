import Foundation
import Testing

extension Interop {
    /// Shares through coturn alone, each way to it.
    @Suite(
        .serialized,
        .enabled(
            if: Peers.mustRun || RunningProgram.find("turnserver") != nil && RunningProgram.find("openssl") != nil,
            "coturn or openssl is not installed"))
    struct RelayTests {
        @Test(arguments: ["turn:127.0.0.1:PLAIN", "turn:127.0.0.1:PLAIN?transport=tcp", "turns:localhost:SECURE"])
        func `Pictures flow through a relay alone`(url: String) async throws {
            let folder = try TemporaryFolder()
            let server = try await TURNServer(in: folder)
            defer { server.stop() }
            let share = try Share(environment: server.environment(password: "sesame"), in: folder)
            let options = ["--bind", "127.0.0.1", "--ice-server", server.url(url), "--ice-transport-policy", "relay"]
            let shell =
                "\(share.rtcshare.path) send --source test:640x360@15 \(options.map { "'\($0)'" }.joined(separator: " ")) < answer > offer.sdp"
            let sending = try RunningProgram(
                URL(fileURLWithPath: "/bin/sh"), ["-c", "rm -f answer; mkfifo answer; exec \(shell)"],
                environment: share.environment, in: folder)
            defer { sending.stop() }
            // Opened first, so that the program's standard input has a writer until the answer is in it.
            try await sending.wait(for: "the pipe", timeout: .seconds(10)) {
                FileManager.default.fileExists(atPath: folder.file("answer").path)
            }
            let pipe = try FileHandle(forUpdating: folder.file("answer"))
            try await sending.wait(for: "the offer", timeout: .seconds(30)) {
                (try? String(contentsOf: folder.file("offer.sdp"), encoding: .utf8))?.contains("end-of-candidates")
                    == true
            }
            let viewer = try await share.view(options + ["--duration", "2"])
            defer { viewer.stop() }
            #expect(!viewer.standardOutput.contains("typ host") && viewer.standardOutput.contains("typ relay"))
            try pipe.write(contentsOf: Data(viewer.standardOutput.utf8))
            try pipe.close()
            let seen = try await viewer.outcome(timeout: .seconds(40))
            #expect(seen.status == 0, "\(seen.standardError)")
            #expect(seen.standardError.contains("Tile 1 added"), "\(seen.standardError)")
            #expect(!(sending.standardError + seen.standardError).contains("sesame"))
        }

        @Test func `A wrong password is told, and never shown`() async throws {
            let folder = try TemporaryFolder()
            let server = try await TURNServer(in: folder)
            defer { server.stop() }
            let share = try Share(environment: server.environment(password: "mellon"), in: folder)
            let outcome = try await share.run([
                "offer", "--session", share.session.path, "--bind", "127.0.0.1", "--ice-server",
                server.url("turn:127.0.0.1:PLAIN"), "--ice-transport-policy", "relay",
            ])
            #expect(outcome.status == 69)
            #expect(outcome.standardError.contains("user name and password"), "\(outcome.standardError)")
            #expect(!outcome.standardError.contains("mellon"))
        }

        @Test func `Credentials that others may read are refused with 77`() async throws {
            let folder = try TemporaryFolder()
            let share = try Share(environment: ["DISPLAY": ""], in: folder)
            let file = try folder.write("alice:sesame\n", to: "credentials")
            try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: file.path)
            let outcome = try await share.run([
                "offer", "--session", share.session.path, "--ice-server", "turn:127.0.0.1", "--ice-credentials",
                file.path,
            ])
            #expect(outcome.status == 77)
            #expect(outcome.standardError.contains("chmod 600"), "\(outcome.standardError)")
        }
    }
}

/// A coturn on this machine's loopback, with a certificate of a test's own authority.
private final class TURNServer {
    private let program: RunningProgram
    private let certificate: URL
    private let plain: UInt16
    private let secure: UInt16

    init(in folder: TemporaryFolder) async throws {
        certificate = folder.file("turn.pem")
        let made = try await RunningProgram.run(
            try #require(RunningProgram.find("openssl")),
            [
                "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", "turn.key", "-out", "turn.pem", "-days",
                "2",
                "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost",
            ], in: folder, timeout: .seconds(30))
        try #require(made.status == 0, "\(made.standardError)")
        plain = try Self.freePort()
        secure = try Self.freePort()
        program = try RunningProgram(
            try #require(RunningProgram.find("turnserver")),
            [
                "-n", "--no-cli", "--listening-ip", "127.0.0.1", "--relay-ip", "127.0.0.1", "--allow-loopback-peers",
                "--listening-port", "\(plain)", "--tls-listening-port", "\(secure)", "--no-dtls", "--lt-cred-mech",
                "--user", "alice:sesame", "--realm", "test.example", "--cert", certificate.path, "--pkey",
                folder.file("turn.key").path, "--log-file", "stdout", "--simple-log", "--pidfile",
                folder.file("turn.pid").path, "--userdb", folder.file("turn.db").path,
            ], in: folder)
        let (program, plain) = (program, plain)
        try await program.wait(for: "coturn", timeout: .seconds(20)) { Self.isListening(at: plain) }
    }

    func stop() { program.stop() }

    func url(_ pattern: String) -> String {
        pattern.replacing("PLAIN", with: "\(plain)").replacing("SECURE", with: "\(secure)")
    }

    func environment(password: String) -> [String: String] {
        [
            "DISPLAY": "", "RTCSHARE_ICE_USERNAME": "alice", "RTCSHARE_ICE_PASSWORD": password,
            "SSL_CERT_FILE": certificate.path,
        ]
    }

    private static func withSocket<Result>(port: UInt16, _ body: (Int32, UnsafePointer<sockaddr>) -> Result) -> Result {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(descriptor) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        return withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { body(descriptor, $0) }
        }
    }

    private static func isListening(at port: UInt16) -> Bool {
        withSocket(port: port) { connect($0, $1, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0 }
    }

    /// A port that was free a moment ago: coturn takes no 0 for one.
    private static func freePort() throws -> UInt16 {
        let port = withSocket(port: 0) { descriptor, address -> UInt16 in
            var bound = sockaddr_in()
            var length = socklen_t(MemoryLayout<sockaddr_in>.size)
            guard bind(descriptor, address, length) == 0 else { return 0 }
            _ = withUnsafeMutablePointer(to: &bound) {
                $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(descriptor, $0, &length) }
            }
            return UInt16(bigEndian: bound.sin_port)
        }
        try #require(port > 0)
        return port
    }
}
