import RTCShareRTP
import RTCShareWireFormat
import Testing

/// Forward error correction: what is made of a frame's packets, and what is made again of it.
@Suite("ULPFEC in RED")
struct ULPFECTests {
    private static let source = SynchronizationSource(0x1234_5678)
    private static let red = PayloadType(masking: 112)
    private static let now = Instant(nanoseconds: 1_000_000_000)

    /// A packet as it is put into RED.
    private struct Packet {
        var number: SequenceNumber
        var marker: Bool
        var payloadType: UInt8
        var timestamp: UInt32
        var payload: [UInt8]
        var extensions = HeaderExtensions()

        static let map: HeaderExtensionMap = {
            var map = HeaderExtensionMap()
            map[.transportSequenceNumber] = 3
            map[.playoutDelay] = 5
            return map
        }()

        func header(_ payloadType: PayloadType) throws -> [UInt8] {
            let header = OutgoingRTPHeader(
                marker: marker, payloadType: payloadType, sequenceNumber: number, timestamp: RTPTimestamp(timestamp),
                source: ULPFECTests.source, extensions: extensions)
            return try written { writer in try header.write(to: &writer, map: Self.map) }
        }

        /// As it was before RED.
        func whole() throws -> [UInt8] { try header(PayloadType(masking: payloadType)) + payload }

        /// As it leaves.
        func inRED() throws -> [UInt8] { try header(ULPFECTests.red) + [payloadType] + payload }
    }

    private static func encoder(_ packets: [Packet], corrections: Int) throws -> ULPFECEncoder {
        var encoder = ULPFECEncoder()
        try add(packets, corrections: corrections, to: &encoder)
        return encoder
    }

    private static func add(_ packets: [Packet], corrections: Int, to encoder: inout ULPFECEncoder) throws {
        encoder.begin(corrections: corrections)
        for packet in packets {
            let header = try packet.header(red)
            encoder.add(
                header: header.span.bytes, payloadType: PayloadType(masking: packet.payloadType),
                payload: packet.payload.span.bytes)
        }
    }

    private static func correction(_ index: Int, of encoder: ULPFECEncoder) throws -> [UInt8] {
        try written { writer in try encoder.write(index, to: &writer) }
    }

    private static func receive(_ packet: Packet, by decoder: inout ULPFECDecoder, now: Instant = now) throws {
        let bytes = try packet.inRED()
        let header = try RTPHeader(parsing: bytes.span.bytes)
        decoder.receive(header, in: bytes.span.bytes, payloadType: PayloadType(masking: packet.payloadType), now: now)
    }

    private static func receive(correction bytes: [UInt8], by decoder: inout ULPFECDecoder, now: Instant = now) throws {
        try decoder.receive(correction: bytes.span.bytes, now: now)
    }

    private static func frame(_ count: Int, first: UInt16, seed: UInt64) -> [Packet] {
        var generator = SeededGenerator(state: seed)
        return (0..<count).map { index in
            var packet = Packet(
                number: SequenceNumber(first &+ UInt16(index)), marker: index == count - 1, payloadType: 96,
                timestamp: 0xFFFF_F000,
                payload: (0..<Int.random(in: 20...40, using: &generator)).map { _ in
                    UInt8.random(in: 0...255, using: &generator)
                })
            packet.extensions.transportSequenceNumber = TransportSequenceNumber(UInt16(index))
            // The first packet of a frame may have an extension more, and with it a longer header.
            if index == 0 { packet.extensions.playoutDelay = PlayoutDelay(minimum: .zero, maximum: .seconds(1)) }
            return packet
        }
    }

    private static func recovered(_ decoder: inout ULPFECDecoder) -> [[UInt8]] {
        var packets: [[UInt8]] = []
        while let packet = decoder.pollRecovered() { packets.append(packet) }
        return packets
    }

