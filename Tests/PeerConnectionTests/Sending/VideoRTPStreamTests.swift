import RTCShareCongestionControl
import RTCShareRTP
import RTCShareWireFormat
import TestSupport
import Testing

@testable import RTCSharePeerConnection

/// The header extensions of a video stream's packets.
@Suite struct VideoRTPStreamTests {
    private static let map: HeaderExtensionMap = {
        var map = HeaderExtensionMap()
        map[.videoOrientation] = 4
        map[.playoutDelay] = 5
        return map
    }()

    /// The extensions of a packet of a frame, written as it is sent first, and as it is sent again.
    private static func extensions(
        of frame: PacketizedFrame, by stream: inout VideoRTPStream
    ) throws -> (first: HeaderExtensions, again: HeaderExtensions) {
        var number = TransportSequenceNumber(1)
        let now = Instant(nanoseconds: 0)
        func parse(_ write: (inout ByteWriter) throws -> Void) throws -> HeaderExtensions {
            var bytes = [UInt8](repeating: 0, count: 1500)
            let count = try bytes.withUnsafeMutableBytes { memory in
                var writer = ByteWriter(memory.mutableBytes)
                try write(&writer)
                return writer.offset
            }
            let packet = Array(bytes[..<count])
            return HeaderExtensions(
                try RTPHeader(parsing: packet.span.bytes), in: packet.span.bytes, map: Self.map)
        }
        let sequenceNumber = stream.stream.sequenceNumber
        let first = try parse { writer in
            try stream.writeMedia(frame, fragment: 0, to: &writer, transportSequenceNumber: &number, now: now)
        }
        let packet = VideoRTPStream.SentPacket(frame: frame, fragment: 0, extensions: first)
        let again = try parse { writer in
            try stream.writeRetransmission(
                of: packet, sequenceNumber: sequenceNumber, to: &writer, transportSequenceNumber: &number, now: now)
        }
        return (first, again)
    }

    private static func frame(isKeyFrame: Bool, quarterTurns: Int) -> PacketizedFrame {
        PacketizedFrame(
            [UInt8](repeating: 7, count: 100), format: .vp8, number: FrameNumber(1), isKeyFrame: isKeyFrame,
            captureTime: .zero, width: 64, height: 48, quarterTurns: quarterTurns, maximumPayloadByteCount: 1000)
    }

    private static func stream(
        map: HeaderExtensionMap = map, mid: String = "v", hasRTX: Bool = true
    ) throws -> VideoRTPStream {
        var random = SeededGenerator(seed: 7)
        return VideoRTPStream(
            parameters: OutgoingStream.Parameters(
                mid: mid, source: SynchronizationSource(1), payloadType: PayloadType(masking: 96),
                formats: [
                    NegotiatedFormat(
                        .vp8, payloadType: PayloadType(masking: 96),
                        retransmission: hasRTX ? PayloadType(masking: 97) : nil)
                ],
                retransmissionSource: hasRTX ? SynchronizationSource(2) : nil,
                forwardErrorCorrection: ForwardErrorCorrectionTypes(
                    red: PayloadType(masking: 112), redRetransmission: PayloadType(masking: 113),
                    ulpfec: PayloadType(masking: 114)),
                extensions: map, isContent: true),
            random: &random)
    }

    /// Bytes of a packet that `write` writes.
    private static func byteCount(_ write: (inout ByteWriter) throws -> Void) throws -> Int {
        var bytes = [UInt8](repeating: 0, count: 1500)
        return try bytes.withUnsafeMutableBytes { memory in
            var writer = ByteWriter(memory.mutableBytes)
            try write(&writer)
            return writer.offset
        }
    }

    @Test(
        "A packet is resent under its sequence number only within SRTP's replay window", arguments: [true, false])
    func oldNumbers(hasRTX: Bool) throws {
        var stream = try Self.stream(hasRTX: hasRTX)
        var number = TransportSequenceNumber(1)
        let now = Instant(nanoseconds: 0)
        let first = stream.stream.sequenceNumber
        let frame = Self.frame(isKeyFrame: true, quarterTurns: 0)
        for _ in 0..<1025 {
            _ = try Self.byteCount { writer in
                try stream.writeMedia(frame, fragment: 0, to: &writer, transportSequenceNumber: &number, now: now)
            }
        }
        var pacer = Pacer<PacedPacket>(targetRate: .kilobitsPerSecond(1000))
        stream.retransmit(
            [first, first.next], as: 0, to: &pacer, roundTripTime: .milliseconds(10),
            now: now.advanced(by: .milliseconds(500)))
        #expect(stream.queuedRetransmissions == (hasRTX ? 2 : 1))
    }

