import Foundation
import RTCSharePeerConnection
import RTCShareTransport
import RTCShareWireFormat
import TestSupport
import Testing

extension Interop {
    /// Shares through coturn alone, each way to it.
    @Suite(
        .serialized,
        .enabled(
            if: Peers.mustRun || RunningProgram.find("turnserver") != nil && RunningProgram.find("openssl") != nil,
            "coturn or openssl is not installed"))
    struct RelayTests {
        @Test(
            "Pictures flow through a relay alone",
            arguments: ["turn:127.0.0.1:PLAIN", "turn:127.0.0.1:PLAIN?transport=tcp", "turns:localhost:SECURE"])
        func relayAlone(url: String) async throws {
            let folder = try TemporaryFolder()
            let server = try await TURNServer(in: folder)
            defer { server.stop() }
            let share = try await RelayedShare(through: server, at: url, in: folder)
            defer { share.stop() }
            #expect(!share.viewing.standardOutput.contains("typ host"))
            #expect(share.viewing.standardOutput.contains("typ relay"))
            let seen = try await share.viewing.outcome(timeout: .seconds(40))
            #expect(seen.status == 0, "\(seen.standardError)")
            #expect(seen.standardError.contains("Video 1 is added"), "\(seen.standardError)")
            #expect(!(share.sending.standardError + seen.standardError).contains("sesame"))
        }

        @Test("A share outlives the nonces of its server")
        func shareOutlivesNonces() async throws {
            let folder = try TemporaryFolder()
            // Allocations are to be refreshed each few seconds, with a nonce that is older than a second by then.
            let server = try await TURNServer(
                ["--verbose", "--stale-nonce=1", "--max-allocate-lifetime=4"], in: folder)
            defer { server.stop() }
            let share = try await RelayedShare(through: server, at: "turn:127.0.0.1:PLAIN", viewFor: 7, in: folder)
            defer { share.stop() }
            let seen = try await share.viewing.outcome(timeout: .seconds(40))
            #expect(seen.status == 0, "\(seen.standardError)")
            #expect(!seen.standardError.contains("does not answer"), "\(seen.standardError)")
            #expect(server.said.contains("error 438"), "\(server.said)")
        }

        @Test("A user whose relays are all taken is told so")
        func quotaReached() async throws {
            let folder = try TemporaryFolder()
            let server = try await TURNServer(["--user-quota=1"], in: folder)
            defer { server.stop() }
            let share = try Share(environment: server.environment(password: "sesame"), in: folder)
            let options = server.options("turn:127.0.0.1:PLAIN")
            let (sending, pipe) = try await RelayedShare.startSending(options, share)
            defer { sending.stop() }
            let outcome = try await share.run(["offer", "--session", share.session.path] + options)
            try pipe.close()
            #expect(outcome.status == 69)
            #expect(
                outcome.standardError.contains("as many allocations as the server allows"), "\(outcome.standardError)")
        }

        @Test("A sender that ends before it has an answer gives its relay back", arguments: [true, false])
        func endsBeforeAnswer(isInterrupted: Bool) async throws {
            let folder = try TemporaryFolder()
            let server = try await TURNServer(["--verbose"], in: folder)
            defer { server.stop() }
            let share = try Share(environment: server.environment(password: "sesame"), in: folder)
            let (sending, pipe) = try await RelayedShare.startSending(server.options("turn:127.0.0.1:PLAIN"), share)
            defer { sending.stop() }
            if isInterrupted { sending.interrupt() } else { try pipe.close() }
            let outcome = try await sending.outcome(timeout: .seconds(10))
            #expect(outcome.status == (isInterrupted ? 0 : 65), "\(outcome.standardError)")
            try await server.wait(for: "lifetime=0")
            if isInterrupted { try pipe.close() }
        }

