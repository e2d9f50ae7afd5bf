import RTCShareICE
import RTCShareSTUN
import RTCShareWireFormat

/// A multicast DNS message is read, written, and taken by a resolver that looks for names.
struct MulticastDNSTarget: FuzzTarget {
    private let resolver: MulticastDNSResolver
    private let now = Instant(nanoseconds: 1_000_000_000)
    private static let name = "8f2c1a3e-0d6b-4a57-9c1e-5b7d2f4a6c80.local"

    init() {
        var resolver = MulticastDNSResolver()
        for text in [Self.name, "a.local"] {
            if let name = MulticastDNSName(text) { resolver.resolve(name, now: now) }
        }
        self.resolver = resolver
    }

    func run(_ input: [UInt8]) throws {
        var resolver = resolver
        for _ in 0..<2 { resolver.handle(datagram: input.span.bytes, now: now) }
        var resolved = 0
        while let event = resolver.pollEvent() {
            if case .resolved = event { resolved += 1 }
        }
        expect(resolved <= 2 * MulticastDNSResolver.addressLimit, "the addresses of a name are bounded")
        resolver.handleTimeout(now: now.advanced(by: .seconds(10)))

        let message = try MulticastDNSMessage(parsing: input.span.bytes)
        expect(
            message.questions.count + message.answers.count <= MulticastDNSMessage.entryLimit, "entries are bounded")
        // Nobody writes other names than a candidate can have.
        let names = message.questions.map(\.name) + message.answers.map(\.name)
        guard names.allSatisfy({ MulticastDNSName($0.description) == $0 }) else { return }
        let encoded = message.encoded()
        let read = try? MulticastDNSMessage(parsing: encoded.span.bytes)
        expect(read == message, "a message is the same once it was written and read")
    }

    func seeds() -> [String: [UInt8]] {
        guard let name = MulticastDNSName(Self.name) else { return [:] }
        return [
            "query": MulticastDNSMessage.query(for: name, type: .a, wantsUnicast: true).encoded(),
            "response": MulticastDNSMessage.response(
                for: name, addresses: [.v4(0xC000_0201), .v6(0xFE80_0000_0000_0000, 1)]
            ).encoded(),
            // A name that goes on in an earlier one (RFC 1035 §4.1.4).
            "compressed": [
                0, 0, 0x84, 0, 0, 0, 0, 2, 0, 0, 0, 0, 1, 0x61, 5, 0x6C, 0x6F, 0x63, 0x61, 0x6C, 0, 0, 1, 0, 1, 0, 0, 0,
                9, 0, 4, 192, 0, 2, 1, 0xC0, 12, 0, 1, 0, 1, 0, 0, 0, 9, 0, 4, 192, 0, 2, 2,
            ],
        ]
    }
}

/// What comes over a TCP connection is taken apart the same way however it is cut. The first byte says how.
struct StreamFramersTarget: FuzzTarget {
    func run(_ input: [UInt8]) throws {
        guard let first = input.first else { return }
        let bytes = Array(input.dropFirst())
        let cut = Int(first) + 1
        expect(Self.messages(bytes, cut: cut) == Self.messages(bytes, cut: .max), "cuts change no message")
        let whole = Self.frames(bytes, cut: .max)
        expect(Self.frames(bytes, cut: cut) == whole, "cuts change no frame")
        for frame in whole {
            _ = try? STUNMessage(parsing: frame.span.bytes)
            _ = ChannelData(parsing: frame.span.bytes)
        }
    }

    private static func messages(_ bytes: [UInt8], cut: Int) -> [[UInt8]] {
        var framer = RFC4571Framer()
        var messages: [[UInt8]] = []
        var rest = bytes[...]
        while !rest.isEmpty {
            let part = Array(rest.prefix(cut))
            framer.append(part.span.bytes)
            rest = rest.dropFirst(cut)
            while let message = framer.next() {
                expect(!message.isEmpty, "a message has bytes")
                messages.append(message)
            }
            expect(framer.bufferedByteCount < 2 + 1 << 16, "no more than a message waits")
        }
        return messages
    }

    private static func frames(_ bytes: [UInt8], cut: Int) -> [[UInt8]] {
        var framer = StreamFramer()
        var frames: [[UInt8]] = []
        var rest = bytes[...]
        do throws(STUNError) {
            while !rest.isEmpty {
                let part = Array(rest.prefix(cut))
                framer.append(part.span.bytes)
                rest = rest.dropFirst(cut)
                while let frame = try framer.next() { frames.append(frame) }
                expect(framer.bufferedByteCount < 20 + 1 << 16, "no more than a frame waits")
            }
        } catch {
            expect(framer.bufferedByteCount == 0, "nothing waits where frames can't be told apart any more")
        }
        return frames
    }

    func seeds() throws -> [String: [UInt8]] {
        var random = SystemRandomNumberGenerator()
        let message = STUNMessage(
            .request, transactionID: TransactionID(using: &random), attributes: [.username("a:b"), .priority(1)])
        let stun = try message.encoded()
        let framed = RFC4571Framer.framed(stun) ?? []
        return [
            "messages": [3] + framed + [0, 0] + framed, "frames": [7] + stun + [0x40, 0, 0, 3, 1, 2, 3, 0] + stun,
        ]
    }
}
