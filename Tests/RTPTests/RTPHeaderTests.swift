import RTCShareRTP
import RTCShareWireFormat
import Testing

/// The packets of this suite marked so were serialized by aiortc 1.x.
struct RTPHeaderTests {
    /// aiortc: marker, payload type 96, extensions mid "0" (3), abs-send-time (2), transport-wide number (5).
    static let oneByte = hex(
        "90e012341234567887654321bede000330302212345651abcd00000090e07061796c6f6164")
    /// aiortc: the same with two contributing sources and seven bytes of padding.
    static let padded = hex(
        "b2e01234123456788765432100000001ffffffffbede000330302212345651abcd000000"
            + "90e07061796c6f6164e9cfb8ad6fce07")
    /// aiortc: the same as the first with ids 20 and 255, in the two-byte form.
    static let twoByte = hex(
        "90e012341234567887654321100000031401300203123456ff02abcd90e07061796c6f6164")

    private func map(_ ids: [HeaderExtensionKind: UInt8]) -> HeaderExtensionMap {
        var map = HeaderExtensionMap()
        for (kind, id) in ids { map[kind] = id }
        return map
    }

    private var oneByteMap: HeaderExtensionMap {
        map([.mediaIdentification: 3, .absoluteSendTime: 2, .transportSequenceNumber: 5])
    }

    @Test("Fields of the fixed header are read")
    func fieldsOfTheFixedHeaderAreRead() throws {
        let header = try RTPHeader(parsing: Self.oneByte.span.bytes)
        #expect(header.marker)
        #expect(header.payloadType == PayloadType(96))
        #expect(header.sequenceNumber == SequenceNumber(0x1234))
        #expect(header.timestamp == RTPTimestamp(0x1234_5678))
        #expect(header.source == SynchronizationSource(0x8765_4321))
        #expect(header.byteCount == 28)
        #expect(Array(Self.oneByte[header.payloadRange]) == hex("90e07061796c6f6164"))
    }

    @Test("Extensions of both forms are read")
    func extensionsOfBothFormsAreRead() throws {
        let twoByteMap = map([.mediaIdentification: 20, .absoluteSendTime: 2, .transportSequenceNumber: 255])
        for (packet, map) in [(Self.oneByte, oneByteMap), (Self.twoByte, twoByteMap)] {
            let header = try RTPHeader(parsing: packet.span.bytes)
            let extensions = HeaderExtensions(header, in: packet.span.bytes, map: map)
            #expect(extensions.mediaIdentification == "0")
            #expect(extensions.absoluteSendTime == AbsoluteSendTime(0x123456))
            #expect(extensions.transportSequenceNumber == TransportSequenceNumber(0xABCD))
            #expect(extensions.videoOrientation == nil)
        }
        let header = try RTPHeader(parsing: Self.oneByte.span.bytes)
        #expect(header.extensionElement(5, in: Self.oneByte.span.bytes) == 23..<25)
        #expect(header.extensionElement(6, in: Self.oneByte.span.bytes) == nil)
    }

    @Test("The payload excludes padding and contributing sources")
    func payloadBounds() throws {
        let header = try RTPHeader(parsing: Self.padded.span.bytes)
        #expect(header.paddingByteCount == 7)
        #expect(header.contributingSources(in: Self.padded.span.bytes).map(\.rawValue) == [1, 0xFFFF_FFFF])
        #expect(Array(Self.padded[header.payloadRange]) == hex("90e07061796c6f6164"))
    }

    @Test("A header is written like that of another implementation")
    func writtenBytes() throws {
        var extensions = HeaderExtensions()
        extensions.mediaIdentification = "0"
        extensions.absoluteSendTime = AbsoluteSendTime(0x123456)
        extensions.transportSequenceNumber = TransportSequenceNumber(0xABCD)
        let header = try OutgoingRTPHeader(
            marker: true, payloadType: #require(PayloadType(96)), sequenceNumber: SequenceNumber(0x1234),
            timestamp: RTPTimestamp(0x1234_5678), source: SynchronizationSource(0x8765_4321), extensions: extensions)
        for (ids, vector) in [
            (oneByteMap, Self.oneByte),
            (map([.mediaIdentification: 20, .absoluteSendTime: 2, .transportSequenceNumber: 255]), Self.twoByte),
        ] {
            let bytes = try written { writer in try header.write(to: &writer, map: ids) }
            #expect(bytes.count == header.byteCount(map: ids))
            #expect(bytes + hex("90e07061796c6f6164") == vector)
        }
    }

