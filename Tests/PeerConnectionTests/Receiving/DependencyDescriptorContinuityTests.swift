import RTCSharePeerConnection
import RTCShareRTP
import RTCShareWireFormat
import Testing

@Suite("Continuity by dependency descriptors")
struct DependencyDescriptorContinuityTests {
    private static let sequenceHeader: [UInt8] = [
        0x0A, 0x0B, 0x00, 0x00, 0x00, 0x42, 0xAB, 0xBF, 0xC3, 0x77, 0x46, 0x80, 0x20,
    ]
    private static let source = SynchronizationSource(0x1111)

    private var stream: InboundVideoStream
    private var time = 0

    init() {
        stream = InboundVideoStream(
            configuration: .init(
                source: Self.source, formats: [NegotiatedFormat(.av1, payloadType: PayloadType(masking: 98))],
                localSource: SynchronizationSource(0x3333)))
    }

    private func at(_ milliseconds: Int) -> Instant { Instant(nanoseconds: Int64(milliseconds) * 1_000_000) }

    /// Receives a packet, and returns the numbers of the frames that it completes.
    private mutating func receive(
        _ sequenceNumber: UInt16, _ payload: [UInt8], frame: UInt16?, starts: Bool = true, ends: Bool = true
    ) throws -> [UInt16?] {
        let header = OutgoingRTPHeader(
            marker: ends, payloadType: PayloadType(masking: 98), sequenceNumber: SequenceNumber(sequenceNumber),
            timestamp: RTPTimestamp(UInt32(frame ?? sequenceNumber) * 3000), source: Self.source)
        var bytes = [UInt8](repeating: 0, count: header.byteCount(map: HeaderExtensionMap()))
        var span = bytes.mutableSpan
        var writer = ByteWriter(span.mutableBytes)
        try header.write(to: &writer, map: HeaderExtensionMap())
        let packet = bytes + payload
        var extensions = HeaderExtensions()
        extensions.dependencyDescriptor = frame.map {
            DependencyDescriptor(startsFrame: starts, endsFrame: ends, template: 1, number: FrameNumber($0))
        }
        time += 1
        stream.receive(
            try RTPHeader(parsing: packet.span.bytes), extensions: extensions, in: packet.span.bytes, now: at(time))
        var numbers: [UInt16?] = []
        while let frame = stream.pollFrame() { numbers.append(frame.pictureID?.value) }
        return numbers
    }

    private static let key = [0x28, 0x0C, 0x08] + sequenceHeader[2...] + [0x30, 0x10, 0x00]
    private static let delta: [UInt8] = [0x10, 0x30, 0x30, 0x00]

    @Test("A gap without frames is skipped at once by the frames' numbers, also where they wrap")
    mutating func skips() throws {
        #expect(try receive(1, Self.key, frame: 0xFFFF) == [0xFFFF])
        #expect(try receive(3, Self.delta, frame: 0) == [0])
        #expect(try receive(4, Self.delta, frame: 1) == [1])
    }

    @Test("A gap with a frame is waited for")
    mutating func waits() throws {
        #expect(try receive(1, Self.key, frame: 7) == [7])
        #expect(try receive(3, Self.delta, frame: 9) == [])
        #expect(try receive(2, Self.delta, frame: 8) == [8, 9])
    }

    @Test("Without the extension every gap is waited for")
    mutating func withoutExtension() throws {
        #expect(try receive(1, Self.key, frame: nil) == [nil])
        #expect(try receive(3, Self.delta, frame: nil) == [])
        #expect(try receive(2, Self.delta, frame: nil) == [nil, nil])
    }

    @Test("A unit in the middle of a frame does not start one after a loss")
    mutating func middle() throws {
        #expect(try receive(1, Self.key, frame: 7) == [7])
        // The first packet, a frame header, is lost; the second has another one.
        #expect(try receive(3, [0x10, 0x18, 0x30], frame: 8, starts: false) == [])
        #expect(try receive(2, [0x10, 0x28, 0x00], frame: 8, ends: false) == [8])
    }
}
