import RTCShareRTP
import RTCShareWireFormat
import Testing

/// RFC 8888 §3.1, written out by hand from its figures.
struct CongestionControlFeedbackTests {
    /// Two streams: three packets, of which the second is missing and the third bears a mark, and one of times that are
    /// not told; report time 1.5 s.
    private let message = hex(
        """
        8bcd0009 0000000a
        0000000b ffff0003 84000000 e2000000
        0000000c 00050002 9ffe9fff
        00018000
        """)

    private func parse(_ bytes: [UInt8]) throws -> CongestionControlFeedback? {
        guard case .congestionControlFeedback(let feedback)? = try RTCPPacket.parse(compound: bytes.span.bytes).first
        else { return nil }
        return feedback
    }

    @Test("Reports are read")
    func reportsAreRead() throws {
        let feedback = try #require(try parse(message))
        #expect(feedback.sender == SynchronizationSource(10))
        #expect(feedback.timestamp.duration == .milliseconds(1500))
        #expect(feedback.streams.count == 2)
        #expect(feedback.streams[0].source == SynchronizationSource(11))
        #expect(feedback.streams[0].beginSequenceNumber == SequenceNumber(65535))
        #expect(
            feedback.streams[0].arrivals == [
                .init(mark: .none, offset: .time(.seconds(1))), nil,
                .init(mark: .experienced, offset: .time(.milliseconds(500))),
            ])
        #expect(feedback.streams[1].arrivals.map { $0?.offset } == [.tooLongAgo, .unavailable])
    }

    @Test("What is written is read again")
    func whatIsWrittenIsReadAgain() throws {
        let feedback = try #require(try parse(message))
        #expect(RTCPPacket.congestionControlFeedback(feedback).bytes == message)
    }

    @Test("A report without streams is read")
    func reportWithoutStreamsIsRead() throws {
        let feedback = try #require(try parse(hex("8bcd0002 0000000a 00000001")))
        #expect(feedback.streams.isEmpty)
    }

    @Test("Counts beyond the packet are refused")
    func countsBeyondPacket() throws {
        for count in ["4001", "ffff", "0009", "4000"] {
            #expect(try parse(hex("8bcd0005 0000000a 0000000b 0000" + count + "80008000 00000001")) == nil)
        }
    }

    @Test("Whatever is read of a damaged report is written in whole words")
    func noDamageTraps() {
        forEachDamage(of: message) { bytes in
            guard let packets = try? RTCPPacket.parse(compound: bytes.span.bytes) else { return }
            for packet in packets { #expect(packet.bytes.count % 4 == 0) }
        }
    }
}
