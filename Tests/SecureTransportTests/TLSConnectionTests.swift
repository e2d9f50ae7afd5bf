import Foundation
import RTCShareSecureTransport
import Testing

@Suite struct TLSConnectionTests {
    private static let now = Int64(Date().timeIntervalSince1970)
    private static let own = try? Certificate(
        selfSignedFor: "rtcshare", hosts: ["relay.example", "192.0.2.7"], notBefore: now - 3600, notAfter: now + 3600)

    /// A client and a server.
    private struct Pair {
        let client: TLSConnection
        let server: TLSConnection
        var heardByClient: [UInt8] = []
        var heardByServer: [UInt8] = []

        init(to host: String = "relay.example", isAddress: Bool = false, trusting trusted: Certificate?) throws {
            let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            defer { try? FileManager.default.removeItem(at: folder) }
            let file = folder.appending(path: "trusted.pem")
            try trusted?.certificatePEM.write(to: file, atomically: true, encoding: .utf8)
            client = try TLSConnection(
                to: host, isAddress: isAddress, TLSContext(trusting: trusted == nil ? nil : file.path))
            server = try TLSConnection(serving: TLSContext(#require(own)))
            client.start()
            server.start()
        }

        /// Carries bytes to and fro, so many at a time, until neither has any more to say.
        mutating func run(pieces size: Int = .max) {
            var isQuiet = false
            while !isQuiet {
                let (there, back) = (client.takeOutgoing(), server.takeOutgoing())
                heardByServer += Self.carry(there, to: server, size)
                heardByClient += Self.carry(back, to: client, size)
                isQuiet = there.isEmpty && back.isEmpty
            }
        }

        private static func carry(_ bytes: [UInt8], to connection: TLSConnection, _ size: Int) -> [UInt8] {
            var rest = bytes[...]
            var heard: [UInt8] = []
            while !rest.isEmpty {
                heard += rest.prefix(size).withUnsafeBytes { connection.receive($0) }
                rest = rest.dropFirst(size)
            }
            return heard
        }
    }

    private static func send(_ bytes: [UInt8], by connection: TLSConnection) {
        bytes.withUnsafeBytes { connection.send($0) }
    }

    @Test("Data reaches the other side however the stream is split into segments", arguments: [1, 7, 1000, .max])
    func carriesBytes(size: Int) throws {
        var pair = try Pair(trusting: Self.own)
        pair.run(pieces: size)
        #expect(pair.client.state == .connected && pair.server.state == .connected)
        let question = [UInt8]("GET / HTTP/1.1".utf8)
        let answer = (0..<100_000).map { UInt8(truncatingIfNeeded: $0 * 31) }
        Self.send(question, by: pair.client)
        Self.send(answer, by: pair.server)
        pair.run(pieces: size)
        #expect(pair.heardByServer == question)
        #expect(pair.heardByClient == answer)
    }

    @Test("A certificate is accepted for its own name and address and for no others")
    func checksTheHost() throws {
        for (host, isAddress, isOwn) in [
            ("relay.example", false, true), ("192.0.2.7", true, true), ("other.example", false, false),
            ("192.0.2.8", true, false), ("a.relay.example", false, false),
        ] {
            var pair = try Pair(to: host, isAddress: isAddress, trusting: Self.own)
            pair.run()
            #expect(pair.client.state == (isOwn ? .connected : .failed(.otherHost)), "\(host)")
            if !isOwn, case .connected = pair.server.state { Issue.record("the server was not told of \(host)") }
        }
    }

    @Test("A certificate that no trusted root vouches for is rejected")
    func refusesStrangers() throws {
        let other = try Certificate(
            selfSignedFor: "rtcshare", hosts: ["relay.example"], notBefore: Self.now - 3600, notAfter: Self.now + 3600)
        for trusted in [nil, other] {
            var pair = try Pair(trusting: trusted)
            pair.run()
            guard case .failed(.untrusted) = pair.client.state else {
                Issue.record("\(pair.client.state)")
                continue
            }
            Self.send([1, 2, 3], by: pair.client)
            pair.run()
            #expect(pair.heardByServer.isEmpty)
        }
    }

    @Test("Another protocol than TLS is reported as such")
    func tellsOtherProtocols() throws {
        let pair = try Pair(trusting: Self.own)
        for connection in [pair.client, pair.server] {
            _ = [UInt8]("GET / HTTP/1.1\r\n\r\n".utf8).withUnsafeBytes { connection.receive($0) }
            #expect(connection.state == .failed(.notTLS))
        }
    }

    @Test("A closed connection is distinguished from a truncated stream")
    func tellsTheEnd() throws {
        var pair = try Pair(trusting: Self.own)
        pair.client.streamEnded()
        #expect(pair.client.state == .failed(.closedInHandshake))
        pair = try Pair(trusting: Self.own)
        pair.run()
        pair.server.streamEnded()
        #expect(pair.server.state == .failed(.cut))
        pair = try Pair(trusting: Self.own)
        pair.run()
        pair.client.close()
        pair.run()
        pair.server.streamEnded()
        #expect(pair.client.state == .closed && pair.server.state == .closed)
    }

    @Test("A record with a changed bit ends the connection, and none of its data is delivered")
    func refusesChangedRecords() throws {
        var pair = try Pair(trusting: Self.own)
        pair.run()
        Self.send([UInt8]("secret".utf8), by: pair.client)
        var record = pair.client.takeOutgoing()
        record[record.count - 1] ^= 1
        let heard = record.withUnsafeBytes { pair.server.receive($0) }
        #expect(heard.isEmpty)
        guard case .failed = pair.server.state else {
            Issue.record("\(pair.server.state)")
            return
        }
    }

    @Test("Unreadable certificate and key files are errors")
    func refusesFiles() throws {
        #expect(throws: TLSError.unreadableTrustRoots(path: "/nowhere")) { try TLSContext(trusting: "/nowhere") }
        #expect(throws: TLSError.self) { try TLSContext(certificateFile: "/nowhere", keyFile: "/nowhere") }
    }
}