    @Test("Every extension survives the round trip in both forms")
    func extensionRoundTrip() throws {
        var extensions = HeaderExtensions()
        extensions.mediaIdentification = "video0"
        extensions.absoluteSendTime = AbsoluteSendTime(0xFFFFFF)
        extensions.transportSequenceNumber = TransportSequenceNumber(65535)
        extensions.videoOrientation = VideoOrientation(rawValue: 0b1111)
        extensions.playoutDelay = PlayoutDelay(minimum: .milliseconds(20), maximum: .milliseconds(400))
        extensions.videoContentType = .screenshare
        extensions.audioLevel = AudioLevel(level: 30, isVoice: true)
        for offset: UInt8 in [1, 8, 16, 100] {
            var map = HeaderExtensionMap()
            for (index, kind) in HeaderExtensionKind.allCases.enumerated() {
                map[kind] = offset + UInt8(index)
            }
            if offset > 1 { map[.transportSequenceNumber] = offset + 50 }
            let header = try OutgoingRTPHeader(
                marker: false, payloadType: #require(PayloadType(127)), sequenceNumber: SequenceNumber(0),
                timestamp: RTPTimestamp(0), source: SynchronizationSource(1), extensions: extensions)
            let bytes = try written { writer in try header.write(to: &writer, map: map) }
            let read = try RTPHeader(parsing: bytes.span.bytes)
            #expect(HeaderExtensions(read, in: bytes.span.bytes, map: map) == extensions)
            #expect(bytes.count == header.byteCount(map: map))
        }
    }

    @Test("An identification too long for the one-byte form uses the two-byte form")
    func longIdentification() throws {
        var extensions = HeaderExtensions()
        extensions.mediaIdentification = "seventeen letters"
        var map = HeaderExtensionMap()
        map[.mediaIdentification] = 1
        let header = try OutgoingRTPHeader(
            marker: false, payloadType: #require(PayloadType(0)), sequenceNumber: SequenceNumber(0),
            timestamp: RTPTimestamp(0), source: SynchronizationSource(1), extensions: extensions)
        let bytes = try written { writer in try header.write(to: &writer, map: map) }
        let read = try RTPHeader(parsing: bytes.span.bytes)
        #expect(read.extensionProfile == 0x1000)
        #expect(HeaderExtensions(read, in: bytes.span.bytes, map: map) == extensions)
    }

    @Test("A header without negotiated extensions has no block")
    func noNegotiatedExtensions() throws {
        var extensions = HeaderExtensions()
        extensions.videoContentType = .screenshare
        let header = try OutgoingRTPHeader(
            marker: false, payloadType: #require(PayloadType(96)), sequenceNumber: SequenceNumber(1),
            timestamp: RTPTimestamp(2), source: SynchronizationSource(3), extensions: extensions)
        let bytes = try written { writer in try header.write(to: &writer, map: HeaderExtensionMap()) }
        #expect(bytes == hex("80600001 00000002 00000003"))
    }

    @Test("Padding is written with its count last")
    func writtenPadding() throws {
        var header = try OutgoingRTPHeader(
            marker: false, payloadType: #require(PayloadType(97)), sequenceNumber: SequenceNumber(1),
            timestamp: RTPTimestamp(2), source: SynchronizationSource(3))
        header.hasPadding = true
        let bytes = try written { writer in
            try header.write(to: &writer, map: HeaderExtensionMap())
            try writer.writePadding(224)
        }
        let read = try RTPHeader(parsing: bytes.span.bytes)
        #expect(read.payloadRange.isEmpty)
        #expect(read.paddingByteCount == 224)
    }

    @Test("One-byte elements end at id 15, and at id 0 with a length")
    func endOfElements() throws {
        let head = "90e0123412345678876543 21bede0002"
        for stop in ["f0 00", "0100"] {
            let packet = hex(head + "10aa" + stop + "20bb 0000")
            let header = try RTPHeader(parsing: packet.span.bytes)
            #expect(header.extensionElement(1, in: packet.span.bytes) == 17..<18)
            #expect(header.extensionElement(2, in: packet.span.bytes) == nil)
        }
        let padded = hex(head + "000010aa 0020bb00")
        let header = try RTPHeader(parsing: padded.span.bytes)
        #expect(header.extensionElement(2, in: padded.span.bytes) == 22..<23)
    }

    @Test("Data that is not a header is rejected with its field")
    func refusals() {
        func error(_ text: String) -> RTPError? {
            let bytes = hex(text)
            do throws(RTPError) {
                _ = try RTPHeader(parsing: bytes.span.bytes)
                return nil
            } catch {
                return error
            }
        }
        #expect(error("80") == .truncated(.header, offset: 0))
        #expect(error("40600001 00000002 00000003") == .invalid(.version, offset: 0))
        #expect(error("81600001 00000002 00000003") == .truncated(.contributingSources, offset: 12))
        #expect(error("90600001 00000002 00000003 bede") == .truncated(.headerExtension, offset: 14))
        #expect(error("90600001 00000002 00000003 bede0001 10") == .truncated(.headerExtension, offset: 16))
        #expect(error("a0600001 00000002 00000003") == .truncated(.padding, offset: 12))
        #expect(error("a0600001 00000002 00000003 0000") == .invalid(.padding, offset: 13))
        #expect(error("a0600001 00000002 00000003 0003") == .invalid(.padding, offset: 13))
    }