        @Test(
            "A description that is interrupted while servers are asked gives its relay back",
            arguments: ["offer", "view"])
        func interruptedDescription(command: String) async throws {
            let folder = try TemporaryFolder()
            let server = try await TURNServer(["--verbose"], in: folder)
            defer { server.stop() }
            // It answers nothing: the description waits for it.
            let silent = try SilentPort()
            let share = try Share(environment: server.environment(password: "sesame"), in: folder)
            var arguments = ["offer", "--session", share.session.path]
            if command == "view" {
                let offer = try await share.run(arguments).standardOutput
                try offer.write(to: folder.file("offer.sdp"), atomically: true, encoding: .utf8)
                arguments = ["view", "--offer", "offer.sdp", "--no-window"]
            }
            let describing = try share.start(
                arguments + ["--ice-server", "turn:127.0.0.1:\(silent.number)"]
                    + server.options("turn:127.0.0.1:PLAIN"))
            defer { describing.stop() }
            try await server.wait(for: "ALLOCATE processed, success")
            describing.interrupt()
            let outcome = try await describing.outcome(timeout: .seconds(10))
            #expect(outcome.status == (command == "offer" ? 130 : 0) && outcome.standardOutput.isEmpty, "\(outcome)")
            try await server.wait(for: "lifetime=0")
        }

        @Test("A certificate for another host is refused, and one of a strange authority")
        func wrongCertificates() async throws {
            let folder = try TemporaryFolder()
            let server = try await TURNServer(host: "elsewhere.example", in: folder)
            defer { server.stop() }
            let url = server.options("turns:localhost:SECURE")
            var share = try Share(environment: server.environment(password: "sesame"), in: folder)
            let other = try await share.run(["send"] + url)
            #expect(other.status == 69)
            #expect(other.standardError.contains("certificate names another host"), "\(other.standardError)")
            share.environment["SSL_CERT_FILE"] = ""
            let strange = try await share.run(["send"] + url)
            #expect(strange.status == 69)
            #expect(strange.standardError.contains("certificate is not trusted"), "\(strange.standardError)")
        }

