import RTCShareRTP
import RTCShareWireFormat
import Testing

private let one = SynchronizationSource(1)
private let two = SynchronizationSource(2)

struct RTCPPacketTests {
    private static let block = ReportBlock(
        source: SynchronizationSource(1234), fractionLost: 7, cumulativeLost: -5,
        extendedHighestSequenceNumber: 0x0001_1234, jitter: 77, lastSenderReport: NTPShortTime(0x1122_3344),
        delaySinceLastSenderReport: NTPShortTime(0x10000))

    /// Bytes that aiortc serialized, but for the lines marked otherwise, and what they say.
    static let vectors: [(String, RTCPPacket)] = [
        (
            "81c9000700000063000004d207fffffb000112340000004d1122334400010000",
            .receiverReport(ReceiverReport(source: SynchronizationSource(99), reportBlocks: [block]))
        ),
        (
            "81c8000c00000063e12345678000000000015f900000000a00002ee0000004d207fffffb000112340000004d1122334400010000",
            .senderReport(
                SenderReport(
                    source: SynchronizationSource(99), ntpTimestamp: NTPTimestamp(0xE123_4567_8000_0000),
                    rtpTimestamp: RTPTimestamp(90000), packetCount: 10, octetCount: 12000, reportBlocks: [block]))
        ),
        // By hand, RFC 3550 §6.5: each chunk ends on a multiple of four bytes.
        (
            "82ca0008 00000063 0109 7b6120636e616d657d 00 00000064 0102 7879 0604 746f6f6c 0000",
            .sourceDescription(
                SourceDescription(chunks: [
                    .init(
                        source: SynchronizationSource(99), items: [.init(type: 1, value: Array("{a cname}".utf8))]),
                    .init(
                        source: SynchronizationSource(100),
                        items: [
                            .init(type: 1, value: Array("xy".utf8)), .init(type: 6, value: Array("tool".utf8)),
                        ]),
                ]))
        ),
        (
            "82cb00020000006300000064",
            .goodbye(Goodbye(sources: [SynchronizationSource(99), SynchronizationSource(100)]))
        ),
        // By hand, RFC 3550 §6.6.
        ("81cb0003 00000001 04 676f6e65 000000", .goodbye(Goodbye(sources: [one], reason: "gone"))),
        // By hand, RFC 3550 §6.7.
        (
            "85cc0003 00000001 6e616d65 01020304",
            .application(ApplicationPacket(subtype: 5, source: one, name: 0x6E61_6D65, data: [1, 2, 3, 4]))
        ),
        (
            "81cd00050000000100000002000a8005001b000000640000",
            .genericNACK(
                GenericNACK(sender: one, media: two, lost: [10, 11, 13, 26, 27, 100].map { SequenceNumber($0) }))
        ),
        // By hand: numbers around the wrap.
        (
            "81cd0003 00000001 00000002 fffe 0023",
            .genericNACK(GenericNACK(sender: one, media: two, lost: [65534, 65535, 0, 4].map { SequenceNumber($0) }))
        ),
        ("81ce00020000000100000002", .pictureLossIndication(PictureLossIndication(sender: one, media: two))),
        // By hand, RFC 5104 §4.3.1.1.
        (
            "84ce0004 00000001 00000000 00000002 07000000",
            .fullIntraRequest(FullIntraRequest(sender: one, entries: [.init(source: two, sequenceNumber: 7)]))
        ),
        // By hand, RFC 5104 §4.2.1.1: 125 000 << 3 bit/s with 40 bytes, no bit/s with 511 bytes, and no limit at all.
        (
            "83cd0006 00000001 00000000 00000002 0fd09028 00000003 000001ff",
            .temporaryMaximumBitrate(
                TemporaryMaximumBitrate(
                    sender: one,
                    entries: [
                        .init(source: two, bitrate: .kilobitsPerSecond(1000), overhead: 40),
                        .init(source: SynchronizationSource(3), bitrate: .zero, overhead: 511),
                    ]))
        ),
        (
            "84cd0002 00000001 00000000",
            .temporaryMaximumBitrate(TemporaryMaximumBitrate(isNotification: true, sender: one, entries: []))
        ),
        ("8fce0006000000010000000052454d42020000000000000200000003", remb(0)),
        ("8fce0006000000010000000052454d42020000010000000200000003", remb(1)),
        ("8fce0006000000010000000052454d420203ffff0000000200000003", remb(262_143)),
        ("8fce0006000000010000000052454d42020600000000000200000003", remb(262_144)),
        ("8fce0006000000010000000052454d420212625a0000000200000003", remb(2_500_000)),
        // By hand: what is not read here stays as it is.
        (
            "80cf0002 00000001 01020304",
            .opaque(OpaqueRTCPPacket(packetType: 207, count: 0, body: hex("0000000101020304")))
        ),
        // By hand, RFC 8888 §3.1, which is not offered: a stream of one packet.
        (
            "8bcd0005 00000001 00000002 ffff0001 84000000 00018000",
            .opaque(
                OpaqueRTCPPacket(packetType: 205, count: 11, body: hex("00000001 00000002 ffff0001 84000000 00018000")))
        ),
        (
            "82ce0003 00000001 00000002 00070203",
            .opaque(
                OpaqueRTCPPacket(packetType: 206, count: 2, body: hex("000000010000000200070203")))
        ),
        (
            "8fce0003 00000001 00000002 01020304",
            .opaque(
                OpaqueRTCPPacket(packetType: 206, count: 15, body: hex("000000010000000201020304")))
        ),
        // By hand after the draft's §3.1: received at 0, +1, lost, +300 and -1 quarter milliseconds.
        (
            "8fcd0006 00000001 00000002 fffe0005 00000a03 d4a0 00 01 012c ffff",
            .transportFeedback(
                TransportFeedback(
                    sender: one, media: two, baseSequenceNumber: TransportSequenceNumber(65534), referenceTime: 10,
                    feedbackPacketCount: 3, deltas: [0, 1, nil, 300, -1]))
        ),
    ]

