import RTCShareICE
import RTCShareWireFormat
import TestSupport
import Testing

@Suite struct MulticastDNSTests {
    private let text = "9b36eaac-bb2e-49bb-bb78-21c41c499900.local"

    private func parse(_ bytes: [UInt8]) throws(MulticastDNSError) -> MulticastDNSMessage {
        try MulticastDNSMessage(parsing: bytes.span.bytes)
    }

    @Test("A query is the bytes of RFC 1035 §4.1")
    func query() throws {
        let name = try #require(MulticastDNSName("Ab.local"))
        let encodedName: [UInt8] = [2, 0x61, 0x62, 5, 0x6C, 0x6F, 0x63, 0x61, 0x6C, 0]
        #expect(
            MulticastDNSMessage.query(for: name, type: .aaaa, wantsUnicast: true).encoded()
                == [0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0] + encodedName + [0, 28, 0x80, 1])
    }

    @Test("Queries and responses survive a round trip")
    func roundTrip() throws {
        let name = try #require(MulticastDNSName(text))
        let addresses = try ["192.0.2.7", "2001:db8::7"].map { try #require(IPAddress($0)) }
        for message in [
            MulticastDNSMessage.query(for: name, type: .a), .query(for: name, type: .aaaa, wantsUnicast: true),
            .response(for: name, addresses: addresses),
        ] {
            #expect(try parse(message.encoded()) == message)
        }
    }

    @Test(
        "Only a single label under local is a candidate's name",
        arguments: [
            ("a.local", true), ("A.LOCAL.", true), ("a.b.local", false), ("local", false), (".local", false),
            ("a.example", false), ("192.0.2.1", false), ("", false),
            (String(repeating: "a", count: 64) + ".local", false),
        ])
    func names(text: String, isName: Bool) {
        #expect((MulticastDNSName(text) != nil) == isName)
    }

    @Test("Compressed names are only followed backward")
    func compression() throws {
        // One answer whose name points at the question's.
        let question: [UInt8] = [1, 0x61, 5, 0x6C, 0x6F, 0x63, 0x61, 0x6C, 0, 0, 1, 0, 1]
        func message(_ pointer: UInt8) -> [UInt8] {
            [0, 0, 0x84, 0, 0, 1, 0, 1, 0, 0, 0, 0] + question + [0xC0, pointer, 0, 1, 0x80, 1, 0, 0, 0, 120, 0, 4]
                + [192, 0, 2, 7]
        }
        let read = try parse(message(12))
        #expect(read.answers.map(\.name.description) == ["a.local"])
        #expect(read.answers.map(\.address) == [.v4(0xC000_0207)])
        // At itself, forward, and past the end.
        for pointer: UInt8 in [25, 26, 200] {
            #expect(throws: MulticastDNSError.malformedName(offset: 25)) { try parse(message(pointer)) }
        }
    }

    @Test("Without an answer there are queries at 0, 250 ms and 1 s, and the result after 3 s")
    func silence() throws {
        let name = try #require(MulticastDNSName(text))
        var resolver = MulticastDNSResolver()
        var now = Instant(nanoseconds: 5)
        let start = now
        resolver.resolve(name, now: now)
        var sent: [Duration] = []
        while true {
            while resolver.pollTransmit() != nil { sent.append(now - start) }
            guard let next = resolver.nextDeadline else { break }
            now = next
            resolver.handleTimeout(now: now)
        }
        // Each time one query for IPv4 and one for IPv6.
        #expect(sent == [.zero, .milliseconds(250), .seconds(1)].flatMap { [$0, $0] })
        #expect(now - start == .seconds(3))
        #expect(resolver.pollEvent() == .unresolved(name))
        #expect(resolver.pollEvent() == nil)
    }

    @Test("Each address is reported once; addresses of other names are not reported")
    func answers() throws {
        let name = try #require(MulticastDNSName(text))
        let other = try #require(MulticastDNSName("other.local"))
        var resolver = MulticastDNSResolver()
        let now = Instant(nanoseconds: 0)
        resolver.resolve(name, now: now)
        let addresses = try ["192.0.2.7", "2001:db8::7"].map { try #require(IPAddress($0)) }
        for message in [
            MulticastDNSMessage.response(for: other, addresses: addresses), .query(for: name, type: .a),
            .response(for: name, addresses: addresses), .response(for: name, addresses: addresses),
        ] {
            let bytes = message.encoded()
            resolver.handle(datagram: bytes.span.bytes, now: now)
        }
        #expect(resolver.pollEvent() == .resolved(name, addresses[0]))
        #expect(resolver.pollEvent() == .resolved(name, addresses[1]))
        #expect(resolver.pollEvent() == nil)
        #expect(resolver.nextDeadline == now.advanced(by: .seconds(3)))
        resolver.handleTimeout(now: now.advanced(by: .seconds(3)))
        #expect(resolver.pollEvent() == nil && resolver.nextDeadline == nil)
    }

    @Test("The number of a peer's names is limited")
    func bound() throws {
        var resolver = MulticastDNSResolver()
        let now = Instant(nanoseconds: 0)
        for index in 0..<100 {
            let name = try #require(MulticastDNSName("n\(index).local"))
            #expect(resolver.resolve(name, now: now) == (index < MulticastDNSResolver.nameLimit))
        }
    }

    @Test("The numbers of a name's addresses and of a message's entries are limited")
    func boundedAnswers() throws {
        let name = try #require(MulticastDNSName(text))
        var resolver = MulticastDNSResolver()
        let now = Instant(nanoseconds: 0)
        resolver.resolve(name, now: now)
        for first in [UInt32(0), 10] {
            let addresses = (0..<20).map { IPAddress.v4(0xC000_0200 + first + $0) }
            let bytes = MulticastDNSMessage.response(for: name, addresses: addresses).encoded()
            resolver.handle(datagram: bytes.span.bytes, now: now)
        }
        var count = 0
        while resolver.pollEvent() != nil { count += 1 }
        #expect(count == MulticastDNSResolver.addressLimit)

        for extra in [0, 1] {
            let addresses = (0..<MulticastDNSMessage.entryLimit + extra).map { IPAddress.v4(UInt32($0)) }
            let bytes = MulticastDNSMessage.response(for: name, addresses: addresses).encoded()
            if extra == 0 {
                #expect(try parse(bytes).answers.count == MulticastDNSMessage.entryLimit)
            } else {
                #expect(throws: MulticastDNSError.tooManyEntries) { try parse(bytes) }
            }
        }
    }

    @Test("No truncation or changed byte of a response traps")
    func corruption() throws {
        let name = try #require(MulticastDNSName(text))
        let bytes = MulticastDNSMessage.response(for: name, addresses: [.v4(1), .v6(2, 3)]).encoded()
        for index in bytes.indices {
            #expect(throws: MulticastDNSError.self) { try parse(Array(bytes[..<index])) }
            for value in UInt8.min...UInt8.max {
                var damaged = bytes
                damaged[index] = value
                _ = try? parse(damaged)
            }
        }
    }

    @Test(
        "No corpus file, whole or damaged, yields more than it announces, or affects an idle resolver",
        .enabled(if: Corpus.multicastDNS.isThere, "no ../shared/corpora/mdns-corpus beside the clone"))
    func corpusFiles() throws {
        let files = try Corpus.multicastDNS.files()
        #expect(!files.isEmpty)
        var resolver = MulticastDNSResolver()
        resolver.resolve(try #require(MulticastDNSName(text)), now: Instant(nanoseconds: 0))
        while resolver.pollTransmit() != nil {}
        var malformed = 0
        for file in files {
            let bytes = file.bytes
            for index in bytes.indices {
                for version in [Array(bytes[...index])]
                    + (0..<8).map({ bit in
                        var damaged = bytes
                        damaged[index] ^= 1 << UInt8(bit)
                        return damaged
                    })
                {
                    if !checkedParse(version, of: file.name) { malformed += 1 }
                    resolver.handle(datagram: version.span.bytes, now: Instant(nanoseconds: 0))
                }
            }
        }
        #expect(resolver.malformedMessages == malformed && malformed > 0)
        #expect(resolver.pollEvent() == nil && resolver.pollTransmit() == nil)
    }

    /// Whether bytes are a message. It holds no more than its header announces; what is wrong lies within the bytes.
    private func checkedParse(_ bytes: [UInt8], of file: String) -> Bool {
        func announced(_ field: Int) -> Int { Int(bytes[2 * field]) << 8 | Int(bytes[2 * field + 1]) }
        do throws(MulticastDNSError) {
            let message = try parse(bytes)
            if message.questions.count > announced(2)
                || message.answers.count > announced(3) + announced(4) + announced(5)
                || message.questions.count + message.answers.count > MulticastDNSMessage.entryLimit
            {
                Issue.record("\(file): more than is announced in \(bytes)")
            }
            return true
        } catch {
            switch error {
            case .truncated(let offset), .malformedName(let offset), .malformedRecord(let offset):
                if !(0...bytes.count).contains(offset) { Issue.record("\(file): \(error) beyond the end of \(bytes)") }
            case .tooManyEntries:
                if (2...5).reduce(0, { $0 + announced($1) }) <= MulticastDNSMessage.entryLimit {
                    Issue.record("\(file): refused, although it announces few")
                }
            }
            return false
        }
    }
}