    @Test("Only frames that are retransmitted in another stream, with other sequence numbers, have corrections")
    func protectedFrames() throws {
        let frame = Self.frame(isKeyFrame: true, quarterTurns: 0)
        #expect(try Self.stream(hasRTX: true).canBeProtected(frame))
        // In the same stream, the packet in RED and its retransmission would differ (RFC 3711 §9.1).
        #expect(try !Self.stream(hasRTX: false).canBeProtected(frame))
    }

    @Test("An FEC packet for full-size packets fits into the IPv6 payload of every path")
    func correctionSize() throws {
        var map = HeaderExtensionMap()
        let kinds: [HeaderExtensionKind] = [
            .mediaIdentification, .absoluteSendTime, .transportSequenceNumber, .videoOrientation, .playoutDelay,
            .videoContentType,
        ]
        for (index, kind) in kinds.enumerated() { map[kind] = UInt8(index + 1) }
        var stream = try Self.stream(map: map, mid: "cam")
        var number = TransportSequenceNumber(1)
        let now = Instant(nanoseconds: 0)
        let sizes = (1000...1200).map { count in
            PacketizedFrame(
                [UInt8](repeating: 7, count: count), format: .vp8, number: FrameNumber(1), isKeyFrame: true,
                captureTime: .zero, width: 64, height: 48)
        }
        let frame = try #require(sizes.last { $0.fragmentCount == 1 })
        #expect(frame.payloadByteCount(at: 0) == PacketizedFrame.maximumPayloadByteCount)
        let media = try Self.byteCount { writer in
            try stream.writeMedia(
                frame, fragment: 0, group: .begun(corrections: 1), to: &writer, transportSequenceNumber: &number,
                now: now)
        }
        let correction = try Self.byteCount { writer in
            try stream.writeCorrection(0, to: &writer, transportSequenceNumber: &number, now: now)
        }
        let tag = 16
        #expect(media + tag <= 1200 && correction > media && correction + tag <= 1280 - 40 - 8)
    }

    /// A room of a thousand viewers keeps some hundred thousand of them.
    @Test("A history entry takes half a cache line")
    func sentPacketSize() {
        #expect(MemoryLayout<VideoRTPStream.SentPacket?>.stride == 32)
        #expect(MemoryLayout<PacedPacket?>.stride == 16)
    }

    @Test(
        "A resent packet has its original header extensions",
        arguments: [(true, true), (true, false), (false, true), (false, false)])
    func retransmittedExtensions(hasSendTime: Bool, hasNumber: Bool) {
        for mid in [nil, "v"] {
            var extensions = HeaderExtensions()
            extensions.absoluteSendTime = hasSendTime ? AbsoluteSendTime(77) : nil
            extensions.transportSequenceNumber = hasNumber ? TransportSequenceNumber(78) : nil
            extensions.mediaIdentification = mid
            let packet = VideoRTPStream.SentPacket(
                frame: Self.frame(isKeyFrame: true, quarterTurns: 0), fragment: 0, extensions: extensions)
            #expect(packet.extensions.absoluteSendTime == extensions.absoluteSendTime)
            #expect(packet.extensions.transportSequenceNumber == extensions.transportSequenceNumber)
            #expect(packet.extensions.mediaIdentification == mid)
        }
    }

    @Test("Orientation is sent with key frames, when it changes, and while it is not upright")
    func orientation() throws {
        var stream = try Self.stream()
        let frames: [(isKeyFrame: Bool, turns: Int, told: Int?)] = [
            (true, 0, 0), (false, 0, nil), (false, 1, 1), (false, 1, 1), (false, 0, 0), (false, 0, nil), (true, 3, 3),
        ]
        for frame in frames {
            let (first, _) = try Self.extensions(
                of: Self.frame(isKeyFrame: frame.isKeyFrame, quarterTurns: frame.turns), by: &stream)
            #expect(first.videoOrientation?.quarterTurns == frame.told)
        }
    }

    @Test("A resent packet carries the frame's original orientation")
    func retransmittedFrameExtensions() throws {
        var stream = try Self.stream()
        let (first, again) = try Self.extensions(of: Self.frame(isKeyFrame: true, quarterTurns: 1), by: &stream)
        #expect(first.videoOrientation?.quarterTurns == 1)
        #expect(first.playoutDelay != nil)
        #expect(again.videoOrientation == first.videoOrientation)
        #expect(again.playoutDelay == first.playoutDelay)
    }
}
