@testable import RTCSharePeerConnection
import RTCShareRTP
import RTCShareWireFormat
import TestSupport
import Testing

@Suite("Received audio")
struct InboundAudioStreamTests {
    /// The packet `index` of a stream of 20 ms that begins just before both wraps.
    private func packet(_ index: Int) -> TestPacket {
        TestPacket(
            number: UInt16(truncatingIfNeeded: 65_530 + index),
            timestamp: UInt32(truncatingIfNeeded: 0xFFFF_F000 + index * 960))
    }

    @Test("Sequence numbers and timestamps continue across their wraps")
    func wraps() throws {
        var receiver = InboundAudioStream.testing()
        var received: [ReceivedAudioPacket] = []
        for index in 0..<70_000 {
            received += try receiver.take(packet(index), now: at(milliseconds: index * 20))
        }
        #expect(received.count == 70_000)
        // Not within the macro, which would print 70 000 packets.
        let isContiguous = received.enumerated().allSatisfy { index, packet in
            packet.sequenceNumber == Int64(65_530 + index)
                && packet.timestamp == Int64(0xFFFF_F000) + Int64(index) * 960
        }
        let isWhole = received.allSatisfy { $0.sampleCount == 960 && $0.payload == [0xFC, 1, 2, 3] }
        #expect(isContiguous && isWhole)
        #expect(receiver.statistics.packetsLost == 0)
        #expect(receiver.statistics.jitter == .zero)
    }

    @Test("Reordered packets are delivered once each, in order of arrival, and none counts as lost")
    func reordering() throws {
        var receiver = InboundAudioStream.testing()
        var numbers: [Int64] = []
        for (step, index) in [0, 3, 1, 2, 2, 9, 3, 7, 8, 4, 5, 6, 9, 0].enumerated() {
            numbers += try receiver.take(packet(index), now: at(milliseconds: step * 20)).map {
                $0.sequenceNumber - 65_530
            }
        }
        #expect(numbers == [0, 3, 1, 2, 9, 7, 8, 4, 5, 6])
        #expect(receiver.statistics.packetsReceived == 14)
        #expect(receiver.statistics.packetsDuplicated == 4)
        // RFC 3550 §A.3: second copies make up for losses in the count.
        #expect(receiver.statistics.packetsLost == -4)
    }

    @Test("Each received packet is delivered once, whatever a link loses, duplicates and reorders")
    func hostileLink() throws {
        for seed: UInt64 in 1...20 {
            var generator = SeededGenerator(seed: seed)
            var receiver = InboundAudioStream.testing()
            var arrivals: [(due: Int, index: Int)] = []
            for index in 0..<2000 {
                for _ in 0..<[0, 1, 1, 1, 1, 1, 1, 2][Int.random(in: 0..<8, using: &generator)] {
                    arrivals.append((index * 20 + Int.random(in: 0..<400, using: &generator), index))
                }
            }
            arrivals.sort { ($0.due, $0.index) < ($1.due, $1.index) }
            var numbers: [Int64] = []
            for arrival in arrivals {
                numbers += try receiver.take(packet(arrival.index), now: at(milliseconds: arrival.due))
                    .map { $0.sequenceNumber - 65_530 }
            }
            // Whichever packet comes first says where the numbers begin: before its wrap or after it.
            let first = try #require(numbers.first)
            let offset = first - Int64(arrivals[0].index)
            #expect(offset == 0 || offset == -65_536)
            let isComplete = Set(numbers.map { $0 - offset }) == Set(arrivals.map { Int64($0.index) })
            #expect(isComplete)
            #expect(numbers.count == Set(numbers).count)
            #expect(receiver.statistics.packetsDuplicated == arrivals.count - numbers.count)
            #expect(receiver.statistics.packetsRejected == 0)
        }
    }

