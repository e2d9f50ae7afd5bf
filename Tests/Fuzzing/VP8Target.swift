import RTCSharePeerConnection
import RTCShareRTP
import RTCShareWireFormat
import TestSupport

/// The packets of a VP8 stream in any order, at any time: to the assembler alone and to a receiver with retransmissions.
///
/// A step has: the sequence number (2), how much time passes in milliseconds (1), how far the timestamp goes on (1), flags
/// (1: marker, 2: of the retransmission stream, 4: in RED, whose header begins the payload), the payload.
struct VP8Target: FuzzTarget {
    private enum Kind {
        static let padding: UInt8 = 1
        static let awaitKeyFrame: UInt8 = 2
        static let restart: UInt8 = 3
        static let pause: UInt8 = 4
    }

    private static let format: any VideoPayloadFormat = .vp8
    private static let red = PayloadType(masking: 112)
    private static let ulpfec = PayloadType(masking: 114)
    private static let source = SynchronizationSource(1)
    private static let retransmissionSource = SynchronizationSource(2)

    func run(_ input: [UInt8]) throws {
        let configuration = FrameAssembler.Configuration()
        var assembler = FrameAssembler(configuration: configuration)
        var settings = InboundVideoStream.Configuration(
            source: Self.source,
            formats: [
                NegotiatedFormat(
                    Self.format, payloadType: PayloadType(masking: 96), retransmission: PayloadType(masking: 97))
            ], localSource: SynchronizationSource(3))
        settings.retransmissionSource = Self.retransmissionSource
        settings.forwardErrorCorrection = ForwardErrorCorrectionTypes(
            red: Self.red, redRetransmission: PayloadType(masking: 113), ulpfec: Self.ulpfec)
        var receiver = InboundVideoStream(configuration: settings)
        var now = Instant(nanoseconds: 1_000_000_000)
        var timestamp = RTPTimestamp(.max - 5000)
        for step in Script(input) {
            let number = SequenceNumber(UInt16(step.number16(0)))
            now = now.advanced(by: .milliseconds(step.number(2)))
            timestamp = timestamp.advanced(by: step.number(3) * 90)
            switch step.kind {
            case Kind.padding: assembler.insertPadding(number, timestamp: timestamp, now: now)
            case Kind.awaitKeyFrame:
                assembler.awaitKeyFrame(now: now)
                receiver.requestKeyFrame(now: now)
            case Kind.restart: assembler.restart(now: now)
            case Kind.pause: now = now.advanced(by: .milliseconds(step.number16(0)))
            default:
                let payload = Array(step.bytes.dropFirst(5))
                try take(payload, step, number, timestamp, &assembler, &receiver, now)
            }
            assembler.poll(now: now)
            _ = assembler.needsKeyFrame(now: now)
            while let frame = assembler.pollFrame() { expect(!frame.data.isEmpty, "a frame has bytes") }
            _ = receiver.pollFeedback(now: now)
            _ = receiver.pollReportBlock(now: now)
            while receiver.pollFrame() != nil {}
            if let due = receiver.nextDeadline(now: now) { expect(due > now, "what is due was done") }
            expect(assembler.bufferedPackets <= configuration.packetCapacity, "the packets that wait are bounded")
            expect(assembler.bufferedBytes <= configuration.byteCapacity, "the bytes that wait are bounded")
        }
    }

    private func take(
        _ payload: [UInt8], _ step: Script.Step, _ number: SequenceNumber, _ timestamp: RTPTimestamp,
        _ assembler: inout FrameAssembler, _ receiver: inout InboundVideoStream, _ now: Instant
    ) throws {
        let marker = step.number(4) & 1 != 0
        let isRetransmission = step.number(4) & 2 != 0
        let isRED = step.number(4) & 4 != 0
        let header = OutgoingRTPHeader(
            marker: marker, payloadType: PayloadType(masking: (isRED ? 112 : 96) + (isRetransmission ? 1 : 0)),
            sequenceNumber: number,
            timestamp: timestamp,
            source: isRetransmission ? Self.retransmissionSource : Self.source)
        let map = HeaderExtensionMap()
        let packet =
            try written(header.byteCount(map: map)) { writer in try header.write(to: &writer, map: map) } + payload
        let read = try RTPHeader(parsing: packet.span.bytes)
        receiver.receive(read, in: packet.span.bytes, now: now)
        guard !isRED, let (content, piece) = try? Self.format.read(payload.span.bytes) else { return }
        assembler.insert(
            number, timestamp: timestamp, marker: marker, content: content, piece: Array(payload[piece]), now: now)
    }

    func seeds() throws -> [String: [UInt8]] {
        var seeds: [String: [UInt8]] = [:]
        for (name, skipped) in [("whole", -1), ("gap", 4), ("late", 2)] {
            var stream = VP8TestStream(seed: 1)
            var steps: [(kind: UInt8, bytes: [UInt8])] = []
            for frame in 0..<6 {
                let packets = stream.frame(
                    isKeyFrame: frame == 0, packetCount: 2, size: 12, layer: TemporalLayer(index: UInt8(frame % 2)))
                for (index, packet) in packets.enumerated() {
                    let number = packet.number.rawValue
                    steps.append(
                        (
                            0,
                            [UInt8(number >> 8), UInt8(number & 0xFF), 10, index == 0 ? 33 : 0, packet.marker ? 1 : 0]
                                + packet.descriptor.bytes + packet.payload
                        ))
                }
            }
            if skipped >= 0 {
                let step = steps.remove(at: skipped)
                if name == "late" { steps.append(step) }
                steps.append((Kind.pause, [1, 0]))
            }
            seeds[name] = Script.bytes(steps)
        }
        seeds["red"] = try Self.corrected()
        return seeds
    }

    /// A frame in RED that lacks a packet, and its correction.
    private static func corrected() throws -> [UInt8] {
        var stream = VP8TestStream(seed: 1)
        var encoder = ULPFECEncoder()
        encoder.begin(corrections: 2)
        var steps: [(kind: UInt8, bytes: [UInt8])] = []
        func add(_ number: SequenceNumber, isMarked: Bool, _ type: PayloadType, _ payload: [UInt8]) {
            let number = number.rawValue
            steps.append(
                (
                    0,
                    [UInt8(number >> 8), UInt8(number & 0xFF), 1, 0, isMarked ? 5 : 4, type.rawValue] + payload
                ))
        }
        let vp8 = PayloadType(masking: 96)
        for (index, packet) in stream.frame(isKeyFrame: true, packetCount: 5, size: 12).enumerated() {
            let header = OutgoingRTPHeader(
                marker: packet.marker, payloadType: red, sequenceNumber: packet.number,
                timestamp: RTPTimestamp(.max - 5000), source: source)
            let head = try written(12) { writer in try header.write(to: &writer, map: HeaderExtensionMap()) }
            let payload = packet.descriptor.bytes + packet.payload
            encoder.add(header: head.span.bytes, payloadType: vp8, payload: payload.span.bytes)
            if index != 2 { add(packet.number, isMarked: packet.marker, vp8, payload) }
        }
        for index in 0..<2 {
            let bytes = try written(64) { writer in try encoder.write(index, to: &writer) }
            add(stream.nextNumber.advanced(by: index), isMarked: false, ulpfec, bytes)
        }
        return Script.bytes(steps)
    }
}
