import Glibc
@testable import RTCShareSecureTransport
import RTCShareWireFormat
import Testing

/// Bounds of the memory that a peer, or an attacker with its address, can make a handshake use. OpenSSL sets most of
/// the bounds; these tests verify them.
@Suite struct DTLSFloodTests {
    /// One for each number that a handshake message can have.
    private static let floodCount = 1 << 16

    /// A handshake in which the server has answered the client's first flight.
    private static func makePath() throws -> SimulatedPath {
        let alice = try #require(Identities.alice)
        let context = try DTLSContext(DTLSConfiguration(certificate: alice))
        var path = try SimulatedPath(
            client: DTLSConnection(role: .client, context: context, expectedFingerprints: [alice.fingerprint()]),
            server: DTLSConnection(role: .server, context: context, expectedFingerprints: [alice.fingerprint()]))
        path.client.start(now: path.now)
        path.server.start(now: path.now)
        path.collect()
        let isAnswered = path.step(until: .distantFuture)
        try #require(isAnswered)
        return path
    }

    private static func record(_ type: UInt8, epoch: UInt8, number: Int, _ body: [UInt8]) -> [UInt8] {
        var record: [UInt8] = [type, 0xFE, 0xFD, 0, epoch, 0, 0]
        record.append(bigEndian: UInt32(truncatingIfNeeded: number))
        record.append(bigEndian: UInt16(body.count))
        return record + body
    }

    /// Bytes of memory that the process takes.
    private static func residentByteCount() throws -> Int {
        let file = try #require(fopen("/proc/self/statm", "r"))
        defer { fclose(file) }
        var line = [CChar](repeating: 0, count: 128)
        try #require(fgets(&line, Int32(line.count), file) != nil)
        let fields = line.prefix { $0 != 0 }.split(separator: CChar(UInt8(ascii: " ")))
        let pages = try #require(fields.dropFirst().first).reduce(0) { $0 * 10 + Int($1) - 48 }
        return pages * sysconf(Int32(_SC_PAGESIZE))
    }

    /// Gives the server a flood, and sees what is kept of it.
    private static func expectLittleKept(of path: SimulatedPath, _ datagram: (Int) -> [UInt8]) throws {
        let before = try residentByteCount()
        for number in 0..<floodCount {
            path.server.handle(datagram: datagram(number).span.bytes, now: path.now)
            while path.server.pollTransmit() != nil {}
        }
        // Other tests allocate, too. If all were kept it would be some hundred megabytes.
        #expect(try residentByteCount() - before < 32 << 20)
    }

    @Test("Only a few records of an epoch whose keys do not exist yet are kept")
    func earlyRecords() throws {
        var path = try Self.makePath()
        try Self.expectLittleKept(of: path) {
            Self.record(22, epoch: 1, number: $0, [UInt8](repeating: 1, count: 1000))
        }
        path.run()
        #expect(path.server.keys != nil && path.client.keys != nil, "\(path.server.state)")
    }

    @Test(
        "Only a few fragments of future messages are kept, and none of messages that no handshake reaches",
        arguments: [8...15, 8...65_535] as [ClosedRange<Int>])
    func unfinishedMessages(numbers: ClosedRange<Int>) throws {
        let path = try Self.makePath()
        var hopeless: UInt64 = 0
        try Self.expectLittleKept(of: path) { count in
            // Certificates of 32 KB, each in many pieces, of which the last never comes.
            let number = numbers.lowerBound + count % numbers.count
            let piece = (count / 8) % 32
            if number > DTLSRecords.highestSequenceNumber { hopeless += 1 }
            return Self.record(
                22, epoch: 0, number: count + 1,
                [11, 0, 0x80, 0, UInt8(number >> 8), UInt8(number & 0xFF), 0, UInt8(piece * 1000 >> 8)]
                    + [UInt8(piece * 1000 & 0xFF), 0, 3, 0xE8] + [UInt8](repeating: 1, count: 1000))
        }
        #expect(path.server.statistics.datagramsDiscarded == hopeless)
        #expect(path.server.state == .handshaking)
    }

    @Test("A flight that is never answered is retransmitted a limited number of times")
    func unansweredFlight() throws {
        let path = try Self.makePath()
        while path.server.pollTransmit() != nil {}
        var flights = 0
        var now = path.now
        while let deadline = path.server.nextDeadline {
            now = deadline
            path.server.handleTimeout(now: now)
            if path.server.hasTransmits { flights += 1 }
            while path.server.pollTransmit() != nil {}
        }
        #expect(flights == 11)
        #expect(path.server.failure == .timedOut(after: .seconds(30)))
    }
}