    @Test("Reports state the loss as RFC 3550 defines it, once a second")
    func reports() throws {
        var receiver = InboundAudioStream.testing()
        #expect(receiver.nextDeadline == nil)
        for index in 0..<50 where index % 5 != 4 || index == 49 {
            _ = try receiver.take(packet(index), now: at(milliseconds: index * 20))
        }
        #expect(receiver.nextDeadline == at(milliseconds: 1000))
        #expect(receiver.pollReportBlock(now: at(milliseconds: 999)) == nil)
        receiver.receive(report(at: .seconds(1), timestamp: 0), now: at(milliseconds: 500))
        receiver.receive(
            report(of: SynchronizationSource(9), at: .seconds(7), timestamp: 0), now: at(milliseconds: 900))
        let polledBlock = receiver.pollReportBlock(now: at(milliseconds: 1000))
        let block = try #require(polledBlock)
        #expect(block.source == TestPacket.sound)
        #expect(block.cumulativeLost == 9)
        #expect(block.fractionLost == 9 * 256 / 50)
        #expect(block.extendedHighestSequenceNumber == 65_530 + 49)
        #expect(block.lastSenderReport == NTPTimestamp(sinceUnixEpoch: .seconds(1)).middle32)
        #expect(block.delaySinceLastSenderReport.duration == .milliseconds(500))
        #expect(receiver.nextDeadline == at(milliseconds: 2000))
    }

    @Test("A restarted stream continues after the newest packet by the time that passed")
    func restart() throws {
        var receiver = InboundAudioStream.testing()
        for index in 0..<10 { _ = try receiver.take(packet(index), now: at(milliseconds: index * 20)) }
        receiver.receive(report(at: .seconds(100), timestamp: 0xFFFF_F000), now: at(milliseconds: 190))
        // The first packet far off could be an accident; the second in sequence shows the restart (RFC 3550 §A.1).
        let first = TestPacket(number: 20_000, timestamp: 500_000)
        #expect(try receiver.take(first, now: at(milliseconds: 1180)).isEmpty)
        let second = TestPacket(number: 20_001, timestamp: 500_960)
        let restarted = try #require(try receiver.take(second, now: at(milliseconds: 1180)).first)
        #expect(restarted.sequenceNumber == 65_530 + 10)
        #expect(restarted.timestamp == 0xFFFF_F000 + 9 * 960 + 48_000)
        #expect(restarted.captureTime == nil)
        let third = TestPacket(number: 20_002, timestamp: 501_920)
        let next = try #require(try receiver.take(third, now: at(milliseconds: 1200)).first)
        #expect(next.sequenceNumber == restarted.sequenceNumber + 1)
        #expect(next.timestamp == restarted.timestamp + 960)
        #expect(try receiver.take(third, now: at(milliseconds: 1200)).isEmpty)
        // The first one again would fall on the number that the old numbering ended with.
        #expect(try receiver.take(first, now: at(milliseconds: 1210)).isEmpty)
    }

    @Test("A stream restarted without a pause continues right after the newest packet")
    func restartWithoutPause() throws {
        var receiver = InboundAudioStream.testing()
        let old = try #require(try receiver.take(packet(0), now: at(milliseconds: 0)).first)
        for number: UInt16 in [30_000, 30_001] {
            let packets = try receiver.take(TestPacket(number: number, timestamp: 7), now: at(milliseconds: 1))
            #expect(packets.allSatisfy { $0.timestamp == old.timestamp + 960 && $0.sequenceNumber == 65_531 })
        }
    }

