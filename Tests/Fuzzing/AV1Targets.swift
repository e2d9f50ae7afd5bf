import RTCSharePeerConnection
import RTCShareRTP
import RTCShareWireFormat

/// Frames of AV1 that are cut and joined, and packets of an AV1 stream in any order, at any time.
///
/// A step of frames has the limit of a payload (2) and a frame. Others have: the sequence number (2), the milliseconds
/// that pass (1) and those of the timestamp (1), flags (1: marker, 2: of the retransmission stream), the length of a
/// dependency descriptor (1), the descriptor, the payload.
struct AV1PayloadTarget: FuzzTarget {
    private enum Kind {
        static let frame: UInt8 = 1
    }

    private static let format: any VideoPayloadFormat = .av1
    private static let source = SynchronizationSource(1)
    private static let retransmissionSource = SynchronizationSource(2)
    private static let map = DependencyDescriptorTarget.map

    func run(_ input: [UInt8]) throws {
        var settings = InboundVideoStream.Configuration(
            source: Self.source,
            formats: [
                NegotiatedFormat(
                    Self.format, payloadType: PayloadType(masking: 98), retransmission: PayloadType(masking: 99))
            ], localSource: SynchronizationSource(3))
        settings.retransmissionSource = Self.retransmissionSource
        settings.extensions = Self.map
        var receiver = InboundVideoStream(configuration: settings)
        var now = Instant(nanoseconds: 1_000_000_000)
        var timestamp = RTPTimestamp(.max - 5000)
        for step in Script(input) {
            if step.kind == Kind.frame {
                try cutAndJoin(Array(step.bytes.dropFirst(2)), limit: max(3, step.number16(0)))
                continue
            }
            now = now.advanced(by: .milliseconds(step.number(2)))
            timestamp = timestamp.advanced(by: step.number(3) * 90)
            try receive(step, timestamp, &receiver, now)
            _ = receiver.pollFeedback(now: now)
            while let frame = receiver.pollFrame() { expect(!frame.data.isEmpty, "a frame has bytes") }
            if let due = receiver.nextDeadline(now: now) { expect(due > now, "what is due was done") }
        }
    }

    /// Joined payloads of a frame have the units that are sent, each with a size.
    private func cutAndJoin(_ bytes: [UInt8], limit: Int) throws {
        let frame = PacketizedFrame(
            bytes, format: Self.format, number: FrameNumber(1), isKeyFrame: true, captureTime: .zero, width: 16,
            height: 16, maximumPayloadByteCount: limit)
        var payloads: [[UInt8]] = []
        for index in 0..<frame.fragmentCount {
            let size = frame.payloadByteCount(at: index)
            expect(size <= limit, "a payload is no longer than its limit")
            payloads.append(try written(size) { writer in try frame.writePayload(at: index, to: &writer) })
        }
        for payload in payloads {
            expect((try? Self.format.read(payload.span.bytes)) != nil, "a payload that was cut is readable")
            _ = try? Self.format.explain(payload.span.bytes)
        }
        let sent = Self.units(of: bytes).filter {
            $0.kind != .temporalDelimiter && $0.kind != .tileList && $0.kind != .padding
        }
        // A receiver refuses a frame of so many.
        guard (1...64).contains(sent.count) else { return }
        let joined = (try? Self.format.join(payloads)) ?? []
        let received = Self.units(of: joined)
        expect(received.last?.bytes.upperBound == joined.count, "a joined frame is readable to its end")
        expect(
            received.map { Self.content(of: $0, in: joined) } == sent.map { Self.content(of: $0, in: bytes) },
            "a frame has the same units once it was cut and joined")
    }

    private static func units(of frame: [UInt8]) -> [OpenBitstreamUnit] {
        var units: [OpenBitstreamUnit] = []
        while let unit = try? OpenBitstreamUnit.next(in: frame.span.bytes, at: units.last?.bytes.upperBound ?? 0) {
            units.append(unit)
        }
        return units
    }