    @Test("The example of RFC 5109 §10.1 is reproduced")
    func example() throws {
        let lengths = [200, 140, 100, 340]
        let packets = lengths.indices.map { index in
            Packet(
                number: SequenceNumber(UInt16(8 + index)), marker: index % 2 == 0,
                payloadType: index % 2 == 0 ? 11 : 18,
                timestamp: UInt32(3 + 2 * index), payload: [UInt8](repeating: UInt8(index + 1), count: lengths[index]))
        }
        let bytes = try Self.correction(0, of: Self.encoder(packets, corrections: 1))
        // E, L, P, X, CC, M and PT 0; SN base 8; TS recovery 8; length recovery 372; protection length 340; four packets.
        #expect(Array(bytes.prefix(14)) == hex("0000 0008 00000008 0174 0154 F000"))
        let (header, count) = try ULPFECHeader.parse(bytes.span.bytes)
        #expect(count == 14 && bytes.count == 14 + 340)
        #expect(header.numbers.map(\.rawValue) == [8, 9, 10, 11])
        // Bytes of all four, of three, of two, of the longest alone.
        let all: UInt8 = 1 ^ 2 ^ 3 ^ 4
        #expect(bytes[14] == all && bytes[14 + 100] == all ^ 3)
        #expect(bytes[14 + 140] == all ^ 3 ^ 2 && bytes[14 + 200] == 4)
    }

    @Test("Any single lost packet of a frame is recovered, with any number of corrections", arguments: 1...12)
    func singleLosses(corrections: Int) throws {
        var encoder = ULPFECEncoder()
        for count in [1, 2, 3, 4, 7, 16, 17, 31, 48] {
            let packets = Self.frame(count, first: 65_520, seed: UInt64(count))
            try Self.add(packets, corrections: corrections, to: &encoder)
            for lost in packets.indices {
                var decoder = ULPFECDecoder(source: Self.source)
                for index in packets.indices where index != lost { try Self.receive(packets[index], by: &decoder) }
                for index in 0..<corrections where encoder.hasCorrection(index) {
                    try Self.receive(correction: Self.correction(index, of: encoder), by: &decoder)
                }
                #expect(try Self.recovered(&decoder) == [packets[lost].whole()])
            }
        }
    }

    @Test(
        "Two lost packets are recovered if they are in different corrections, otherwise neither",
        arguments: [1, 2, 3, 4, 6, 9, 12])
    func doubleLosses(corrections: Int) throws {
        for count in [2, 3, 7, 12, 17, 48] {
            let packets = Self.frame(count, first: 30, seed: UInt64(count))
            let encoder = try Self.encoder(packets, corrections: corrections)
            let made = try (0..<corrections).filter(encoder.hasCorrection).map { try Self.correction($0, of: encoder) }
            for first in packets.indices {
                for second in packets.indices.dropFirst(first + 1) {
                    var decoder = ULPFECDecoder(source: Self.source)
                    for index in packets.indices where index != first && index != second {
                        try Self.receive(packets[index], by: &decoder)
                    }
                    for correction in made { try Self.receive(correction: correction, by: &decoder) }
                    let word = { ULPFECMask.corrections(ofPacket: $0, count: corrections) }
                    let expected = word(first) == word(second) ? [] : [first, second]
                    let recovered = Self.recovered(&decoder)
                    #expect(try Set(recovered) == Set(expected.map { try packets[$0].whole() }))
                }
            }
        }
    }

    @Test("The words of a frame's packets differ as long as possible, and each correction has a packet")
    func words() {
        for corrections in 1...ULPFECMask.maximumCorrections {
            let words = (0..<ULPFECHeader.maximumPackets).map {
                ULPFECMask.corrections(ofPacket: $0, count: corrections)
            }
            #expect(words.allSatisfy { $0 > 0 && $0 < 1 << UInt16(corrections) })
            #expect(Set(words).count == min(ULPFECHeader.maximumPackets, 1 << corrections - 1))
        }
    }

    @Test("Corrections wait for their packets, and a recovered packet helps other corrections")
    func order() throws {
        let packets = Self.frame(5, first: 100, seed: 3)
        let encoder = try Self.encoder(packets, corrections: 3)
        var decoder = ULPFECDecoder(source: Self.source)
        for index in 0..<3 {
            try Self.receive(correction: Self.correction(index, of: encoder), by: &decoder)
        }
        try Self.receive(packets[4], by: &decoder)
        #expect(Self.recovered(&decoder).isEmpty)
        // The third correction has the second and the third packet, the second the first, the third and the fifth.
        try Self.receive(packets[2], by: &decoder)
        #expect(try Set(Self.recovered(&decoder)) == Set([1, 0, 3].map { try packets[$0].whole() }))
    }