        @Test("Credentials come from a file that is one's own", arguments: ["alice:sesame\n", "alice\nsesame\n"])
        func credentialsFile(text: String) async throws {
            let folder = try TemporaryFolder()
            let server = try await TURNServer(in: folder)
            defer { server.stop() }
            let share = try Share(environment: ["DISPLAY": ""], in: folder)
            let file = try folder.write(text, to: "credentials")
            try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: file.path)
            let outcome = try await share.run(
                ["offer", "--session", share.session.path, "--ice-credentials", file.path]
                    + server.options("turn:127.0.0.1:PLAIN"))
            #expect(outcome.status == 0, "\(outcome.standardError)")
            #expect(outcome.standardOutput.contains("typ relay") && !outcome.standardOutput.contains("typ host"))
        }

        @Test("An offer's relayed address is taken up by the program that sends", arguments: [false, true])
        func keptAddress(hasSecret: Bool) async throws {
            let folder = try TemporaryFolder()
            let server = try await TURNServer(secret: hasSecret ? "sesame" : nil, in: folder)
            defer { server.stop() }
            let share = try Share(
                environment: hasSecret ? ["DISPLAY": ""] : server.environment(password: "sesame"), in: folder)
            let options =
                server.options("turn:127.0.0.1:PLAIN") + (hasSecret ? try secretFile("sesame\n", in: folder) : [])
            let offered = try await share.run(
                ["offer", "--session", share.session.path, "--source", "test:640x360@15"] + options)
            try #require(offered.status == 0, "\(offered.standardError)")
            #expect(!offered.standardOutput.contains("typ host") && offered.standardOutput.contains("typ relay"))
            #expect(offered.standardError.contains("holds until"), "\(offered.standardError)")
            _ = try folder.write(offered.standardOutput, to: "offer.sdp")
            let mode = try FileManager.default.attributesOfItem(atPath: share.session.path)[.posixPermissions]
            #expect((mode as? NSNumber)?.intValue == 0o600)
            let stored = try String(contentsOf: share.session, encoding: .utf8)
            #expect(stored.contains("sesame") == !hasSecret && stored.contains(":rtcshare\"") == hasSecret)

            let viewer = try await share.view(options + ["--duration", "2"])
            defer { viewer.stop() }
            // The credentials are the session's: the environment has none.
            let sending = try RunningProgram(
                share.rtcshare,
                ["send", "--answer", share.answer.path, "--session", share.session.path, "--stats", "stats"],
                environment: ["DISPLAY": ""], in: folder)
            defer { sending.stop() }
            let seen = try await viewer.outcome(timeout: .seconds(40))
            #expect(seen.status == 0, "\(seen.standardError)\n\(sending.standardError)")
            #expect(seen.standardError.contains("Video 1 is added"), "\(seen.standardError)")
            let sent = try await sending.outcome(timeout: .seconds(20))
            #expect(sent.status == 0, "\(sent.standardError)")
            let statistics = try String(contentsOf: folder.file("stats"), encoding: .utf8)
            #expect(statistics.contains("\"candidateType\":\"relay\"") && !statistics.contains("\"host\""))
            let said = offered.standardError + seen.standardError + sent.standardError + statistics
            #expect(!said.contains("sesame"))
            #expect(!(try String(contentsOf: share.session, encoding: .utf8)).contains("sesame"), "it is used up")
        }

        /// The option for a file with a secret.
        private func secretFile(_ text: String, mode: Int = 0o600, in folder: TemporaryFolder) throws -> [String] {
            let file = try folder.write(text, to: "turn.secret")
            try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: file.path)
            return ["--ice-secret-file", file.path]
        }

        @Test(
            "A secret that the server does not have, that others can read, or that is empty is told, and never shown",
            arguments: [
                ("mellon", 0o600, 69, "check the secret"), ("sesame", 0o640, 77, "chmod 600"),
                ("\n", 0o600, 65, "not one line of text"), ("mellon\nsesame", 0o600, 65, "not one line of text"),
            ])
        func wrongSecret(text: String, mode: Int, status: Int32, words: String) async throws {
            let folder = try TemporaryFolder()
            let server = try await TURNServer(secret: "sesame", in: folder)
            defer { server.stop() }
            let share = try Share(environment: ["DISPLAY": ""], in: folder)
            let outcome = try await share.run(
                ["offer", "--session", share.session.path] + server.options("turn:127.0.0.1:PLAIN")
                    + secretFile(text, mode: mode, in: folder))
            #expect(outcome.status == status && outcome.standardError.contains(words), "\(outcome.standardError)")
            #expect(!outcome.standardError.contains("mellon") && !outcome.standardError.contains("sesame"))
        }

        @Test("An address outlives its credentials from a secret, and the next one gets new credentials")
        func expiredCredentials() async throws {
            let folder = try TemporaryFolder()
            let server = try await TURNServer(["--verbose"], secret: "sesame", in: folder)
            defer { server.stop() }
            let relay = try ICEServer(
                urls: server.url("turn:127.0.0.1:PLAIN?transport=tcp"), sharedSecret: "sesame", lifetime: .seconds(2))
            let old = relay.granted(to: "17")
            let connection = try await connection(relay)
            try await connection.gather()
            try await server.wait(for: "ALLOCATE processed, success")
            let expiry = Date().addingTimeInterval(3)
            while Date() < expiry { try await Task.sleep(for: .milliseconds(100)) }
            // coturn has rejected nothing: the address outlives the credentials.
            #expect(await connection.hasRelayedCandidate)
            let late = try await self.connection(old)
            try await late.gather()
            #expect(await late.serverFailures().first?.contains("check the clocks") == true)
            await late.close()
            try await server.restart()
            try await server.wait(for: "ALLOCATE processed, success")
            await connection.close()
        }

        private func connection(_ server: ICEServer) async throws -> Connection {
            var configuration = Connection.Configuration()
            configuration.addresses = [.v4(0x7F00_0001)]
            configuration.iceServers = [server]
            return try await Connection(
                as: .offerer, identity: LocalIdentity(media: []), configuration: configuration)
        }

        @Test("A relayed address that its server has lost is told, and what to do")
        func lostAddress() async throws {
            let folder = try TemporaryFolder()
            let server = try await TURNServer(in: folder)
            defer { server.stop() }
            let share = try Share(environment: server.environment(password: "sesame"), in: folder)
            let options = [
                "--bind", "127.0.0.1", "--ice-server", server.url("turn:127.0.0.1:PLAIN"), "--ice-transport-policy",
                "relay",
            ]
            try await share.offer(["--source", "test:640x360@15"] + options)
            let viewer = try await share.view(options)
            defer { viewer.stop() }
            try await server.restart()
            let outcome = try await share.send().outcome(timeout: .seconds(40))
            #expect(outcome.status == 69)
            #expect(outcome.standardError.contains("the relayed address of the offer is gone"))
            #expect(outcome.standardError.contains("rtcshare send without --answer"), "\(outcome.standardError)")
            #expect(!outcome.standardError.contains("sesame"))
        }

        @Test("An offer through relays that end with it is refused, or made without them")
        func streamRelays() async throws {
            let folder = try TemporaryFolder()
            let credentials = ["DISPLAY": "", "RTCSHARE_ICE_USERNAME": "alice", "RTCSHARE_ICE_PASSWORD": "sesame"]
            let share = try Share(environment: credentials, in: folder)
            let options = [
                "offer", "--session", share.session.path, "--source", "test:640x360@15", "--bind", "127.0.0.1",
                "--ice-server", "turns:127.0.0.1", "--ice-server", "turn:127.0.0.1?transport=tcp",
            ]
            let refused = try await share.run(options + ["--ice-transport-policy", "relay"])
            #expect(refused.status == 64)
            #expect(refused.standardError.contains("send without --answer"), "\(refused.standardError)")
            let made = try await share.run(options)
            #expect(made.status == 0)
            #expect(made.standardError.contains("send without --answer"), "\(made.standardError)")
            #expect(!(try String(contentsOf: share.session, encoding: .utf8)).contains("sesame"), "no use for it")
        }

        @Test("A wrong password is told, and never shown")
        func wrongPassword() async throws {
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

        @Test("Credentials that others may read are refused with 77")
        func readableCredentials() async throws {
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

/// A share through a relay alone, of a sender that stays one process: its allocation would end with it.
private struct RelayedShare {
    let sending: RunningProgram
    let viewing: RunningProgram

    init(
        through server: TURNServer, at url: String, viewFor seconds: Int = 2, in folder: TemporaryFolder
    ) async throws {
        let share = try Share(environment: server.environment(password: "sesame"), in: folder)
        let options = server.options(url)
        let (sending, pipe) = try await Self.startSending(options, share)
        self.sending = sending
        viewing = try await share.view(options + ["--duration", "\(seconds)"])
        try pipe.write(contentsOf: Data(viewing.standardOutput.utf8))
        try pipe.close()
    }

    /// A sender whose offer is in `offer.sdp`, and what it reads the answer from.
    static func startSending(
        _ options: [String], _ share: Share
    ) async throws -> (program: RunningProgram, answer: FileHandle) {
        let answer = share.folder.file("answer")
        try #require(mkfifo(answer.path, 0o600) == 0)
        // Opened for both, so that opening waits for nobody; the reader's end comes when this is closed.
        let pipe = FileHandle(fileDescriptor: open(answer.path, O_RDWR | O_CLOEXEC), closeOnDealloc: true)
        let sending = try RunningProgram(
            URL(fileURLWithPath: "/bin/sh"),
            [
                "-c", "exec \"$@\" <answer >offer.sdp", "sh", share.rtcshare.path, "send", "--source",
                "test:640x360@15",
            ] + options, environment: share.environment, in: share.folder)
        try await sending.wait(for: "the offer", timeout: .seconds(30)) {
            (try? String(contentsOf: share.folder.file("offer.sdp"), encoding: .utf8))?
                .contains("end-of-candidates") == true
        }
        return (sending, pipe)
    }

    func stop() {
        viewing.stop()
        sending.stop()
    }
}

/// A UDP port of this machine's loopback that answers nothing.
private final class SilentPort {
    private let descriptor = socket(AF_INET, Int32(SOCK_DGRAM.rawValue), 0)
    let number: UInt16

    init() throws {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let descriptor = descriptor
        let result = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, size) == 0 ? getsockname(descriptor, $0, &size) : -1
            }
        }
        try #require(result == 0)
        number = UInt16(bigEndian: address.sin_port)
    }

    deinit { close(descriptor) }
}

