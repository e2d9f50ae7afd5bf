import Foundation
import Glibc
import RTCShareSecureTransport
import RTCShareWireFormat
import TestSupport
import Testing

/// The `openssl` command as the peer: it has its own idea of DTLS 1.2, of `use_srtp` and of the exporter.
@Suite(
    .enabled(if: OpenSSLCommand.isInstalled, "openssl is not installed"), .serialized, .timeLimit(.minutes(1)))
struct OpenSSLCommandTests {
    @Test(
        "A client of the openssl command connects to our server",
        arguments: [SRTPProfile.aeadAES128GCM, .aes128CMHMACSHA1Tag80])
    func asTheClientOfOurServer(profile: SRTPProfile) throws {
        let bob = try #require(Identities.bob)
        let socket = try LoopbackSocket()
        let peer = try OpenSSLCommand(
            ["s_client", "-dtls1_2", "-connect", "127.0.0.1:\(socket.port)"], certificate: bob, profile: profile)
        let connection = try Self.makeConnection(.server, expecting: bob)
        try socket.run(connection)
        let keys = try #require(connection.keys, "\(connection.state)\n\(peer.output)")
        try peer.waitFor("Keying material: ")
        #expect(keys.profile == profile)
        try peer.expect(keys, role: .server)
        #expect(peer.output.contains("Cipher is ECDHE-ECDSA-AES128-GCM-SHA256"))
        peer.stop()
    }

    @Test(
        "Our client connects to a server of the openssl command",
        arguments: [false, true], [SRTPProfile.aeadAES128GCM, .aes128CMHMACSHA1Tag80])
    func asTheServerOfOurClient(asksForACookie: Bool, profile: SRTPProfile) throws {
        let bob = try #require(Identities.bob)
        let peer = try OpenSSLCommand(
            ["s_server", "-dtls1_2", "-4", "-accept", "127.0.0.1:0", "-Verify", "1"]
                + (asksForACookie ? ["-listen"] : []),
            certificate: bob, profile: profile)
        let line = try peer.waitFor("ACCEPT 127.0.0.1:")
        let port = try #require(UInt16(line.prefix { $0.isNumber }))
        let socket = try LoopbackSocket(peer: port)
        let connection = try Self.makeConnection(.client, expecting: bob)
        try socket.run(connection)
        let keys = try #require(connection.keys, "\(connection.state)\n\(peer.output)")
        try peer.waitFor("Keying material: ")
        #expect(keys.profile == profile)
        try peer.expect(keys, role: .client)
        peer.stop()
    }

    @Test(
        "A forged record ends no connection, not even with CBC cipher suites", arguments: [DTLSRole.client, .server])
    func forgedRecord(role: DTLSRole) throws {
        let bob = try #require(Identities.bob)
        let cipher = ["-dtls1_2", "-cipher", "ECDHE-ECDSA-AES128-SHA"]
        let (peer, socket): (OpenSSLCommand, LoopbackSocket)
        switch role {
        case .server:
            socket = try LoopbackSocket()
            peer = try OpenSSLCommand(
                ["s_client", "-connect", "127.0.0.1:\(socket.port)"] + cipher, certificate: bob,
                profile: .aeadAES128GCM)
        case .client:
            peer = try OpenSSLCommand(
                ["s_server", "-4", "-accept", "127.0.0.1:0", "-Verify", "1"] + cipher, certificate: bob,
                profile: .aeadAES128GCM)
            let port = try #require(UInt16(try peer.waitFor("ACCEPT 127.0.0.1:").prefix { $0.isNumber }))
            socket = try LoopbackSocket(peer: port)
        }
        let connection = try Self.makeConnection(role, expecting: bob)
        try socket.run(connection)
        #expect(connection.cipherSuite == "TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA", "\(connection.state) \(peer.output)")
        for (number, type) in (UInt8(20)...23).enumerated() {
            var record: [UInt8] = [type, 0xFE, 0xFD, 0, 1, 0, 0, 0, 0, 1, UInt8(number), 0, 96]
            record += (0..<96).map { $0 ^ type }
            connection.handle(datagram: record.span.bytes, now: .distantFuture)
        }
        #expect(connection.state == .connected)
        peer.stop()
    }

