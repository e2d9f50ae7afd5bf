import RTCShareWireFormat
import Testing

@testable import RTCShareRTP

@Suite("Payloads of H.264 (RFC 6184)")
struct H264PayloadTests {
    private static let sequence = [0x67] + [UInt8](repeating: 0xA1, count: 9)
    private static let pictures: [UInt8] = [0x68, 0xCE, 0x3C]
    private static let information: [UInt8] = [0x06, 0x05, 0x01, 0x80]

    private static func unit(_ header: UInt8, _ count: Int) -> [UInt8] {
        [header] + (1..<count).map { UInt8($0 % 250 + 4) }
    }

    private static func frame(_ units: [[UInt8]]) -> [UInt8] { units.flatMap { [0, 0, 0, 1] + $0 } }

    private static func payloads(
        _ frame: [UInt8], limit: Int, as format: H264PayloadFormat = .h264
    ) throws -> [[UInt8]] {
        let frame = PacketizedFrame(
            frame, format: format, number: FrameNumber(1), isKeyFrame: false, captureTime: .zero, width: 16, height: 16,
            maximumPayloadByteCount: limit)
        return try (0..<frame.fragmentCount).map { index in
            let payload = try written { writer in try frame.writePayload(at: index, to: &writer) }
            #expect(payload.count == frame.payloadByteCount(at: index))
            return payload
        }
    }

    private static func start(_ payload: [UInt8]) throws -> FrameStart {
        let (content, piece) = try H264PayloadFormat.h264.read(payload.span.bytes)
        #expect(content.format === H264PayloadFormat.h264 && piece == payload.indices && content.pictureID == nil)
        return content.start
    }

    @Test("Parameter sets are one aggregate before the slices of a key frame")
    func aggregate() throws {
        let slice = Self.unit(0x65, 20)
        let payloads = try Self.payloads(
            Self.frame([Self.sequence, Self.pictures, Self.information, slice]), limit: 100)
        let sets: [UInt8] =
            [0x78, 0, 10] + Self.sequence + [0, 3] + Self.pictures + [0, 4] + Self.information
        #expect(payloads == [sets, slice])
        #expect(try payloads.map(Self.start) == [.keyFrame, .byTimestamp])
    }

    @Test("Parameter sets that don't fit into one packet, or of which there is only one, are packets of their own")
    func separate() throws {
        let slice = Self.unit(0x65, 12)
        let separate = [Self.sequence, Self.pictures, slice]
        #expect(try Self.payloads(Self.frame(separate), limit: 16) == separate)
        #expect(try Self.payloads(Self.frame([Self.sequence, slice]), limit: 100) == [Self.sequence, slice])
        #expect(try Self.payloads(Self.frame([Self.information, slice]), limit: 100) == [Self.information, slice])
    }

    @Test("A large unit is divided into fragments of nearly equal size, the first and the last marked")
    func fragments() throws {
        let slice = Self.unit(0x41, 24)
        let payloads = try Self.payloads(Self.frame([slice]), limit: 10)
        #expect(payloads.map(\.count) == [10, 10, 9])
        #expect(payloads.map { Array($0.prefix(2)) } == [[0x5C, 0x81], [0x5C, 0x01], [0x5C, 0x41]])
        #expect(payloads.flatMap { $0.dropFirst(2) } == Array(slice.dropFirst()))
        #expect(try payloads.map(Self.start) == [.byTimestamp, .none, .none])
        #expect(try Self.payloads(Self.frame([slice]), limit: 24) == [slice])
    }

    @Test("The single NAL unit mode has neither aggregates nor fragments")
    func singleUnits() throws {
        let units = [Self.sequence, Self.pictures, Self.unit(0x65, 40)]
        #expect(try Self.payloads(Self.frame(units), limit: 10, as: .h264SingleUnits) == units)
    }

    @Test("Fragments of a sequence parameter set begin a key frame once")
    func fragmentedSequence() throws {
        let payloads = try Self.payloads(Self.frame([Self.sequence, Self.unit(0x65, 4)]), limit: 6)
        #expect(try payloads.map(Self.start) == [.keyFrame, .none, .none, .byTimestamp])
    }

