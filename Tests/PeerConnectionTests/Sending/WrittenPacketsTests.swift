import RTCShareCongestionControl
import RTCShareRTP
import RTCShareWireFormat
import Testing

@testable import RTCSharePeerConnection

@Suite struct WrittenPacketsTests {
    private struct Constant: RandomNumberGenerator {
        func next() -> UInt64 { 0x1234_5678_9ABC_DEF0 }
    }

    private static let map: HeaderExtensionMap = {
        var map = HeaderExtensionMap()
        map[.absoluteSendTime] = 2
        map[.transportSequenceNumber] = 3
        return map
    }()

    private static func frame(
        _ count: Int, number: UInt16, of stream: Int = 0, at milliseconds: Int, isKeyFrame: Bool = false
    ) -> PacketizedFrame {
        PacketizedFrame(
            (0..<count).map { UInt8(truncatingIfNeeded: $0) }, format: .vp8, number: FrameNumber(number),
            isKeyFrame: isKeyFrame, captureTime: .milliseconds(milliseconds), width: 16, height: 16, stream: stream,
            maximumPayloadByteCount: 16)
    }

    /// Returns the packets of frames in hexadecimal, and of retransmissions of all of them.
    private static func packets(of frames: [PacketizedFrame]) throws -> [String] {
        var random = Constant()
        var stream = VideoRTPStream(
            parameters: OutgoingStream.Parameters(
                mid: "v", source: SynchronizationSource(0x1111_1111), payloadType: PayloadType(masking: 96),
                formats: [
                    NegotiatedFormat(
                        .vp8, payloadType: PayloadType(masking: 96), retransmission: PayloadType(masking: 97))
                ],
                retransmissionSource: SynchronizationSource(0x2222_2222),
                forwardErrorCorrection: ForwardErrorCorrectionTypes(
                    red: PayloadType(masking: 112), redRetransmission: PayloadType(masking: 113),
                    ulpfec: PayloadType(masking: 114)),
                extensions: map, isContent: true),
            random: &random)
        var number = TransportSequenceNumber(1)
        var packets: [String] = []
        func append(_ write: (inout ByteWriter) throws -> Void) throws {
            var bytes = [UInt8](repeating: 0, count: 100)
            let count = try bytes.withUnsafeMutableBytes { memory in
                var writer = ByteWriter(memory.mutableBytes)
                try write(&writer)
                return writer.offset
            }
            packets.append(bytes[..<count].map { String(UInt16($0) | 0x100, radix: 16).dropFirst() }.joined())
        }
        var sent: [SequenceNumber] = []
        for frame in frames {
            let now = Instant(nanoseconds: 0).advanced(by: frame.captureTime)
            for fragment in 0..<frame.fragmentCount {
                sent.append(stream.stream.sequenceNumber)
                let group = frame.isKeyFrame ? CorrectionGroup.begun(corrections: 1) : .none
                try append { writer in
                    try stream.writeMedia(
                        frame, fragment: fragment, group: group, to: &writer, transportSequenceNumber: &number, now: now
                    )
                }
            }
        }
        let now = Instant(nanoseconds: 1_000_000_000)
        try append { writer in
            try stream.writeCorrection(0, to: &writer, transportSequenceNumber: &number, now: now)
        }
        for sequenceNumber in sent {
            let packet = try #require(stream.history.packet(sequenceNumber))
            try append { writer in
                try stream.writeRetransmission(
                    of: packet, sequenceNumber: sequenceNumber, to: &writer, transportSequenceNumber: &number, now: now)
            }
        }
        return packets
    }

    @Test("VP8 frames, corrections and retransmissions have these bytes on the wire")
    func bytes() throws {
        let packets = try Self.packets(of: [
            Self.frame(25, number: 0x7FFE, at: 10, isKeyFrame: true), Self.frame(3, number: 0x7FFF, at: 20),
            Self.frame(12, number: 0x1234, of: 1, at: 30, isKeyFrame: true),
            Self.frame(0, number: 0x1235, of: 1, at: 40),
        ])
        #expect(
            packets == [
                "90706f789abce27411111111bede000222000a3d310001006090e0fffefe00000102030405060708",
                "90706f799abce27411111111bede000222000a3d310002006080e0fffefe00090a0b0c0d0e0f10",
                "90f06f7a9abce27411111111bede000222000a3d310003006080e0fffefe001112131415161718",
                "90e06f7b9abce5f811111111bede00022200147a3100040090e0ffffff00000102",
                "90706f7c9abce97c11111111bede000222001eb8310005006090e080000000000102030405",
                "90f06f7d9abce97c11111111bede000222001eb8310006006080e080000000060708090a0b",
                "90e06f7e9abced0011111111bede0002220028f53100070090e080010100",
                "90706f7f9abced0011111111bede000222040000310008007200806f7c0000000000000018c00000"
                    + "000000000000000000030010000000000006060a0a0e0e",
                "90616f789abce27422222222bede000222040000310009006f7890e0fffefe00000102030405060708",
                "90616f799abce27422222222bede00022204000031000a006f7980e0fffefe00090a0b0c0d0e0f10",
                "90e16f7a9abce27422222222bede00022204000031000b006f7a80e0fffefe001112131415161718",
                "90e16f7b9abce5f822222222bede00022204000031000c006f7b90e0ffffff00000102",
                "90616f7c9abce97c22222222bede00022204000031000d006f7c90e080000000000102030405",
                "90e16f7d9abce97c22222222bede00022204000031000e006f7d80e080000000060708090a0b",
                "90e16f7e9abced0022222222bede00022204000031000f006f7e90e080010100",
            ])
    }
}