    /// A unit without its size.
    private static func content(of unit: OpenBitstreamUnit, in frame: [UInt8]) -> [UInt8] {
        let first = frame[unit.bytes.lowerBound]
        let rest = first & 0x04 == 0 ? [] : [frame[unit.bytes.lowerBound + 1]]
        return [first & ~0x02] + rest + frame[unit.payload]
    }

    private func receive(
        _ step: Script.Step, _ timestamp: RTPTimestamp, _ receiver: inout InboundVideoStream, _ now: Instant
    ) throws {
        let isRetransmission = step.number(4) & 2 != 0
        let descriptorEnd = min(6 + step.number(5), step.bytes.count)
        let descriptor = Array(step.bytes.prefix(descriptorEnd).dropFirst(6))
        let payload = Array(step.bytes.dropFirst(descriptorEnd))
        let packet = DependencyDescriptorTarget.packet(
            descriptor, marker: step.number(4) & 1 != 0, payloadType: isRetransmission ? 99 : 98,
            number: UInt16(step.number16(0)), timestamp: timestamp,
            source: isRetransmission ? Self.retransmissionSource : Self.source, payload: payload)
        let header = try RTPHeader(parsing: packet.span.bytes)
        let extensions = HeaderExtensions(header, in: packet.span.bytes, map: Self.map)
        receiver.receive(header, extensions: extensions, in: packet.span.bytes, now: now)
        if let frame = try? Self.format.join([payload]) { _ = try? Self.format.header(of: frame.span.bytes) }
    }

    func seeds() throws -> [String: [UInt8]] {
        let sequenceHeader: [UInt8] = [0x0A, 0x0B, 0, 0, 0, 0x42, 0xAB, 0xBF, 0xC3, 0x77, 0x46, 0x80, 0x20]
        let key = sequenceHeader + [0x32, 0x08, 0x10, 0, 1, 2, 3, 4, 5, 6]
        let others: [UInt8] = [0x12, 0, 0x2E, 0x28, 0x02, 1, 2, 0x1A, 0x01, 0x30, 0x22, 0x03, 1, 2, 3]
        let delta: [UInt8] = [0x32, 0x02, 0x30, 0]
        var steps: [(kind: UInt8, bytes: [UInt8])] = []
        for (index, frame) in [key, delta, delta].enumerated() {
            let cut = PacketizedFrame(
                frame, format: Self.format, number: FrameNumber(UInt16(index)), isKeyFrame: index == 0,
                captureTime: .zero, width: 16, height: 16, maximumPayloadByteCount: 20)
            for fragment in 0..<cut.fragmentCount {
                let payload = try written(cut.payloadByteCount(at: fragment)) { writer in
                    try cut.writePayload(at: fragment, to: &writer)
                }
                let isLast = cut.isLastFragment(fragment)
                let descriptor: [UInt8] = [
                    (fragment == 0 ? 0x80 : 0) | (isLast ? 0x40 : 0) | (index == 0 ? 0 : 1), 0, UInt8(index),
                ]
                steps.append(
                    (0, [0, UInt8(steps.count), 10, fragment == 0 ? 33 : 0, isLast ? 1 : 0, 3] + descriptor + payload))
            }
        }
        return [
            "packets": Script.bytes(steps), "key": Script.bytes([(Kind.frame, [0, 20] + key)]),
            "units": Script.bytes([(Kind.frame, [0, 3] + others), (Kind.frame, [0, 100] + key + others)]),
        ]
    }
}

/// A dependency descriptor in a packet is the same once it was written and read.
struct DependencyDescriptorTarget: FuzzTarget {
    static let map: HeaderExtensionMap = {
        var map = HeaderExtensionMap()
        map[.dependencyDescriptor] = 8
        return map
    }()