    @Test("A frame has the same units after any division", arguments: [0, 1, 2, 3, 4, 7, 30, 100, 2000])
    func roundTrip(limit: Int) throws {
        var generator = SeededGenerator(state: 7)
        for _ in 0..<50 {
            var units = (0..<Int.random(in: 1...4, using: &generator)).map { _ in
                Self.unit(
                    [0x41, 0x01, 0x65, 0x06][Int.random(in: 0...3, using: &generator)],
                    Int.random(in: 1...90, using: &generator))
            }
            if Bool.random(using: &generator) { units = [Self.sequence, Self.pictures] + units }
            let frame = Self.frame(units)
            let payloads = try Self.payloads(frame, limit: limit)
            #expect(payloads.allSatisfy { $0.count <= max(limit, 3) })
            let pieces = try payloads.map { payload in
                Array(payload[try H264PayloadFormat.h264.read(payload.span.bytes).piece])
            }
            #expect(try H264PayloadFormat.h264.join(pieces) == frame)
        }
    }

    @Test("A frame without NAL units, or with units that have no packets, is an empty payload")
    func noUnits() throws {
        for frame: [UInt8] in [[], [1, 2, 3], [0, 0, 1, 0x7C, 0x85, 1]] {
            #expect(try Self.payloads(frame, limit: 100) == [[]])
        }
    }

    @Test(
        "Packets of the interleaved mode, of undefined types and with wrong sizes are refused",
        arguments: [
            "", "e5 88", "60 01", "79 0000 0001 65", "7a 0000 0001 00 00 65", "7b 0000 0001 00 0000 65",
            "7d 85 0000 01", "7e 01", "7f 01", "78", "78 00", "78 0000", "78 0002 65", "78 0001 65 00", "78 0001 78",
            "78 0001 e5", "7c", "7c 85", "7c 98 01", "7c 80 01",
        ])
    func refusals(text: String) {
        #expect(throws: RTPError.self) { try H264PayloadFormat.h264.read(hex(text).span.bytes) }
    }

    @Test(
        "Fragments without a beginning or an end, and of two units, are not a frame",
        arguments: [
            ["7c 05 01"], ["7c 85 01"], ["7c 85 01", "7c 41 02"], ["7c 85 01", "7c 85 02"], ["7c 85 01", "41 02"],
            ["7c 85"], [""], ["78 0009 65"],
        ])
    func wrongPieces(pieces: [String]) {
        #expect(throws: RTPError.self) { try H264PayloadFormat.h264.join(pieces.map(hex)) }
    }

    @Test(
        "A payload that contains a start code is rejected: its units would differ from those that were sent",
        arguments: [["67 42 000001"], ["41 9a", "65 88 000001 c1"], ["7c 85 00", "7c 45 0001"], ["41 000001 0000"]])
    func startCodeInside(pieces: [String]) {
        #expect(throws: RTPError.self) { try H264PayloadFormat.h264.join(pieces.map(hex)) }
    }

    @Test("Damaged payloads read and join, or are an error, without a trap")
    func damage() throws {
        let frame = Self.frame([Self.sequence, Self.pictures, Self.unit(0x65, 60)])
        for payload in try Self.payloads(frame, limit: 40) {
            forEachDamage(of: payload) { damaged in
                _ = try? H264PayloadFormat.h264.read(damaged.span.bytes)
                _ = try? H264PayloadFormat.h264.join([payload, damaged])
            }
        }
    }

    @Test("A key frame is an IDR picture with parameter sets, which have its size")
    func header() throws {
        let sequence = hex("6742c020d90056061e6ac044000003000400000300c83c60c920")
        let format = H264PayloadFormat.h264
        let whole = Self.frame([sequence, Self.pictures, Self.unit(0x65, 8)])
        #expect(try format.header(of: whole.span.bytes) == VideoFrameHeader(isKeyFrame: true, width: 1366, height: 766))
        for units in [[sequence, Self.unit(0x65, 8)], [Self.unit(0x65, 8)], [Self.unit(0x41, 8)], [sequence]] {
            #expect(try !format.header(of: Self.frame(units).span.bytes).isKeyFrame)
        }
    }
}