    @Test(
        "A stream whose clock is set continues by the time that passed",
        arguments: [
            0x8000_0000, 0x7FFF_FFFF, 11 * 48_000, -11 * 48_000,
        ])
    func clockSet(jump: Int) throws {
        var receiver = InboundAudioStream.testing()
        func packet(_ index: Int, _ jump: Int) -> TestPacket {
            TestPacket(number: UInt16(index), timestamp: UInt32(truncatingIfNeeded: index * 960 + jump))
        }
        var timestamps: [Int64] = []
        for index in 0..<10 where index != 7 {
            timestamps += try receiver.take(packet(index, index < 8 ? 0 : jump), now: at(milliseconds: index * 20))
                .map(\.timestamp)
        }
        #expect(timestamps == [0, 960, 1920, 2880, 3840, 4800, 5760, 7680, 8640])
        // What comes late from before has no place on the clock any more.
        #expect(try receiver.take(packet(7, 0), now: at(milliseconds: 200)).isEmpty)
        #expect(try receiver.take(packet(10, jump), now: at(milliseconds: 200)).map(\.timestamp) == [9600])
    }

    @Test("The sender's clock is kept during minutes of DTX")
    func silence() throws {
        var receiver = InboundAudioStream.testing()
        _ = try receiver.take(TestPacket(number: 0, timestamp: 0), now: at(milliseconds: 0))
        let after = try receiver.take(TestPacket(number: 1, timestamp: 48_000 * 600), now: at(milliseconds: 600_300))
        #expect(after.map(\.timestamp) == [48_000 * 600])
    }

    @Test("The audio level and the marker are delivered with their packet")
    func level() throws {
        var receiver = InboundAudioStream.testing()
        var loud = packet(0)
        loud.marker = true
        loud.extensions.audioLevel = AudioLevel(level: 20, isVoice: true)
        let first = try #require(try receiver.take(loud, now: at(milliseconds: 0)).first)
        #expect(first.marker && first.level == AudioLevel(level: 20, isVoice: true))
        #expect(abs(try #require(receiver.statistics.audioLevel) - 0.1) < 1e-9)
        let second = try #require(try receiver.take(packet(1), now: at(milliseconds: 20)).first)
        #expect(!second.marker && second.level == nil)
    }

    @Test("Packets that are not the stream's Opus are counted and dropped")
    func rejection() throws {
        var receiver = InboundAudioStream.testing()
        var hostile = [packet(0), packet(1), packet(2), packet(3)]
        hostile[0].payload = [0x0B, 0]
        hostile[1].payloadType = PayloadType(masking: 111)
        hostile[2].source = SynchronizationSource(1)
        hostile[3].payload = [0x08] + [UInt8](repeating: 0, count: 1276)
        for packet in hostile { #expect(try receiver.take(packet, now: at(milliseconds: 0)).isEmpty) }
        #expect(receiver.statistics.packetsRejected == 4)
        var padding = packet(4)
        padding.payload = []
        #expect(try receiver.take(padding, now: at(milliseconds: 20)).isEmpty)
        #expect(receiver.statistics.packetsRejected == 4)
        #expect(receiver.statistics.packetsReceived == 5)
        #expect(receiver.statistics.bytesReceived == 2 + 4 + 4 + 1277)
        #expect(receiver.statistics.headerBytesReceived == 60)
    }

    @Test("No sequence of numbers and timestamps traps or is delivered twice")
    func randomNumbers() throws {
        for seed: UInt64 in 1...10 {
            var generator = SeededGenerator(seed: seed)
            var receiver = InboundAudioStream.testing()
            var seen: Set<Int64> = []
            for step in 0..<5000 {
                let isWild = Int.random(in: 0..<4, using: &generator) == 0
                let packets = try receiver.take(
                    TestPacket(
                        number: isWild ? .random(in: 0...(.max), using: &generator) : UInt16(step),
                        timestamp: .random(in: 0...(.max), using: &generator)), now: at(milliseconds: step))
                for packet in packets { #expect(seen.insert(packet.sequenceNumber).inserted) }
                receiver.receive(
                    SenderReport(
                        source: TestPacket.sound, ntpTimestamp: NTPTimestamp(generator.next()),
                        rtpTimestamp: RTPTimestamp(.random(in: 0...(.max), using: &generator)), packetCount: 0,
                        octetCount: 0), now: at(milliseconds: step))
            }
        }
    }
}
