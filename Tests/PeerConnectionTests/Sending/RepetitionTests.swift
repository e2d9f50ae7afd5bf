import RTCShareRTP
import RTCShareWireFormat
import TestSupport
import Testing

@testable import RTCShareCongestionControl
@testable import RTCSharePeerConnection

/// Retransmitted packets are sent a second time when loss is high and the round trip is long.
@Suite struct RepetitionTests {
    /// A video stream with its pacer, at a time.
    private final class Sending {
        private(set) var stream: VideoRTPStream
        private var pacer = Pacer<PacedPacket>(targetRate: .kilobitsPerSecond(50_000))
        private var now = Instant(nanoseconds: 0)

        init(loss: Double, roundTripTime: Duration) throws {
            var random = SeededGenerator(seed: 7)
            func type(_ number: UInt8) throws -> PayloadType { try #require(PayloadType(number)) }
            stream = VideoRTPStream(
                parameters: OutgoingStream.Parameters(
                    mid: "v", source: SynchronizationSource(1), payloadType: try type(96),
                    formats: [NegotiatedFormat(.vp8, payloadType: try type(96), retransmission: try type(97))],
                    retransmissionSource: SynchronizationSource(2),
                    forwardErrorCorrection: ForwardErrorCorrectionTypes(
                        red: try type(98), redRetransmission: nil, ulpfec: try type(99)),
                    extensions: HeaderExtensionMap(), isContent: true),
                random: &random)
            stream.protection?.policy.receive(
                LossSample(fractionLost: loss, packets: 200), roundTripTime: roundTripTime, now: now)
        }

        /// Sends a frame of one packet and all that waits; which numbers left again.
        func sendFrame() throws -> [SequenceNumber] {
            let frame = PacketizedFrame(
                [7, 7, 7], format: .vp8, number: FrameNumber(1), isKeyFrame: true, captureTime: .zero, width: 64,
                height: 48)
            try #require(stream.enqueue(frame, as: 0, to: &pacer, now: now))
            return try drain()
        }

        /// Has the receiver ask for packets; which numbers left again.
        func ask(for numbers: [SequenceNumber], roundTripTime: Duration) throws -> [SequenceNumber] {
            stream.retransmit(numbers, as: 0, to: &pacer, roundTripTime: roundTripTime, now: now)
            return try drain()
        }

        private func drain() throws -> [SequenceNumber] {
            var again: [SequenceNumber] = []
            while let packet = pacer.pop(now: now) {
                switch packet {
                case .picture(let frame, _, let fragment, _):
                    var bytes = [UInt8](repeating: 0, count: 1500)
                    var number = TransportSequenceNumber(1)
                    try bytes.withUnsafeMutableBytes { memory in
                        var writer = ByteWriter(memory.mutableBytes)
                        try stream.writeMedia(
                            frame, fragment: Int(fragment), to: &writer, transportSequenceNumber: &number, now: now)
                    }
                case .retransmission(_, let number, let isRepetition):
                    let isWritable = stream.dequeue(number, isRepetition: isRepetition, now: now)
                    #expect(isWritable)
                    again.append(number)
                case .sound, .correction, .keepalive: break
                }
            }
            return again
        }

        func wait(_ milliseconds: Int) { now = now.advanced(by: .milliseconds(milliseconds)) }
    }

    @Test(
        "Retransmitted packets are sent once more with the next frame",
        arguments: [(0.12, 200, true), (0.04, 200, false), (0, 200, false), (0.2, 200, false), (0.12, 40, false)])
    func repeats(loss: Double, roundTrip: Int, repeats: Bool) throws {
        let trip = Duration.milliseconds(roundTrip)
        let sending = try Sending(loss: loss, roundTripTime: trip)
        let first = sending.stream.stream.sequenceNumber
        _ = try sending.sendFrame()
        sending.wait(roundTrip)
        #expect(try sending.ask(for: [first], roundTripTime: trip) == [first])
        sending.wait(33)
        #expect(try sending.sendFrame() == (repeats ? [first] : []))
        sending.wait(33)
        #expect(try sending.sendFrame() == [], "twice, and not with each frame")
    }

    @Test("A repetition does not delay the answer to the next request")
    func nextRequest() throws {
        let trip = Duration.milliseconds(200)
        let sending = try Sending(loss: 0.12, roundTripTime: trip)
        let first = sending.stream.stream.sequenceNumber
        _ = try sending.sendFrame()
        sending.wait(200)
        _ = try sending.ask(for: [first], roundTripTime: trip)
        sending.wait(33)
        #expect(try sending.sendFrame() == [first])
        #expect(try sending.ask(for: [first], roundTripTime: trip) == [], "the answer is under way")
        sending.wait(168)
        #expect(try sending.ask(for: [first], roundTripTime: trip) == [first])
    }

    @Test("A packet resent a round trip before the next frame is not repeated")
    func tooLate() throws {
        let trip = Duration.milliseconds(200)
        let sending = try Sending(loss: 0.12, roundTripTime: trip)
        let first = sending.stream.stream.sequenceNumber
        _ = try sending.sendFrame()
        sending.wait(200)
        #expect(try sending.ask(for: [first], roundTripTime: trip) == [first])
        sending.wait(200)
        #expect(try sending.sendFrame() == [])
    }
}