    private static func remb(_ bits: Int) -> RTCPPacket {
        .receiverEstimatedMaximumBitrate(
            ReceiverEstimatedMaximumBitrate(
                sender: one, bitrate: .bitsPerSecond(bits), sources: [two, SynchronizationSource(3)]))
    }

    @Test("Packets are parsed and written to the byte", arguments: vectors)
    func byteForByte(_ text: String, _ packet: RTCPPacket) throws {
        let bytes = hex(text)
        #expect(try RTCPPacket.parse(compound: bytes.span.bytes) == [packet])
        #expect(packet.bytes == bytes)
    }

    @Test("The parsed part of a damaged packet is written as it was parsed", arguments: vectors.map(\.0))
    func damagedPacket(_ text: String) {
        forEachDamage(of: hex(text), readEverything)
    }

    @Test("Every truncation is rejected", arguments: vectors.map(\.0))
    func everyTruncationIsRefused(_ text: String) {
        let bytes = hex(text)
        for count in 0..<bytes.count {
            #expect(throws: RTPError.self) { try RTCPPacket.parse(compound: Array(bytes.prefix(count)).span.bytes) }
        }
    }

    @Test("A compound packet contains its packets in order")
    func compoundOrder() throws {
        let all = Self.vectors.flatMap { hex($0.0) }
        #expect(try RTCPPacket.parse(compound: all.span.bytes) == Self.vectors.map(\.1))
    }