    /// Returns a packet with a descriptor in a two-byte header, unless it is empty.
    static func packet(
        _ descriptor: [UInt8], marker: Bool = false, payloadType: UInt8 = 98, number: UInt16 = 1,
        timestamp: RTPTimestamp = RTPTimestamp(1), source: SynchronizationSource = SynchronizationSource(1),
        payload: [UInt8] = []
    ) -> [UInt8] {
        let element = [8, UInt8(min(descriptor.count, 255))] + descriptor.prefix(255)
        let padding = [UInt8](repeating: 0, count: -element.count & 3)
        let block = [0x10, 0x00, 0, UInt8((element.count + 3) / 4)] + element + padding
        func bytes(_ value: UInt32) -> [UInt8] { (0..<4).map { UInt8(truncatingIfNeeded: value >> (24 - 8 * $0)) } }
        let head = [descriptor.isEmpty ? 0x80 : 0x90, payloadType | (marker ? 0x80 : 0)] as [UInt8]
        return head + bytes(UInt32(number))[2...] + bytes(timestamp.rawValue) + bytes(source.rawValue)
            + (descriptor.isEmpty ? [] : block) + payload
    }

    func run(_ input: [UInt8]) throws {
        let packet = Self.packet(input)
        let header = try RTPHeader(parsing: packet.span.bytes)
        let extensions = HeaderExtensions(header, in: packet.span.bytes, map: Self.map)
        expect((extensions.dependencyDescriptor != nil) == (input.count >= 3), "three bytes are a descriptor")
        let outgoing = OutgoingRTPHeader(
            marker: false, payloadType: PayloadType(masking: 98), sequenceNumber: SequenceNumber(1),
            timestamp: RTPTimestamp(1), source: SynchronizationSource(1), extensions: extensions)
        let count = outgoing.byteCount(map: Self.map)
        expect(count <= 12 + 4 + 16, "a written descriptor fits into an element of a one-byte header")
        let bytes = try written(count) { writer in try outgoing.write(to: &writer, map: Self.map) }
        let read = try RTPHeader(parsing: bytes.span.bytes)
        expect(
            HeaderExtensions(read, in: bytes.span.bytes, map: Self.map) == extensions,
            "a descriptor is the same once it was written and read")
    }

    func seeds() -> [String: [UInt8]] {
        [
            "key": [0x80, 0, 1, 0x80, 0, 0x3A, 0x41, 1, 0x80, 0xEF, 0x80, 0x86, 0x80], "delta": [0xC1, 0, 2],
            "layers": [
                0x80, 0, 1, 0x80, 2, 0x14, 0xEA, 0xA8, 0x60, 0x41, 0x4D, 0x14, 0x10, 0x20, 0x84, 0x27, 1, 0xDF, 1, 0x0D,
            ],
        ]
    }
}

/// The headers of an AV1 frame are read.
struct AV1HeadersTarget: FuzzTarget {
    func run(_ input: [UInt8]) throws {
        let frame = input.span.bytes
        var position = 0
        while let unit = try? OpenBitstreamUnit.next(in: frame, at: position) {
            expect(unit.bytes.lowerBound == position && unit.bytes.upperBound > position, "units follow each other")
            expect(unit.bytes.upperBound <= input.count, "a unit lies within its frame")
            expect(
                unit.payload.lowerBound > position && unit.payload.upperBound == unit.bytes.upperBound,
                "a payload lies within its unit")
            position = unit.bytes.upperBound
        }
        let header = try AV1FrameHeader(parsing: frame)
        expect((0...65_536).contains(header.width) && (0...65_536).contains(header.height), "a frame has a size")
        expect(!header.isKeyFrame || header.width > 0, "a key frame has a sequence header")
    }

    func seeds() -> [String: [UInt8]] {
        let sequenceHeader: [UInt8] = [0x0A, 0x0B, 0, 0, 0, 0x42, 0xAB, 0xBF, 0xC3, 0x77, 0x46, 0x80, 0x20]
        return [
            "key": sequenceHeader + [0x32, 0x02, 0x10, 0], "delta": [0x12, 0, 0x32, 0x02, 0x30, 0],
            "still": [0x0A, 0x06, 0x18, 0x15, 0x7F, 0xFC, 0, 0x08, 0x32, 0x02, 0x10, 0],
        ]
    }
}
