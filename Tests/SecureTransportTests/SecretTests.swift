import Glibc
@testable import RTCShareSecureTransport
import RTCShareWireFormat
import Testing

/// Secrets are where they are needed, and nowhere else.
@Suite struct SecretTests {
    @Test("A wiped secret contains only zeros")
    func aSecretIsZerosOnceItIsWiped() {
        let secret = SecretBytes(byteCount: 16)
        secret.withUnsafeMutableBytes { $0.copyBytes(from: 1...16) }
        #expect(secret.withUnsafeBytes { Array($0) } == Array(1...16))
        secret.wipe()
        #expect(secret.withUnsafeBytes { Array($0) } == [UInt8](repeating: 0, count: 16))
    }

    @Test("Two secrets are equal when their bytes are equal")
    func secretsAreEqualByTheirBytes() {
        let secrets = [[1, 2, 3], [1, 2, 4], [1, 2]].map { (bytes: [UInt8]) in SRTPMasterKey(key: bytes, salt: [9]) }
        for (left, first) in secrets.enumerated() {
            for (right, second) in secrets.enumerated() { #expect((first == second) == (left == right)) }
        }
        #expect(secrets[0] == SRTPMasterKey(key: [1, 2, 3], salt: [9]))
        #expect(secrets[0] != SRTPMasterKey(key: [1, 2, 3], salt: [8]))
    }

    /// Neither what DTLS exported nor a copy of it is left in the process, dead memory included.
    @Test("The memory of the keys is wiped once SRTP has them", arguments: SRTPProfile.allCases)
    func srtpKeysAreWiped(profile: SRTPProfile) throws {
        let alice = try #require(Identities.alice)
        let context = try DTLSContext(DTLSConfiguration(certificate: alice, profiles: [profile]))
        var path = try SimulatedPath(
            client: DTLSConnection(role: .client, context: context, expectedFingerprints: [alice.fingerprint()]),
            server: DTLSConnection(role: .server, context: context, expectedFingerprints: [alice.fingerprint()]))
        path.run()
        let wanted = try Self.masked(path.client)
        #expect(try Self.occurrences(ofMasked: wanted) > 0, "it is found where it is")
        var receivers: [SRTPReceiver] = []
        for connection in [path.client, path.server] {
            let sender = try Self.sender(of: connection)
            receivers.append(try Self.receiver(of: connection))
            connection.discardKeys()
            var packet = [0x80, 96] + [UInt8](repeating: 7, count: 40)
            try sender.protectRTP(&packet)
        }
        #expect(path.client.keys == nil && path.client.state == .connected)
        #expect(try Self.occurrences(ofMasked: wanted) == 0)
        withExtendedLifetime(receivers) {}
    }

    private static func sender(of connection: DTLSConnection) throws -> SRTPSender {
        let keys = try #require(connection.keys)
        return try SRTPSender(profile: keys.profile, masterKey: keys.local)
    }

    private static func receiver(of connection: DTLSConnection) throws -> SRTPReceiver {
        let keys = try #require(connection.keys)
        return try SRTPReceiver(profile: keys.profile, masterKey: keys.remote)
    }

    /// So that what is looked for is not itself in memory.
    private static let mask: UInt8 = 0xA5

    private static func masked(_ connection: DTLSConnection) throws -> [UInt8] {
        let keys = try #require(connection.keys)
        return keys.local.withUnsafeBytes { bytes in
            (keepsFreedMemory ? bytes.prefix(16) : bytes.dropFirst(16)).map { $0 ^ mask }
        }
    }

    /// Whether the address sanitizer holds back what was freed. Then the key itself is looked for. The C library's allocator
    /// overwrites the first sixteen bytes of what it is given back, so that there it is the salt behind the key, of which a
    /// copy that libsrtp2's cipher has freed would be found under the sanitizer: a salt may be public (RFC 3711 §3.2.1).
    private static let keepsFreedMemory = dlsym(nil, "__asan_init") != nil

    /// Counts the occurrences of the bytes in the memory that this process may write to.
    private static func occurrences(ofMasked wanted: [UInt8]) throws -> Int {
        let memory = open("/proc/self/mem", O_RDONLY)
        try #require(memory >= 0)
        defer { close(memory) }
        let chunk = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 20, alignment: 16)
        defer { chunk.deallocate() }
        var count = 0
        for range in try writableMemory() {
            var offset = range.lowerBound
            while offset < range.upperBound {
                let length = pread(
                    memory, chunk.baseAddress, min(chunk.count, Int(range.upperBound - offset)), off_t(offset))
                guard length >= wanted.count else { break }
                count += occurrences(
                    ofMasked: wanted, in: UnsafeRawBufferPointer(rebasing: chunk[..<length]), at: offset)
                // What lies across the border of two pieces is seen in the second.
                offset += UInt(length == wanted.count ? length : length - wanted.count + 1)
                chunk.initializeMemory(as: UInt8.self, repeating: 0)
            }
        }
        return count
    }

    private static func occurrences(ofMasked wanted: [UInt8], in bytes: UnsafeRawBufferPointer, at address: UInt) -> Int
    {
        guard let start = bytes.baseAddress else { return 0 }
        var count = 0
        var next = 0
        while next + wanted.count <= bytes.count,
            let found = memchr(start + next, Int32(wanted[0] ^ mask), bytes.count - next - wanted.count + 1)
        {
            next = found - UnsafeMutableRawPointer(mutating: start)
            if wanted.indices.allSatisfy({ bytes[next + $0] == wanted[$0] ^ mask }) { count += 1 }
            next += 1
        }
        return count
    }

    private static func writableMemory() throws -> [Range<UInt>] {
        let file = try #require(fopen("/proc/self/maps", "r"))
        defer { fclose(file) }
        var ranges: [Range<UInt>] = []
        var line = [CChar](repeating: 0, count: 4096)
        while fgets(&line, Int32(line.count), file) != nil {
            let text = String(decoding: line.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
            let fields = text.split(separator: " ", maxSplits: 2)
            guard fields.count > 1, fields[1].hasPrefix("rw") else { continue }
            let ends = fields[0].split(separator: "-").compactMap { UInt($0, radix: 16) }
            // A sanitizer's shadow takes terabytes and holds no bytes of the program.
            guard ends.count == 2, ends[1] - ends[0] < 1 << 32 else { continue }
            ranges.append(ends[0]..<ends[1])
        }
        return ranges
    }
}