    @Test("Packets older than the lifetime of their numbers recover nothing")
    func age() throws {
        let packets = Self.frame(3, first: 100, seed: 4)
        let encoder = try Self.encoder(packets, corrections: 1)
        var decoder = ULPFECDecoder(source: Self.source)
        try Self.receive(packets[0], by: &decoder)
        let later = Self.now.advanced(by: .seconds(3))
        try Self.receive(packets[1], by: &decoder, now: later)
        try Self.receive(correction: Self.correction(0, of: encoder), by: &decoder, now: later)
        #expect(Self.recovered(&decoder).isEmpty)
        try Self.receive(packets[0], by: &decoder, now: later)
        #expect(try Self.recovered(&decoder) == [packets[2].whole()])
    }

    @Test("In a frame with more packets than a mask can name, the others are protected")
    func largeFrame() throws {
        let packets = Self.frame(60, first: 7, seed: 5)
        let encoder = try Self.encoder(packets, corrections: 2)
        let headers = try (0..<2).map { index in
            let bytes = try Self.correction(index, of: encoder)
            return try ULPFECHeader.parse(bytes.span.bytes).header
        }
        #expect(headers.allSatisfy { $0.base == SequenceNumber(7) })
        #expect(Set(headers.flatMap { Array($0.numbers) }).count == 48)
    }

    @Test("A header is parsed as written, with a mask as short as possible")
    func headers() throws {
        for mask: UInt64 in [1, 0xFFFF, 0x8000, 0x1_0000, 0x8000_0000_0001, 0xFFFF_FFFF_FFFF] {
            let header = ULPFECHeader(
                flags: 0x1FE0, base: SequenceNumber(0xFFF0), timestamp: 0x0102_0304, length: 0x1234,
                protectionLength: 0, mask: mask)
            let bytes = try written { writer in try header.write(to: &writer) }
            let (read, count) = try ULPFECHeader.parse(bytes.span.bytes)
            #expect(read == header && count == bytes.count && count == header.byteCount)
            #expect(count == (mask > 0xFFFF ? 18 : 14))
            for length in 0..<count {
                #expect(throws: RTPError.self) { try ULPFECHeader.parse(bytes.span.bytes.extracting(0..<length)) }
            }
        }
        // A mask without packets, an extension that nobody has defined.
        for refused in ["0000 0008 00000008 0174 0000 0000", "8000 0008 00000008 0174 0000 F000"] {
            let bytes = hex(refused)
            #expect(throws: RTPError.self) { try ULPFECHeader.parse(bytes.span.bytes) }
        }
    }

    @Test("A block header contains the payload type; several blocks, or none, are rejected")
    func blocks() throws {
        let one: [UInt8] = [96, 1, 2]
        #expect(try REDPayload.blockPayloadType(of: one.span.bytes) == PayloadType(masking: 96))
        for refused: [UInt8] in [[], [0x80 | 96, 0, 4, 5, 96, 1]] {
            #expect(throws: RTPError.self) { try REDPayload.blockPayloadType(of: refused.span.bytes) }
        }
    }

    @Test("A damaged correction recovers nothing larger than a packet, and has no other effect")
    func damage() throws {
        let packets = Self.frame(3, first: 100, seed: 6)
        let whole = try Self.correction(0, of: Self.encoder(packets, corrections: 1))
        forEachDamage(of: whole, allValues: false) { bytes in
            var decoder = ULPFECDecoder(source: Self.source)
            do {
                for packet in packets.dropLast() { try Self.receive(packet, by: &decoder) }
                try Self.receive(correction: bytes, by: &decoder)
            } catch {
                return
            }
            for packet in Self.recovered(&decoder) where packet.count > 1500 { Issue.record("\(packet.count) bytes") }
        }
    }
}