/// A coturn on this machine's loopback, with a certificate of a test's own authority.
private final class TURNServer {
    private var program: RunningProgram
    private let folder: TemporaryFolder
    private let certificate: TestCertificate
    private let moreOptions: [String]
    private let plain: UInt16
    private let secure: UInt16

    /// - Parameters:
    ///   - secret: What its users' credentials are from; without it there is one user.
    ///   - host: Whom its certificate names.
    init(
        _ options: [String] = [], secret: String? = nil, host: String = "localhost", in folder: TemporaryFolder
    ) async throws {
        self.folder = folder
        let users = secret.map { ["--use-auth-secret", "--static-auth-secret", $0] }
        let options = options + (users ?? ["--lt-cred-mech", "--user", "alice:sesame"])
        moreOptions = options
        certificate = try await TestCertificate(for: "DNS:\(host)", in: folder)
        plain = try freePort()
        secure = try freePort()
        program = try Self.start(options, certificate, plain: plain, secure: secure, in: folder)
        try await waitUntilReady()
    }

    /// Ends the server and begins it anew at the same ports: it has forgotten everything.
    func restart() async throws {
        program.stop()
        program = try Self.start(moreOptions, certificate, plain: plain, secure: secure, in: folder)
        try await waitUntilReady()
    }

    private func waitUntilReady() async throws {
        let (program, plain) = (program, plain)
        try await program.wait(for: "coturn", timeout: .seconds(20)) { Self.isListening(at: plain) }
    }