    @Test("Malformed content of one packet does not affect the others")
    func unreadableContent() throws {
        // A receiver report that announces a block it doesn't hold, then a PLI.
        let packets = try RTCPPacket.parse(compound: hex("81c90001 00000001 81ce0002 00000001 00000002").span.bytes)
        #expect(packets.count == 2)
        let expected = OpaqueRTCPPacket(
            packetType: 201, count: 1, body: hex("00000001"), error: .truncated(.reportBlock, offset: 8))
        #expect(packets.first == .opaque(expected))
        #expect(packets.last == .pictureLossIndication(PictureLossIndication(sender: one, media: two)))
    }

    @Test("An invalid packet header invalidates the compound packet")
    func wrongFraming() {
        func error(_ text: String) -> RTPError? {
            let bytes = hex(text)
            do throws(RTPError) {
                _ = try RTCPPacket.parse(compound: bytes.span.bytes)
                return nil
            } catch {
                return error
            }
        }
        #expect(error("") == .truncated(.commonHeader, offset: 0))
        #expect(error("80c9") == .truncated(.commonHeader, offset: 0))
        #expect(error("40c90001 00000001") == .invalid(.version, offset: 0))
        #expect(error("80c90001 00000001 00") == .truncated(.commonHeader, offset: 8))
        #expect(error("80c90001 00000001 80c90002 00000001") == .truncated(.length, offset: 10))
        #expect(error("a0c90000") == .truncated(.padding, offset: 4))
        #expect(error("a0c90001 00000000") == .invalid(.padding, offset: 7))
        #expect(error("a0c90001 00000005") == .invalid(.padding, offset: 7))
        let many = [UInt8](repeatElement(hex("80cb0000"), count: RTCPPacket.maximumPacketCount + 1).joined())
        #expect(throws: RTPError.tooMany(.compound, limit: 128, offset: 512)) {
            try RTCPPacket.parse(compound: many.span.bytes)
        }
    }

    @Test("The list of missing packets is limited")
    func aListOfMissingPacketsIsBounded() throws {
        let limit = GenericNACK.maximumEntryCount
        for count in [limit, limit + 1] {
            let length = 2 + count
            let head: [UInt8] = [0x81, 0xCD, UInt8(length >> 8), UInt8(length & 255)]
            let bytes = head + [UInt8](repeating: 0, count: 4 * length)
            switch try RTCPPacket.parse(compound: bytes.span.bytes).first {
            case .genericNACK(let nack): #expect(count == limit && nack.entries.count == limit)
            case .opaque(let packet):
                #expect(count > limit)
                #expect(packet.error == .tooMany(.feedbackControl, limit: limit, offset: 12 + 4 * limit))
            default: Issue.record("neither read nor refused")
            }
        }
    }

    private func message(_ type: UInt8, count: UInt8, _ body: [UInt8]) -> [UInt8] {
        let words = body.count / 4
        return [0x80 | count, type, UInt8(words >> 8), UInt8(words & 255)] + body
    }

    private func read(_ type: UInt8, count: UInt8, _ body: [UInt8]) throws -> RTCPPacket? {
        try RTCPPacket.parse(compound: message(type, count: count, body).span.bytes).first
    }

    private func error(of packet: RTCPPacket?) -> RTPError? {
        if case .opaque(let packet) = packet { packet.error } else { nil }
    }

    @Test("The list of key frame requests is limited")
    func boundedRequests() throws {
        let limit = FullIntraRequest.maximumEntryCount
        func read(_ count: Int) throws -> RTCPPacket? {
            try self.read(206, count: 4, [UInt8](repeating: 0, count: 8 + 8 * count))
        }
        guard case .fullIntraRequest(let request) = try read(limit) else {
            Issue.record("not read")
            return
        }
        #expect(request.entries.count == limit)
        #expect(
            try error(of: read(limit + 1)) == .tooMany(.feedbackControl, limit: limit, offset: 12 + 8 * limit))
    }

    @Test("The list of requested bitrates is limited, and a bitrate of more than 64 bits is the largest")
    func boundedBitrates() throws {
        let limit = TemporaryMaximumBitrate.maximumEntryCount
        func read(_ count: Int) throws -> RTCPPacket? {
            try self.read(205, count: 3, [UInt8](repeating: 0xFF, count: 8 + 8 * count))
        }
        guard case .temporaryMaximumBitrate(let limits) = try read(limit) else {
            Issue.record("not read")
            return
        }
        #expect(limits.entries.count == limit && limits.entries[0].bitrate.bitsPerSecond == .max)
        #expect(
            try error(of: read(limit + 1)) == .tooMany(.feedbackControl, limit: limit, offset: 12 + 8 * limit))
        var bitrates: [Int64] = []
        for bits in [0, 131_071, 131_072, 131_073, 1 << 40, Int64.max] {
            let entry = TemporaryMaximumBitrate.Entry(source: two, bitrate: .bitsPerSecond(bits))
            let packet = RTCPPacket.temporaryMaximumBitrate(TemporaryMaximumBitrate(sender: one, entries: [entry]))
            let read = try RTCPPacket.parse(compound: packet.bytes.span.bytes).first
            guard case .temporaryMaximumBitrate(let limits)? = read else { continue }
            bitrates += limits.entries.map(\.bitrate.bitsPerSecond)
        }
        #expect(bitrates == [0, 131_071, 131_072, 131_072, 1 << 40, 0x1FFFF << 46], "rounded down")
    }

    @Test("The numbers of items and of described sources are limited")
    func boundedDescriptions() throws {
        let limit = SourceDescription.maximumItemCount
        func read(items count: Int) throws -> RTCPPacket? {
            let items = [UInt8](repeatElement([6, 0], count: count).joined())
            return try self.read(202, count: 1, [0, 0, 0, 1] + items + [0, 0] + (count % 2 == 0 ? [0, 0] : []))
        }
        guard case .sourceDescription(let description) = try read(items: limit) else {
            Issue.record("not read")
            return
        }
        #expect(description.chunks.map(\.items.count) == [limit])
        #expect(
            try error(of: read(items: limit + 1))
                == .tooMany(.sourceDescriptionItem, limit: limit, offset: 8 + 2 * limit))
        // Five bits count the chunks.
        guard case .sourceDescription(let many) = try self.read(202, count: 31, [UInt8](repeating: 0, count: 8 * 100))
        else {
            Issue.record("not read")
            return
        }
        #expect(many.chunks.count == 31)
        #expect(
            try error(of: self.read(202, count: 31, [UInt8](repeating: 0, count: 8 * 30)))
                == .truncated(.sourceDescriptionChunk, offset: 4 + 8 * 30))
    }

    @Test("The numbers of leaving sources and of an estimate's sources are limited")
    func boundedSources() throws {
        guard case .goodbye(let goodbye) = try read(203, count: 31, [UInt8](repeating: 0, count: 4 * 100))
        else {
            Issue.record("not read")
            return
        }
        #expect(goodbye.sources.count == 31)
        #expect(
            try error(of: read(203, count: 31, [UInt8](repeating: 0, count: 4 * 30)))
                == .truncated(.senderSource, offset: 4 + 4 * 30))
        let estimate = [UInt8](repeating: 0, count: 8) + Array("REMB".utf8) + [255, 0, 0, 1]
        guard
            case .receiverEstimatedMaximumBitrate(let read) = try read(
                206, count: 15, estimate + [UInt8](repeating: 0, count: 4 * 300))
        else {
            Issue.record("not read")
            return
        }
        #expect(read.sources.count == 255)
        #expect(
            try error(of: self.read(206, count: 15, estimate + [UInt8](repeating: 0, count: 4 * 254)))
                == .truncated(.feedbackControl, offset: 4 + 16 + 4 * 254))
    }

    @Test("Padding is ignored")
    func paddingIsLeftAside() throws {
        let packets = try RTCPPacket.parse(compound: hex("a1ce0003 00000001 00000002 00000004").span.bytes)
        #expect(packets == [.pictureLossIndication(PictureLossIndication(sender: one, media: two))])
    }

    @Test("A description with additional zeros is parsed")
    func extraZeros() throws {
        // aiortc ends a chunk with two zeros at least, where one would do.
        let bytes = hex("81ca0005 00000063 0109 7b6120636e616d657d 00 00000000")
        guard case .sourceDescription(let read)? = try RTCPPacket.parse(compound: bytes.span.bytes).first else {
            Issue.record("not a description")
            return
        }
        #expect(read == SourceDescription(source: SynchronizationSource(99), canonicalName: "{a cname}"))
        #expect(read.chunks.first?.subgroup == nil)
        #expect(read.canonicalName(of: SynchronizationSource(99)) == "{a cname}")
        #expect(read.canonicalName(of: one) == nil)
    }

    @Test("The subgroup of a source is a private item, and other items are not mistaken for it")
    func subgroup() throws {
        let bytes = hex("81ca0007 00000001 0101 63 080f 08 73756267726f7570 64657369676e 00000000")
        let description = SourceDescription(source: one, canonicalName: "c", subgroup: "design")
        #expect(RTCPPacket.sourceDescription(description).bytes == bytes)
        #expect(try RTCPPacket.parse(compound: bytes.span.bytes) == [.sourceDescription(description)])
        #expect(description.chunks.first?.subgroup == "design")
        for value in ["", "08", "ff", "07 73756267726f75 70", "08 73756267726f7570 ff"] {
            let item = SourceDescription.Item(type: SourceDescription.Item.privateType, value: hex(value))
            #expect(SourceDescription.Chunk(source: one, items: [item]).subgroup == nil, "\(value)")
        }
    }

    @Test("Estimates beyond the mantissa are rounded down")
    func estimatesBeyondMantissa() throws {
        // aiortc: 1 234 567 890 123 bit/s.
        let bytes = hex("8fce0006000000010000000052454d42025e3ee30000000200000003")
        #expect(Self.remb(1_234_567_890_123).bytes == bytes)
        guard case .receiverEstimatedMaximumBitrate(let read)? = try RTCPPacket.parse(compound: bytes.span.bytes).first
        else {
            Issue.record("not an estimate")
            return
        }
        #expect(read.bitrate.bitsPerSecond == 0x23EE3 << 23)
        // The largest exponent and mantissa exceed 64 bits.
        let huge = try RTCPPacket.parse(
            compound: hex("8fce0005 00000001 00000000 52454d42 01ffffff 00000002").span.bytes)
        guard case .receiverEstimatedMaximumBitrate(let most)? = huge.first else {
            Issue.record("not an estimate")
            return
        }
        #expect(most.bitrate.bitsPerSecond == .max)
    }

    @Test("Items beyond a packet's count are written into further packets")
    func manyReportBlocks() throws {
        let blocks = [ReportBlock](repeating: Self.block, count: 70)
        let report = RTCPPacket.senderReport(
            SenderReport(
                source: one, ntpTimestamp: NTPTimestamp(1), rtpTimestamp: RTPTimestamp(2), packetCount: 3,
                octetCount: 4, reportBlocks: blocks))
        let packets = try RTCPPacket.parse(compound: report.bytes.span.bytes)
        let counts = packets.map { packet in
            switch packet {
            case .senderReport(let report): report.reportBlocks.count
            case .receiverReport(let report): report.reportBlocks.count + 1000
            default: 0
            }
        }
        #expect(counts == [31, 1031, 1008])
    }

    @Test("The round-trip time excludes the receiver's delay")
    func roundTripTime() {
        // RFC 3550 §6.4.1, figure 2.
        var block = Self.block
        block.lastSenderReport = NTPShortTime(0xB705_2000)
        block.delaySinceLastSenderReport = NTPShortTime(0x0005_4000)
        let now = NTPTimestamp(0xB44D_B70A_A000_0000)
        #expect(block.roundTripTime(at: NTPTimestamp(0xB44D_B710_8000_0000)) == .milliseconds(6125))
        #expect(block.roundTripTime(at: now) == .milliseconds(250))
        #expect(block.roundTripTime(at: NTPTimestamp(0xB44D_B705_2000_0000)) == nil)
        block.lastSenderReport = NTPShortTime(0)
        #expect(block.roundTripTime(at: now) == nil)
    }
}

