import RTCShareRTP
import RTCShareWireFormat
import Testing

struct VP8PayloadDescriptorTests {
    /// Bytes and fields: the first eight were serialized by aiortc, the others follow RFC 7741 §4.6 and §4.2 by hand.
    static let vectors: [(String, VP8PayloadDescriptor)] = [
        ("10", VP8PayloadDescriptor(startsPartition: true)),
        ("03", VP8PayloadDescriptor(startsPartition: false, partitionIndex: 3)),
        ("9080 7f", VP8PayloadDescriptor(startsPartition: true, pictureID: .short(127))),
        ("9080 8080", VP8PayloadDescriptor(startsPartition: true, pictureID: .long(128))),
        ("9080 ffff", VP8PayloadDescriptor(startsPartition: true, pictureID: .long(32767))),
        (
            "90e0 9234 fe a0",
            VP8PayloadDescriptor(
                startsPartition: true, pictureID: .long(4660), temporalLevelZeroIndex: 254,
                temporalLayer: TemporalLayer(index: 2, dependsOnBaseOnly: true))
        ),
        (
            "80f0 9234 07 1f",
            VP8PayloadDescriptor(
                startsPartition: false, pictureID: .long(4660), temporalLevelZeroIndex: 7,
                temporalLayer: .base, keyFrameIndex: 31)
        ),
        ("9010 03", VP8PayloadDescriptor(startsPartition: true, keyFrameIndex: 3)),
        ("9080 11", VP8PayloadDescriptor(startsPartition: true, pictureID: .short(17))),
        ("b080 92 34", VP8PayloadDescriptor(startsPartition: true, isNonReference: true, pictureID: .long(0x1234))),
        ("9020 40", VP8PayloadDescriptor(startsPartition: true, temporalLayer: TemporalLayer(index: 1))),
    ]

    @Test("Fields are read and written", arguments: vectors)
    func fieldsAreReadAndWritten(_ text: String, _ descriptor: VP8PayloadDescriptor) throws {
        let bytes = hex(text)
        let (read, count) = try VP8PayloadDescriptor.parse((bytes + [0xAA]).span.bytes)
        #expect(read == descriptor)
        #expect(count == bytes.count)
        #expect(descriptor.byteCount == bytes.count)
        #expect(try written { writer in try descriptor.write(to: &writer) } == bytes)
        for count in 0..<bytes.count {
            #expect(throws: RTPError.self) { try VP8PayloadDescriptor.parse(Array(bytes.prefix(count)).span.bytes) }
        }
    }

    @Test("Reserved bits are ignored")
    func reservedBitsAreIgnored() throws {
        let read = try VP8PayloadDescriptor.parse(hex("d88f7f").span.bytes)
        #expect(read.descriptor == VP8PayloadDescriptor(startsPartition: true, pictureID: .short(127)))
    }

    @Test("Every descriptor of four bytes reads without a trap")
    func everyDescriptor() {
        for first in 0...255 {
            for second in 0...255 {
                for rest: [UInt8] in [[], [0x80], [0xFF, 0xFF, 0xFF, 0xFF], [0, 0, 0]] {
                    let payload = [UInt8(first), UInt8(second)] + rest
                    if let (_, count) = try? VP8PayloadDescriptor.parse(payload.span.bytes) {
                        #expect(count <= payload.count)
                    }
                }
            }
        }
    }

    @Test("Picture IDs wrap at their width")
    func pictureNumbersWrapAtTheirWidth() {
        #expect(PictureNumber.long(1).distance(from: .long(0x7FFF)) == 2)
        #expect(PictureNumber.short(120).distance(from: .short(2)) == -10)
    }

}

struct VP8PayloadFormatTests {
    @Test("Frames and base layers are numbered, and wrap", arguments: [0x7FFE, 0x7FFF, 0x8000, 0xFFFF] as [UInt16])
    func numbers(_ number: UInt16) throws {
        let frame = PacketizedFrame(
            [1, 2], format: .vp8, number: FrameNumber(7), isKeyFrame: true, captureTime: .zero, width: 16, height: 16)
        let payload = try written { writer in
            try frame.writePayload(at: 0, number: FrameNumber(number), to: &writer)
        }
        let (descriptor, count) = try VP8PayloadDescriptor.parse(payload.span.bytes)
        #expect(
            descriptor
                == VP8PayloadDescriptor(
                    startsPartition: true, pictureID: .long(number & 0x7FFF),
                    temporalLevelZeroIndex: UInt8(truncatingIfNeeded: number), temporalLayer: .base))
        #expect(payload.dropFirst(count) == [1, 2])
    }
}