    @Test("The openssl command parses our certificate")
    func readsOurCertificate() throws {
        let alice = try #require(Identities.alice)
        let text = try OpenSSLCommand.run(
            ["x509", "-noout", "-fingerprint", "-sha256", "-dates", "-subject", "-text"], input: alice.certificatePEM)
        #expect(text.contains("sha256 Fingerprint=\(alice.fingerprint().hexadecimal)"))
        #expect(text.contains("notBefore=Nov 14 22:13:20 2023 GMT"))
        #expect(text.contains("notAfter=Mar 17 17:46:40 2030 GMT"))
        #expect(text.contains("CN = alice"))
        #expect(text.contains("ASN1 OID: prime256v1"))
        #expect(text.contains("Signature Algorithm: ecdsa-with-SHA256"))
    }

    @Test("Certificates that the openssl command made are parsed")
    func itsCertificatesAreReadHere() throws {
        let text = try OpenSSLCommand.run(
            [
                "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=elsewhere", "-keyout", "-", "-days", "2",
            ], input: "")
        let certificate = try Certificate(certificatePEM: text, privateKeyPEM: text)
        #expect(certificate.commonName == "elsewhere")
        #expect(certificate.notAfter - certificate.notBefore == 2 * 86_400)
        let connection = try Self.makeConnection(.client, expecting: certificate)
        let context = try DTLSContext(DTLSConfiguration(certificate: certificate))
        let server = try DTLSConnection(
            role: .server, context: context, expectedFingerprints: [try #require(Identities.alice).fingerprint()])
        var path = SimulatedPath(client: connection, server: server)
        path.run()
        #expect(path.client.keys != nil, "\(path.client.state)")
        #expect(path.client.cipherSuite == "TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256")
    }

    private static func makeConnection(_ role: DTLSRole, expecting peer: Certificate) throws -> DTLSConnection {
        try DTLSConnection(
            role: role, context: DTLSContext(DTLSConfiguration(certificate: #require(Identities.alice))),
            expectedFingerprints: [peer.fingerprint()])
    }
}

/// An `openssl` process with its output.
final class OpenSSLCommand {
    static let executable = ["/usr/bin/openssl", "/usr/local/bin/openssl"].first {
        FileManager.default.isExecutableFile(atPath: $0)
    }
    static var isInstalled: Bool { executable != nil }

    private(set) var output = ""
    private let process = Process()
    private let input = Pipe()
    private let pipe = Pipe()
    private let folder: URL

    /// Starts `s_client` or `s_server` with a certificate, one SRTP profile and the exporter.
    init(_ arguments: [String], certificate: Certificate, profile: SRTPProfile) throws {
        folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let certificateFile = folder.appending(path: "certificate.pem")
        let keyFile = folder.appending(path: "key.pem")
        try certificate.certificatePEM.write(to: certificateFile, atomically: true, encoding: .utf8)
        try certificate.privateKeyPEM.write(to: keyFile, atomically: true, encoding: .utf8)
        let name = profile == .aeadAES128GCM ? "SRTP_AEAD_AES_128_GCM" : "SRTP_AES128_CM_SHA1_80"
        process.executableURL = URL(fileURLWithPath: try #require(Self.executable))
        process.arguments =
            arguments + [
                "-cert", certificateFile.path, "-key", keyFile.path, "-use_srtp", name,
                "-keymatexport", SRTPKeyingMaterial.exporterLabel, "-keymatexportlen", "60",
            ]
        process.standardInput = input
        process.standardOutput = pipe
        process.standardError = pipe
        try process.runAlone()
    }

    /// Runs a command to its end; what it printed.
    static func run(_ arguments: [String], input: String) throws -> String {
        let process = Process()
        let (source, sink) = (Pipe(), Pipe())
        process.executableURL = URL(fileURLWithPath: try #require(executable))
        process.arguments = arguments
        process.standardInput = source
        process.standardOutput = sink
        process.standardError = FileHandle.nullDevice
        try process.runAlone()
        try source.fileHandleForWriting.write(contentsOf: Data(input.utf8))
        try source.fileHandleForWriting.close()
        let data = try sink.fileHandleForReading.readToEnd() ?? Data()
        process.waitUntilExit()
        return String(decoding: data, as: UTF8.self)
    }

    /// Reads on until a whole line holds `text`; what follows it on that line.
    @discardableResult
    func waitFor(_ text: String) throws -> Substring {
        while true {
            if let range = output.range(of: text) {
                let rest = output[range.upperBound...]
                if let end = rest.firstIndex(of: "\n") { return rest[..<end] }
            }
            let data = pipe.fileHandleForReading.availableData
            try #require(!data.isEmpty, "openssl ended: \(output)")
            output += String(decoding: data, as: UTF8.self)
        }
    }

    /// That it agreed on the same profile and exported the same bytes.
    func expect(_ keys: SRTPKeyingMaterial, role: DTLSRole) throws {
        let (client, server) = role == .client ? (keys.local, keys.remote) : (keys.remote, keys.local)
        let ours = client.key + server.key + client.salt + server.salt
        let theirs = bytes(String(try waitFor("Keying material: ")))
        #expect(theirs.count == 60)
        #expect(ours == Array(theirs.prefix(ours.count)))
        let name = keys.profile == .aeadAES128GCM ? "SRTP_AEAD_AES_128_GCM" : "SRTP_AES128_CM_SHA1_80"
        #expect(output.contains("SRTP Extension negotiated, profile=\(name)"), "\(output)")
    }

    /// Ends the process, which may have inherited a signal mask that holds SIGTERM off.
    func stop() {
        kill(process.processIdentifier, SIGKILL)
        process.waitUntilExit()
    }

    deinit {
        if process.isRunning { stop() }
        try? FileManager.default.removeItem(at: folder)
    }
}

/// A UDP socket on 127.0.0.1 that carries one connection.
final class LoopbackSocket {
    let port: UInt16
    private let descriptor: Int32
    private var isConnected = false

    init(peer: UInt16? = nil) throws {
        let descriptor = socket(AF_INET, Int32(SOCK_DGRAM.rawValue), 0)
        var address = Self.address(port: 0)
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let status = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, length) == 0 ? getsockname(descriptor, $0, &length) : -1
            }
        }
        self.descriptor = descriptor
        port = UInt16(bigEndian: address.sin_port)
        try #require(status == 0, "no UDP socket on 127.0.0.1")
        if let peer { try connect(to: Self.address(port: peer)) }
    }

    deinit { close(descriptor) }

    /// Runs a handshake to its end, by the machine's clock.
    func run(_ connection: DTLSConnection) throws {
        connection.start(now: Self.now)
        var buffer = [UInt8](repeating: 0, count: 2048)
        while connection.state == .handshaking {
            flush(connection)
            let wait = connection.nextDeadline.map { ($0 - Self.now).milliseconds.rounded(.up) } ?? 1000
            var poller = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
            if poll(&poller, 1, Int32(max(0, min(1000, wait)))) > 0 {
                let count = try receive(into: &buffer)
                if count > 0 { connection.handle(datagram: buffer.span.bytes.extracting(0..<count), now: Self.now) }
            }
            connection.handleTimeout(now: Self.now)
        }
        flush(connection)
    }

    private func flush(_ connection: DTLSConnection) {
        while let datagram = connection.pollTransmit() { send(descriptor, datagram, datagram.count, 0) }
    }

    private func receive(into buffer: inout [UInt8]) throws -> Int {
        var source = Self.address(port: 0)
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let count = withUnsafeMutablePointer(to: &source) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                recvfrom(descriptor, &buffer, buffer.count, 0, $0, &length)
            }
        }
        if count >= 0 && !isConnected { try connect(to: source) }
        return count
    }

    private func connect(to address: sockaddr_in) throws {
        var address = address
        let status = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                Glibc.connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        try #require(status == 0)
        isConnected = true
    }

    private static func address(port: UInt16) -> sockaddr_in {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = INADDR_LOOPBACK.bigEndian
        return address
    }

    private static var now: Instant {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return Instant(nanoseconds: Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec))
    }
}