struct RTCPBundleWriterTests {
    private let pli = RTCPPacket.pictureLossIndication(PictureLossIndication(sender: one, media: two))

    private func kinds(_ datagram: [UInt8]) throws -> [UInt8] {
        try RTCPPacket.parse(compound: datagram.span.bytes).map { $0.bytes[1] }
    }

    @Test("A compound packet begins with a report and the CNAME")
    func reportFirst() throws {
        let writer = RTCPBundleWriter(source: one, canonicalName: "name", allowsReducedSize: false)
        #expect(try writer.datagrams(feedback: [pli]).map(kinds) == [[201, 202, 206]])
        let report = RTCPPacket.senderReport(
            SenderReport(
                source: one, ntpTimestamp: NTPTimestamp(1), rtpTimestamp: RTPTimestamp(2), packetCount: 3, octetCount: 4
            ))
        let goodbye = RTCPPacket.goodbye(Goodbye(sources: [one]))
        #expect(try writer.datagrams(report: report, feedback: [pli, goodbye]).map(kinds) == [[200, 202, 206, 203]])
        #expect(try writer.datagrams(report: report).map(kinds) == [[200, 202]])
        #expect(writer.datagrams() == [])
    }

    @Test("Reduced-size feedback is sent without a report")
    func feedbackOfReducedSizeGoesAlone() throws {
        let writer = RTCPBundleWriter(source: one, canonicalName: "name", allowsReducedSize: true)
        #expect(writer.datagrams(feedback: [pli]) == [pli.bytes])
    }