struct VP8FrameHeaderTests {
    @Test("A key frame contains its size")
    func aKeyFrameStatesItsSize() throws {
        // The first bytes of a 640x480 key frame recorded from a browser.
        let header = try VP8FrameHeader(parsing: hex("b06400 9d012a 8002e001").span.bytes)
        #expect(header.isKeyFrame)
        #expect(header.isShown)
        #expect(header.version == 0)
        #expect(header.width == 640 && header.height == 480)
        #expect(header.firstPartitionByteCount == 0x64 << 3 | 5)
    }

    @Test("Scaling bits are not part of the size")
    func scalingBitsAreNoPartOfTheSize() throws {
        let header = try VP8FrameHeader(parsing: hex("100000 9d012a 0045d082").span.bytes)
        #expect(header.width == 0x500 && header.height == 0x2D0)
    }

    @Test("An inter frame is not a key frame")
    func anotherFrameIsNoKeyFrame() throws {
        let header = try VP8FrameHeader(parsing: hex("b10100").span.bytes)
        #expect(!header.isKeyFrame)
        #expect(header.width == 0)
    }

    @Test("A key frame without its start code is rejected")
    func missingStartCode() {
        #expect(throws: RTPError.invalid(.frameHeader, offset: 3)) {
            try VP8FrameHeader(parsing: hex("b06400 9d012b 8002e001").span.bytes)
        }
        #expect(throws: RTPError.invalid(.frameHeader, offset: 6)) {
            try VP8FrameHeader(parsing: hex("b06400 9d012a 0000e001").span.bytes)
        }
        for count in 0..<10 {
            let cut = Array(hex("b06400 9d012a 8002e001").prefix(count))
            #expect(throws: RTPError.self) { try VP8FrameHeader(parsing: cut.span.bytes) }
        }
    }
}

struct PacketizedFrameTests {
    private func frame(_ count: Int, limit: Int) -> PacketizedFrame {
        PacketizedFrame(
            (0..<count).map { UInt8(truncatingIfNeeded: $0 * 7) }, format: .vp8, number: FrameNumber(7),
            isKeyFrame: true, captureTime: .seconds(2), width: 640, height: 480, maximumPayloadByteCount: limit)
    }

    @Test("The pieces of a frame have nearly equal sizes", arguments: [0, 1, 5, 94, 95, 188, 189, 1000, 12345])
    func nearlyEqualPieces(_ count: Int) throws {
        let frame = frame(count, limit: 100)
        var joined: [UInt8] = []
        var sizes: Set<Int> = []
        for index in 0..<frame.fragmentCount {
            let payload = try written { writer in try frame.writePayload(at: index, to: &writer) }
            #expect(payload.count == frame.payloadByteCount(at: index))
            #expect(payload.count <= 100)
            let (descriptor, descriptorCount) = try VP8PayloadDescriptor.parse(payload.span.bytes)
            #expect(descriptor.startsPartition == (index == 0))
            #expect(descriptor.partitionIndex == 0)
            #expect(descriptor.pictureID == .long(7))
            #expect(frame.isLastFragment(index) == (index == frame.fragmentCount - 1))
            joined += payload.dropFirst(descriptorCount)
            sizes.insert(payload.count)
        }
        #expect(joined == frame.bytes)
        #expect(frame.fragmentCount == max(1, (count + 93) / 94))
        #expect((sizes.max() ?? 0) - (sizes.min() ?? 0) <= 1)
    }

    @Test("A limit below the descriptor still makes progress")
    func limitBelowDescriptor() throws {
        let frame = frame(3, limit: 2)
        #expect(frame.fragmentCount == 3)
    }

    @Test("An index outside the frame is limited to it")
    func indexOutsideFrame() throws {
        let frame = frame(200, limit: 100)
        #expect(frame.payloadByteCount(at: -1) == frame.payloadByteCount(at: 0))
        #expect(frame.payloadByteCount(at: 99) == frame.payloadByteCount(at: frame.fragmentCount - 1))
    }

    @Test("Each peer has its own timestamp")
    func eachPeerHasItsOwnTimestamp() {
        #expect(frame(1, limit: 100).timestamp(offset: RTPTimestamp(1000)) == RTPTimestamp(181_000))
    }

    @Test("A payload that does not fit throws")
    func aPayloadThatDoesNotFitThrows() {
        let frame = frame(50, limit: 100)
        for capacity in 0..<56 {
            #expect(throws: EndOfBytes.self) {
                try written(capacity: capacity) { writer in try frame.writePayload(at: 0, to: &writer) }
            }
        }
    }
}