    @Test("The ranges of a damaged packet's header are within the packet", arguments: [oneByte, padded, twoByte])
    func damagedPacket(_ packet: [UInt8]) {
        forEachDamage(of: packet, readEverything)
    }

    @Test("A write that does not fit throws")
    func aWriteThatDoesNotFitThrows() throws {
        let header = try OutgoingRTPHeader(
            marker: false, payloadType: #require(PayloadType(96)), sequenceNumber: SequenceNumber(1),
            timestamp: RTPTimestamp(2), source: SynchronizationSource(3))
        for capacity in 0..<12 {
            #expect(throws: EndOfBytes.self) {
                try written(capacity: capacity) { writer in try header.write(to: &writer, map: HeaderExtensionMap()) }
            }
        }
    }

    @Test(
        "A datagram is classified by its first bytes",
        arguments: [
            ("8060", DatagramKind.rtp), ("80e0", .rtp), ("80c8", .rtcp), ("81df", .rtcp), ("80e0", .rtp),
            ("80bf", .rtp),
            ("0001", .stun), ("16fe", .dtls), ("1000", .zrtp), ("4000", .turnChannel), ("c000", .unknown),
            ("80", .unknown),
            ("", .unknown), ("0400", .unknown),
        ])
    func datagramKinds(_ text: String, _ kind: DatagramKind) {
        #expect(DatagramKind(hex(text).span.bytes) == kind)
    }

    @Test("Absolute send time is 6 bits of seconds and 18 of fraction")
    func absoluteSendTime() {
        #expect(AbsoluteSendTime(Instant(nanoseconds: 1_500_000_000)).rawValue == 1 << 18 | 1 << 17)
        #expect(AbsoluteSendTime(Instant(nanoseconds: 64_000_000_000)).rawValue == 0)
        let late = AbsoluteSendTime(Instant(nanoseconds: 63_500_000_000))
        let wrapped = AbsoluteSendTime(Instant(nanoseconds: 64_500_000_000))
        #expect(wrapped.duration(since: late) == .seconds(1))
        #expect(late.duration(since: wrapped) == .seconds(-1))
    }

    @Test("A retransmission carries the original number first")
    func retransmission() throws {
        // aiortc: packet 500 with payload "abc", wrapped.
        let packet = hex("80610007000000000000000601f4616263")
        let header = try RTPHeader(parsing: packet.span.bytes)
        let payload = header.payload(of: packet.span.bytes)
        #expect(try RetransmissionPayload.originalSequenceNumber(of: payload) == SequenceNumber(500))
        #expect(payload.byteCount - RetransmissionPayload.prefixByteCount == 3)
        let prefix = try written { writer in try RetransmissionPayload.writePrefix(SequenceNumber(500), to: &writer) }
        #expect(prefix == hex("01f4"))
        #expect(try RetransmissionPayload.originalSequenceNumber(of: [UInt8]().span.bytes) == nil)
        #expect(throws: RTPError.truncated(.originalSequenceNumber, offset: 0)) {
            try RetransmissionPayload.originalSequenceNumber(of: [UInt8(1)].span.bytes)
        }
    }

    @Test("Clocks convert and wrap")
    func clocksConvertAndWrap() {
        let offset = RTPTimestamp(0xFFFF_FFFF)
        #expect(RTPTimestamp(mediaTime: .seconds(1), clockRate: 90_000, offset: offset).rawValue == 89_999)
        #expect(RTPTimestamp(89_999).duration(since: offset, clockRate: 90_000) == .seconds(1))
        let ntp = NTPTimestamp(sinceUnixEpoch: .milliseconds(1500))
        #expect(ntp.rawValue == 0x83AA_7E81_8000_0000)
        #expect(ntp.middle32.rawValue == 0x7E81_8000)
        #expect(ntp.sinceUnixEpoch == .milliseconds(1500))
        // The seconds wrap on 7 February 2036; the fraction is read to the nearest nanosecond.
        #expect(NTPTimestamp(0).sinceUnixEpoch == .seconds(2_085_978_496))
        #expect(NTPTimestamp(5 << 32).sinceUnixEpoch == .seconds(2_085_978_501))
        #expect(NTPTimestamp(sinceUnixEpoch: .seconds(4_000_000_000)).sinceUnixEpoch == .seconds(4_000_000_000))
        #expect(NTPTimestamp(sinceUnixEpoch: .seconds(2_085_978_495)).sinceUnixEpoch == .seconds(2_085_978_495))
        #expect(NTPTimestamp(.max).sinceUnixEpoch == .seconds(2_085_978_496))
        #expect(NTPTimestamp(sinceUnixEpoch: .nanoseconds(123_456_789)).sinceUnixEpoch == .nanoseconds(123_456_789))
        #expect(NTPShortTime(.milliseconds(250)).rawValue == 16384)
        #expect(NTPShortTime(16384).duration == .milliseconds(250))
    }
}