    @Test("A datagram is filled up to its limit, and the rest is in the next one", arguments: [true, false])
    func fullDatagram(_ allowsReducedSize: Bool) {
        let prefix = allowsReducedSize ? 0 : 8 + 16
        func count(_ maximumByteCount: Int) -> [Int] {
            let writer = RTCPBundleWriter(
                source: one, canonicalName: "name", allowsReducedSize: allowsReducedSize,
                maximumByteCount: maximumByteCount)
            return writer.datagrams(feedback: [pli, pli, pli]).map(\.count)
        }
        #expect(count(prefix + 36) == [prefix + 36])
        #expect(count(prefix + 35) == [prefix + 24, prefix + 12])
    }

    @Test("No datagram exceeds the limit", arguments: [true, false])
    func noDatagramIsLongerThanAllowed(_ allowsReducedSize: Bool) throws {
        let writer = RTCPBundleWriter(
            source: one, canonicalName: "name", allowsReducedSize: allowsReducedSize, maximumByteCount: 600)
        let lost = stride(from: 0, to: 60000, by: 20).map { SequenceNumber(UInt16($0)) }
        let nack = GenericNACK(sender: one, media: two, lost: lost)
        #expect(nack.entries.count == 3000)
        let datagrams = writer.datagrams(feedback: [pli, .genericNACK(nack), pli])
        var read: [SequenceNumber] = []
        var plis = 0
        for datagram in datagrams {
            #expect(datagram.count <= 600)
            for packet in try RTCPPacket.parse(compound: datagram.span.bytes) {
                if case .genericNACK(let nack) = packet { read += nack.lost }
                if packet == pli { plis += 1 }
            }
            #expect(try kinds(datagram).first == (allowsReducedSize ? kinds(datagram).first : 201))
        }
        #expect(read == lost)
        #expect(plis == 2)
    }
}