    private static func start(
        _ options: [String], _ certificate: TestCertificate, plain: UInt16, secure: UInt16, in folder: TemporaryFolder
    ) throws -> RunningProgram {
        try RunningProgram(
            try #require(RunningProgram.find("turnserver")),
            [
                "-n", "--no-cli", "--listening-ip", "127.0.0.1", "--relay-ip", "127.0.0.1", "--allow-loopback-peers",
                "--listening-port", "\(plain)", "--tls-listening-port", "\(secure)", "--no-dtls", "--realm",
                "test.example", "--cert", certificate.certificate.path, "--pkey", certificate.key.path, "--log-file",
                "stdout", "--simple-log", "--pidfile", folder.file("turn.pid").path, "--userdb",
                folder.file("turn.db").path,
            ] + options, in: folder)
    }

    func stop() { program.stop() }

    /// Waits until its log says something.
    func wait(for text: String) async throws {
        try await program.wait(for: "coturn's \(text)", timeout: .seconds(10)) { said.contains(text) }
    }

    /// Its log.
    var said: String { program.standardOutput + program.standardError }

    /// Options with which a command uses it alone.
    func options(_ pattern: String) -> [String] {
        ["--bind", "127.0.0.1", "--ice-server", url(pattern), "--ice-transport-policy", "relay"]
    }

    func url(_ pattern: String) -> String {
        pattern.replacing("PLAIN", with: "\(plain)").replacing("SECURE", with: "\(secure)")
    }

    func environment(password: String) -> [String: String] {
        [
            "DISPLAY": "", "RTCSHARE_ICE_USERNAME": "alice", "RTCSHARE_ICE_PASSWORD": password,
            "SSL_CERT_FILE": certificate.certificate.path,
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
}
