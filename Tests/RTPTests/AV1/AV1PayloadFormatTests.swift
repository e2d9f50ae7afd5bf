import RTCShareWireFormat
import TestSupport
import Testing

@testable import RTCShareRTP

@Suite("AV1 payload format")
struct AV1PayloadFormatTests {
    private let format: any VideoPayloadFormat = .av1

    /// A sequence header of libaom for 1920x1080.
    private static let sequenceHeader = hex("0A0B00000042ABBFC377468020")
    /// The same without its size.
    private static let sentSequenceHeader = hex("0800000042ABBFC377468020")
    /// The beginning of a shown key frame, without its header and size.
    private static let keyFrame: [UInt8] = [0x10, 0x00]

    private func frame(_ bytes: [UInt8], limit: Int = 1000) -> [[UInt8]] {
        PacketizedFrame(
            bytes, format: format, number: FrameNumber(1), isKeyFrame: false, captureTime: .zero, width: 16, height: 16,
            maximumPayloadByteCount: limit
        ).payloads
    }

    private func content(_ payload: [UInt8]) throws -> PacketContent {
        let (content, piece) = try format.read(payload.span.bytes)
        #expect(piece == 0..<payload.count)
        return content
    }

    // Cutting, with the shapes of libwebrtc's rtp_packetizer_av1_unittest.

    @Test(
        "One unit has no length, and its size is left out",
        arguments: [
            ("30 01020304050607", "10 30 01020304050607"), ("32 07 0B0C0D0E0F1011", "10 30 0B0C0D0E0F1011"),
            ("34 28 020304050607", "10 34 28 020304050607"), ("36 28 07 01020304050607", "10 34 28 01020304050607"),
        ])
    func oneUnit(unit: String, payload: String) {
        #expect(frame(hex(unit)) == [hex(payload)])
    }

