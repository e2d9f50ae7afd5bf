import RTCShareWireFormat
import Testing

@testable import RTCShareRTP

@Suite("Dependency descriptor")
struct DependencyDescriptorTests {
    private static let map: HeaderExtensionMap = {
        var map = HeaderExtensionMap()
        map[.absoluteSendTime] = 3
        map[.transportSequenceNumber] = 5
        map[.dependencyDescriptor] = 11
        return map
    }()

    private func bytes(_ descriptor: DependencyDescriptor) throws -> [UInt8] {
        try written(capacity: descriptor.byteCount) { writer in try descriptor.write(to: &writer) }
    }

    private func read(_ text: String) throws -> DependencyDescriptor {
        let bytes = hex(text)
        var reader = ByteReader(bytes.span.bytes)
        return try DependencyDescriptor(&reader)
    }

    /// Packets of Chromium that Jitsi recorded: the two first of a key frame of 480x270 without layers.
    @Test("Packets of Chromium without layers are read, and written with the same bytes")
    func withoutLayers() throws {
        let first = hex("902939B91FF6A695114ED316 BEDE0006 3248C482 510002 BC80000180003A410180EF808680 000000 680B08")
        let next = hex("90A939BA1FF6A695114ED316 BEDE0003 3248D02A 510003 B2400001 00 9057F7")
        let expected = [
            DependencyDescriptor(
                startsFrame: true, endsFrame: false, template: 0, number: FrameNumber(1),
                structure: .init(width: 480, height: 270)),
            DependencyDescriptor(startsFrame: false, endsFrame: true, template: 0, number: FrameNumber(1)),
        ]
        for (packet, expected) in zip([first, next], expected) {
            let header = try RTPHeader(parsing: packet.span.bytes)
            let extensions = HeaderExtensions(header, in: packet.span.bytes, map: Self.map)
            #expect(extensions.dependencyDescriptor == expected)
            let outgoing = OutgoingRTPHeader(
                marker: header.marker, payloadType: header.payloadType, sequenceNumber: header.sequenceNumber,
                timestamp: header.timestamp, source: header.source, extensions: extensions)
            #expect(outgoing.byteCount(map: Self.map) == header.payloadRange.lowerBound)
            #expect(
                try written { writer in try outgoing.write(to: &writer, map: Self.map) }
                    == Array(packet[..<header.payloadRange.lowerBound]))
        }
    }

    /// Descriptors of a stream with layers, which LiveKit recorded.
    @Test("The numbers of frames with layers are read, and nothing of their structure")
    func withLayers() throws {
        let key = try read(
            "c1017280081485214eafffaaaa863cf0430c10c302afc0aaa0063c00430010c002a000a80006000040001d954926e082b04a0941b8"
                + "20ac1282503157f974000ca864330e222222eca8655304224230eca877530077004200ef008601df010d")
        #expect(
            key == DependencyDescriptor(startsFrame: true, endsFrame: true, template: 1, number: FrameNumber(0x172)))
        let packets = ["86017340fc", "46017340fc", "c3017540fc", "860173", "0b0174", "c30175"]
        #expect(
            try packets.map { try read($0) } == [
                .init(startsFrame: true, endsFrame: false, template: 6, number: FrameNumber(0x173)),
                .init(startsFrame: false, endsFrame: true, template: 6, number: FrameNumber(0x173)),
                .init(startsFrame: true, endsFrame: true, template: 3, number: FrameNumber(0x175)),
                .init(startsFrame: true, endsFrame: false, template: 6, number: FrameNumber(0x173)),
                .init(startsFrame: false, endsFrame: false, template: 11, number: FrameNumber(0x174)),
                .init(startsFrame: true, endsFrame: true, template: 3, number: FrameNumber(0x175)),
            ])
    }

    @Test("A descriptor is the same once it was written and read", arguments: [1, 2, 480, 65_535, 65_536])
    func roundTrip(side: Int) throws {
        for number in [0, 1, 0x8000, 0xFFFF] as [UInt16] {
            let descriptor = DependencyDescriptor(
                startsFrame: true, endsFrame: number == 0, template: 63, number: FrameNumber(number),
                structure: .init(width: side, height: 65_537 - side))
            #expect(descriptor.structure?.width == side && descriptor.structure?.height == 65_537 - side)
            let bytes = try bytes(descriptor)
            #expect(bytes.count == DependencyDescriptor.maximumByteCount)
            var reader = ByteReader(bytes.span.bytes)
            #expect(try DependencyDescriptor(&reader) == descriptor)
        }
        #expect(DependencyDescriptor.Structure(width: 0, height: .min + 1) == .init(width: 1, height: 1))
        #expect(DependencyDescriptor.Structure(width: .max, height: 70_000) == .init(width: 65_536, height: 65_536))
    }

    @Test("A descriptor of less than three bytes is ignored")
    func short() throws {
        for count in 1...2 {
            let packet =
                hex("9060 0001 00000000 00000001 BEDE0001") + [0xB0 | UInt8(count - 1), 0x80, 0, 0].prefix(count + 1)
                + [0, 0, 0].prefix(3 - count)
            let header = try RTPHeader(parsing: packet.span.bytes)
            #expect(HeaderExtensions(header, in: packet.span.bytes, map: Self.map).dependencyDescriptor == nil)
        }
    }

    private func frame(_ format: any VideoPayloadFormat, isKeyFrame: Bool) -> PacketizedFrame {
        PacketizedFrame(
            [0x32, 0x14] + [UInt8](repeating: 1, count: 20), format: format, number: FrameNumber(7),
            isKeyFrame: isKeyFrame, captureTime: .zero, width: 640, height: 480, maximumPayloadByteCount: 9)
    }

    @Test("The first packet of a key frame has the structure, and every packet the frame's number at the peer")
    func frames() throws {
        for isKeyFrame in [true, false] {
            let frame = frame(.av1, isKeyFrame: isKeyFrame)
            let descriptors = (0..<frame.fragmentCount).map {
                frame.dependencyDescriptor(at: $0, number: FrameNumber(0xFFFE))
            }
            let template: UInt8 = isKeyFrame ? 0 : 1
            #expect(
                descriptors == [
                    DependencyDescriptor(
                        startsFrame: true, endsFrame: false, template: template, number: FrameNumber(0xFFFE),
                        structure: isKeyFrame ? .init(width: 640, height: 480) : nil),
                    .init(startsFrame: false, endsFrame: false, template: template, number: FrameNumber(0xFFFE)),
                    .init(startsFrame: false, endsFrame: true, template: template, number: FrameNumber(0xFFFE)),
                ])
        }
        #expect(frame(.vp8, isKeyFrame: true).dependencyDescriptor(at: 0, number: FrameNumber(1)) == nil)
    }

    @Test("A packet with the longest extensions and payload is no longer than one of VP8")
    func longest() throws {
        var map = HeaderExtensionMap()
        for (index, kind) in HeaderExtensionKind.allCases.enumerated() where kind != .audioLevel {
            map[kind] = UInt8(index + 1)
        }
        var extensions = HeaderExtensions()
        extensions.mediaIdentification = "0"
        extensions.absoluteSendTime = AbsoluteSendTime(1)
        extensions.transportSequenceNumber = TransportSequenceNumber(1)
        extensions.videoOrientation = VideoOrientation(quarterTurns: 0)
        extensions.playoutDelay = PlayoutDelay(minimum: .zero, maximum: .zero)
        extensions.videoContentType = .screenshare
        func length(_ format: any VideoPayloadFormat) -> Int {
            let frame = PacketizedFrame(
                [0x32, 0x80, 0x80, 0x01] + [UInt8](repeating: 1, count: 16_384), format: format, number: FrameNumber(7),
                isKeyFrame: true, captureTime: .zero, width: 640, height: 480)
            extensions.dependencyDescriptor = frame.dependencyDescriptor(at: 0, number: FrameNumber(1))
            let header = OutgoingRTPHeader(
                marker: true, payloadType: PayloadType(masking: 96), sequenceNumber: SequenceNumber(1),
                timestamp: RTPTimestamp(1), source: SynchronizationSource(1), extensions: extensions)
            return header.byteCount(map: map) + frame.payloadByteCount(at: 0)
        }
        #expect(length(.av1) <= 1200 - 2 - 1 - 16 && length(.vp8) <= 1200 - 2 - 1 - 16)
    }
}