    @Test("Of three units in a packet, the last has no length")
    func threeUnits() {
        #expect(
            frame(hex("0A06010203040506 2A040B0C0D0E 3206151617 18191A"))
                == [hex("30 07 08010203040506 05 280B0C0D0E 30151617 18191A")])
    }

    @Test("Of four units in a packet, each has a length")
    func fourUnits() {
        #expect(
            frame(hex("0A06010203040506 2A040B0C0D0E 1A03151617 22061F2021222324"))
                == [hex("00 07 08010203040506 05 280B0C0D0E 04 18151617 07 201F2021222324")])
    }

    @Test("Temporal delimiters, tile lists and padding are left out")
    func omitted() {
        #expect(
            frame(hex("1200 2A00 4206010203040506 1A03151617 7A020000 22061F2021222324"))
                == [hex("30 01 28 04 18151617 20 1F2021222324")])
        // Without other units, the payload has one empty element, which no receiver takes for a frame.
        for bytes in [hex("1200"), [], [0x80]] { #expect(frame(bytes) == [[0x10]]) }
        #expect(throws: RTPError.self) { try format.join([[0x10]]) }
    }

    @Test("A unit is split in its header if there is no other way")
    func splitHeader() {
        #expect(
            frame(hex("1E 28 01 15 26 28 04 0B0C0D0E"), limit: 6)
                == [hex("60 03 1C2815 24"), hex("90 28 0B0C0D0E")])
    }

    @Test("A unit of 1200 bytes is split into 13 packets of nearly 100 bytes")
    func manyPackets() throws {
        let unit = [0x32, 0xB0, 0x09] + (0..<1200).map { UInt8(truncatingIfNeeded: $0) }
        let payloads = frame(unit, limit: 100)
        #expect(payloads.count == 13 && Set(payloads.map(\.count)).isSubset(of: [93, 94]))
        #expect(payloads.map { $0[0] } == [0x50] + [UInt8](repeating: 0xD0, count: 11) + [0x90])
        #expect(try format.join(payloads) == unit)
    }

    @Test("Only the first packet of a key frame with a sequence header starts a coded video sequence")
    func newSequence() throws {
        let key = Self.sequenceHeader + [0x32, 0x20] + Self.keyFrame + [UInt8](repeating: 7, count: 30)
        let payloads = frame(key, limit: 30)
        let start = [0x68, 0x0C] + Self.sentSequenceHeader + [0x30] + Self.keyFrame
        #expect(payloads.map { Array($0.prefix(start.count)) }.first == start)
        #expect(payloads.map(\.first) == [0x68, 0x90])
        let contents = try payloads.map { try content($0) }
        #expect(contents.map(\.startsKeyFrame) == [true, false])
        #expect(contents.map(\.startsFrame) == [true, false])
        let joined = try format.join(payloads)
        #expect(joined == key)
        let header = try format.header(of: joined.span.bytes)
        #expect(header == VideoFrameHeader(isKeyFrame: true, width: 1920, height: 1080))
    }

    @Test("A sequence header without a key frame, and a key frame without one, start no coded video sequence")
    func sameSequence() {
        #expect(frame(Self.sequenceHeader + [0x32, 0x02, 0x30, 0x00]).map(\.first) == [0x20])
        #expect(frame([0x32, 0x02, 0x10, 0x00]).map(\.first) == [0x10])
    }

    @Test("A unit that would fill a packet is cut, so that only the last packet of a frame ends with a unit")
    func noRoom() throws {
        let large = [0x2A, 28] + [UInt8](repeating: 1, count: 28)
        let frame = large + [0x32, 3, 1, 2, 3]
        #expect(self.frame(frame, limit: 32).map(\.count) == [18, 18])
        #expect(self.frame(frame, limit: 32).map(\.first) == [0x50, 0xA0])
        #expect(try format.join(self.frame(frame, limit: 32)) == frame)
        #expect(self.frame(frame, limit: 36).count == 1)
    }

    @Test("Only the last packet of a frame ends with a unit, at any limit", arguments: 1...20)
    func continuation(seed: UInt64) throws {
        var numbers = SeededNumbers(seed)
        var bytes: [UInt8] = []
        for _ in 0..<Int.random(in: 2...6, using: &numbers) {
            let count = Int.random(in: 1...2000, using: &numbers)
            bytes += [0x32] + LEB128.bytes(of: count) + [UInt8](repeating: 9, count: count)
        }
        for limit in [20, 99, 100, 101, 500, 1140, 1200] {
            let payloads = frame(bytes, limit: limit)
            #expect(payloads.dropLast().allSatisfy { $0[0] & 0x40 != 0 } && payloads.last.map { $0[0] & 0x40 } == 0)
            #expect(payloads.dropFirst().allSatisfy { $0[0] & 0x80 != 0 } && payloads[0][0] & 0x80 == 0)
            #expect(payloads.count <= (bytes.count + limit - 2) / (limit - 1) + 1)
            #expect(try format.join(payloads) == bytes)
        }
    }

    @Test("A frame that is cut at any limit is joined to the same units", arguments: 1...20)
    func roundTrip(seed: UInt64) throws {
        var numbers = SeededNumbers(seed)
        var expected: [UInt8] = []
        var bytes: [UInt8] = []
        for _ in 0..<Int.random(in: 1...8, using: &numbers) {
            let type = UInt8.random(in: 1...15, using: &numbers)
            let hasExtension = Bool.random(using: &numbers)
            let payload = (0..<Int.random(in: 0...300, using: &numbers)).map { _ in UInt8.random(in: 0...255) }
            let unit =
                [type << 3 | (hasExtension ? 6 : 2)] + (hasExtension ? [0x28] : []) + LEB128.bytes(of: payload.count)
                + payload
            bytes += unit
            if ![2, 8, 15].contains(type) { expected += unit }
        }
        guard !expected.isEmpty else { return }
        for limit in 3...200 {
            let payloads = frame(bytes, limit: limit)
            #expect(payloads.allSatisfy { (2...limit).contains($0.count) })
            #expect(try format.join(payloads) == expected, "limit \(limit)")
        }
        for limit in -1...2 { #expect(frame(bytes, limit: limit).allSatisfy { $0.count == 2 }) }
    }

    @Test("Many units need few more packets than their bytes", arguments: [4, 10, 40, 60])
    func manyUnits(count: Int) throws {
        for size in [1, 2, 20, 100, 300] {
            let bytes = (0..<count).flatMap { _ in [0x32] + LEB128.bytes(of: size) + [UInt8](repeating: 9, count: size)
            }
            let payloads = frame(bytes, limit: 1180)
            let total = payloads.reduce(0) { $0 + $1.count }
            #expect(payloads.count <= total / 1180 + 2 && payloads.dropLast().allSatisfy { $0.count > 400 })
            #expect(try format.join(payloads) == bytes)
        }
    }

    // Reading and joining, with the shapes of libwebrtc's video_rtp_depacketizer_av1_unittest.

    /// A payload, and whether it starts a frame and a key frame.
    private typealias Start = (payload: String, frame: Bool, keyFrame: Bool)

    private static let starts: [Start] = [
        ("90 30", false, false), ("10 30", true, false), ("18 08", true, true), ("10 08", true, false),
        ("18 30", true, false),
        // Metadata and a frame header begin a frame; tiles and a redundant frame header don't.
        ("10 28", true, false), ("10 18", true, false), ("10 20", false, false), ("10 38", false, false),
        // A temporal delimiter before a sequence header, in its packet or in one of its own.
        ("28 01 10 08", true, true), ("18 10", true, true),
    ]

    @Test("A packet starts a frame unless it continues a unit, and a key frame with N and a sequence header")
    func frameStarts() throws {
        for start in Self.starts {
            let content = try content(hex(start.payload))
            #expect(content.startsFrame == start.frame, "\(start.payload)")
            #expect(content.startsKeyFrame == start.keyFrame, "\(start.payload)")
        }
    }

    @Test("Aggregation headers of Chromium are read")
    func aggregationHeaders() throws {
        #expect(
            try AV1AggregationHeader(parsing: [UInt8(0x28)].span.bytes)
                == .init(continuesUnit: false, isContinued: false, elementCount: 2, startsSequence: true))
        #expect(
            try AV1AggregationHeader(parsing: [UInt8(0x50)].span.bytes)
                == .init(continuesUnit: false, isContinued: true, elementCount: 1, startsSequence: false))
    }

    @Test(
        "A payload that is empty, continues a unit in a new sequence, or has a wrong length is an error",
        arguments: ["", "98 08", "00", "20", "20 05 30", "00 02 30", "20 80", "00 01 30 80", "20 FFFFFFFFFFFFFFFF 7F"])
    func unreadable(payload: String) {
        let bytes = hex(payload)
        #expect(throws: RTPError.self) { try format.read(bytes.span.bytes) }
        #expect(throws: RTPError.self) { try format.join([bytes]) }
    }

    @Test(
        "Elements are joined to units with sizes",
        arguments: [
            (["10 30 141E28"], "32 03 141E28"), (["10 32 03 141E28"], "32 03 141E28"),
            (["10 34 48 141E28"], "36 48 03 141E28"), (["10 36 48 03 141E28"], "36 48 03 141E28"),
            (["20 02 080A 3014"], "0A 01 0A 32 01 14"), (["50 30 141E", "90 28"], "32 03 141E28"),
            (["60 02 080A 30141E", "90 28"], "0A 01 0A 32 03 141E28"),
            (
                ["40 02 080A 02 2814 04 2C30141E 05 343028323C", "90 46505A"],
                "0A 01 0A 2A 01 14 2E 30 02 141E 36 30 06 28323C46505A"
            ),
            (["50 300B0C", "D0 0D0E", "D0 0F1011", "90 12"], "32 08 0B0C0D0E0F101112"),
            (
                ["60 03 180B0C 20151617", "90 18191A1B", "60 03 380B0C 201F20", "90 21222324"],
                "1A 02 0B0C 22 07 15161718191A1B 3A 02 0B0C 22 06 1F2021222324"
            ),
            // An empty fragment, and one between empty elements.
            (["50", "90 30 0A141E"], "32 03 0A141E"), (["50 30 0A141E", "90"], "32 03 0A141E"),
            (["60 02 080A", "90 30 0A"], "0A 01 0A 32 01 0A"), (["00 00 02 3014 00"], "32 01 14"),
            // A temporal delimiter is ignored.
            (["30 01 10 02 080A 3014"], "0A 01 0A 32 01 14"),
        ])
    func joining(payloads: [String], units: String) throws {
        #expect(try format.join(payloads.map { hex($0) }) == hex(units))
    }

    @Test("A unit of 127 bytes has a size in one byte, and one of 128 bytes in two")
    func sizes() throws {
        let whole = [0x00, 0x80, 0x01, 0x30] + [UInt8](repeating: 0, count: 127)
        #expect(try format.join([whole]).prefix(2) == [0x32, 127])
        let halves = [
            [0x40, 33, 0x30] + [UInt8](repeating: 0, count: 32), [0x80, 96] + [UInt8](repeating: 0, count: 96),
        ]
        let joined = try format.join(halves)
        #expect(joined.prefix(3) == [0x32, 0x80, 0x01] && joined.count == 131)
    }

    @Test(
        "Packets that don't continue each other, or a unit with a wrong size, are an error",
        arguments: [
            ["90 30"], ["50 30"], ["50 30", "10 30"], ["10 30", "90 30"], ["10 B0"], ["10 32 02 01"], ["10 32 00 01"],
            ["10 34"], ["10 32"], [], ["10"],
        ])
    func broken(payloads: [String]) {
        #expect(throws: RTPError.self) { try format.join(payloads.map { hex($0) }) }
    }

    @Test("A frame has at most 64 units and 8 MiB")
    func limits() throws {
        let units: [UInt8] = [0x00] + [[UInt8]](repeating: [0x01, 0x28], count: 32).joined()
        #expect(try format.join([units, units]).count == 128)
        #expect(throws: RTPError.self) { try format.join([units, units, [0x10, 0x30]]) }
        let elements = [0x00] + [UInt8](repeating: 0, count: 65)
        #expect(throws: RTPError.self) { try format.read(elements.span.bytes) }
        let large = [0x10, 0x30] + [UInt8](repeating: 0, count: (8 << 20) - 2)
        #expect(try format.join([large]).count == (8 << 20) + 3)
        #expect(throws: RTPError.self) { try format.join([large + [0]]) }
    }

    // Packets of other senders.

    /// Units of GStreamer's tests of its AV1 payloader, and their packets, in which units keep their sizes.
    private static let gstreamer = (
        header: hex("0A0B00000003 37FFFC0FFF9804"),
        frame: hex("321E 1000000300 00E4EFBCF251D89F756AD0DE30AE3E50C9F0CE0AD2046681F0")
    )

    @Test("Packets of GStreamer are read and joined, with units in packets of their own, aggregated, and in fragments")
    func gstreamerPackets() throws {
        let (header, frame) = Self.gstreamer
        let unit = header + frame
        let separate = [[0x18] + header, [0x10] + frame]
        let whole = [[0x28, 0x0D] + header + frame]
        let fragments = [
            [0x68, 0x0D] + header + frame.prefix(4), [0xD0] + frame[4..<22], [0x90] + frame[22...],
        ]
        for payloads in [separate, whole, fragments] {
            #expect(try content(payloads[0]).startsKeyFrame)
            #expect(try format.join(payloads) == unit)
        }
        #expect(try format.header(of: unit.span.bytes) == VideoFrameHeader(isKeyFrame: true, width: 128, height: 128))
    }

    /// The beginning of packets of Chromium that Jitsi recorded: a key frame of 480x270 without layers.
    @Test("Packets of Chromium are read")
    func chromiumPackets() throws {
        let first = hex("680B0800000004477E1A00D004301061")
        #expect(try content(first).startsKeyFrame)
        #expect(
            try format.explain(first.span.bytes)
                == "Z=0 Y=1 W=2 N=1 sequence-header=11 frame=3 key frame 480x270")
        let next = hex("9057F7C3F51BA803B0C397E938589750")
        #expect(try !content(next).startsFrame)
        #expect(try format.explain(next.span.bytes) == "Z=1 Y=0 W=1 N=0 fragment=15")
    }

    @Test("Payloads that are cut or changed are an error or read, without a trap")
    func garbage() throws {
        let payloads = frame(Self.sequenceHeader + [0x32, 0x20] + Self.keyFrame + hex("0102030405060708"), limit: 20)
        for payload in payloads {
            forEachDamage(of: payload) { damaged in
                let content = try? format.read(damaged.span.bytes).content
                let explanation = try? format.explain(damaged.span.bytes)
                if content == nil, explanation != nil { Issue.record("\(damaged)") }
                if let frame = try? format.join([damaged]) { _ = try? format.header(of: frame.span.bytes) }
                _ = try? format.join([damaged, payload])
            }
        }
    }
}

extension PacketizedFrame {
    fileprivate var payloads: [[UInt8]] {
        (0..<fragmentCount).compactMap { index in
            try? written(capacity: payloadByteCount(at: index)) { writer in
                try writePayload(at: index, to: &writer)
            }
        }
    }
}
