import RTCSharePeerConnection
import RTCShareRTP
import RTCShareWireFormat
import Testing

private func at(_ milliseconds: Double) -> Instant { Instant(nanoseconds: Int64(milliseconds * 1_000_000)) }
private let source = SynchronizationSource(0x1234_5678)

@Suite struct ReceiveStatisticsTests {
    private func fed(_ numbers: [UInt16], minimumSequential: Int = 1) -> ReceiveStatistics {
        var statistics = ReceiveStatistics(clockRate: 90_000, minimumSequential: minimumSequential)
        for number in numbers {
            _ = statistics.receive(SequenceNumber(number), timestamp: RTPTimestamp(0), now: at(0))
        }
        return statistics
    }

    @Test(
        "The loss is the expected less the received number of packets (RFC 3550 A.3)",
        arguments: [
            // numbers, extended highest, cumulative lost, fraction lost in 1/256
            ([100, 101, 102, 103], 103, 0, 0),
            ([100, 101, 103], 103, 1, 64),
            ([100, 103], 103, 2, 128),
            ([100, 102, 101, 103], 103, 0, 0),
            ([100, 101, 101, 102], 102, -1, 0),
            ([65_534, 65_535, 1], 65_537, 1, 64),
            ([65_535, 0, 65_534, 1], 65_537, -1, 0),
            ([100, 400], 400, 299, 254),
        ] as [([UInt16], UInt32, Int32, UInt8)])
    func countsLoss(numbers: [UInt16], highest: UInt32, lost: Int32, fraction: UInt8) {
        var statistics = fed(numbers)
        let block = statistics.reportBlock(on: source, now: at(0))
        #expect(block.extendedHighestSequenceNumber == highest)
        #expect(block.cumulativeLost == lost)
        #expect(block.fractionLost == fraction)
        #expect(statistics.packetsLost == Int(lost))
    }

    @Test("The fraction lost covers the time since the previous report")
    func fractionIsPerInterval() {
        var statistics = fed([1, 2, 5])
        #expect(statistics.reportBlock(on: source, now: at(0)).fractionLost == 102)
        #expect(statistics.reportBlock(on: source, now: at(0)).fractionLost == 0)
        for number in [6, 7, 8, 10] as [UInt16] {
            _ = statistics.receive(SequenceNumber(number), timestamp: RTPTimestamp(0), now: at(0))
        }
        let block = statistics.reportBlock(on: source, now: at(0))
        #expect(block.fractionLost == 51)
        #expect(block.cumulativeLost == 3)
    }

    @Test("Jitter follows RFC 3550 A.8")
    func jitter() {
        // 20 ms of a 8 kHz clock are 160 ticks; arrivals 0, 25, 40, 70 ms differ from them by 40, -40, 80 ticks.
        // In sixteenths: 40; 40 - (48 >> 4) + 40 = 77; 77 - (85 >> 4) + 80 = 152. Reported: 2, 4, 9.
        var statistics = ReceiveStatistics(clockRate: 8000, minimumSequential: 1)
        var reported: [UInt32] = []
        for (index, arrival) in [0.0, 25, 40, 70].enumerated() {
            _ = statistics.receive(
                SequenceNumber(UInt16(index)), timestamp: RTPTimestamp(UInt32.max - 100 &+ UInt32(index) * 160),
                now: at(arrival))
            reported.append(statistics.jitterTicks)
        }
        #expect(reported == [0, 2, 4, 9])
        #expect(statistics.jitter == .microseconds(1125))
    }

    @Test("A known retransmission does not change the jitter")
    func retransmissionLeavesJitter() {
        var statistics = ReceiveStatistics(clockRate: 8000, minimumSequential: 1)
        _ = statistics.receive(SequenceNumber(1), timestamp: RTPTimestamp(0), now: at(0))
        _ = statistics.receive(SequenceNumber(3), timestamp: RTPTimestamp(320), now: at(40))
        _ = statistics.receive(SequenceNumber(2), timestamp: RTPTimestamp(160), now: at(200), isRetransmission: true)
        #expect(statistics.jitterTicks == 0)
        #expect(statistics.packetsLost == 0)
    }

    @Test("A source is valid after several packets in sequence (RFC 3550 A.1)")
    func probation() {
        var statistics = ReceiveStatistics(clockRate: 90_000)
        func receive(_ number: UInt16) -> ReceiveStatistics.Validity {
            statistics.receive(SequenceNumber(number), timestamp: RTPTimestamp(0), now: at(0))
        }
        #expect(receive(10) == .probation)
        #expect(receive(12) == .probation)
        #expect(receive(13) == .valid)
        #expect(receive(14) == .valid)
        #expect(statistics.packetsReceived == 2)
        #expect(statistics.packetsExpected == 2)
        #expect(statistics.packetsInvalid == 2)
    }

    @Test("A number far off is implausible, and two in sequence restart the source (RFC 3550 A.1)")
    func restart() {
        var statistics = fed([10, 11])
        func receive(_ number: UInt16) -> ReceiveStatistics.Validity {
            statistics.receive(SequenceNumber(number), timestamp: RTPTimestamp(0), now: at(0))
        }
        #expect(receive(30_000) == .implausible)
        #expect(receive(12) == .valid)
        #expect(receive(3011) == .valid)
        #expect(receive(50_000) == .implausible)
        #expect(receive(50_001) == .restarted)
        #expect(statistics.packetsExpected == 1)
        #expect(statistics.packetsLost == 0)
        #expect(statistics.extendedHighestSequenceNumber == 50_001)
    }

    @Test("LSR and DLSR refer to the newest sender report (RFC 3550 6.4.1)")
    func senderReport() {
        var statistics = fed([1])
        #expect(statistics.reportBlock(on: source, now: at(5)).lastSenderReport.rawValue == 0)
        // The example of RFC 3550, figure 2.
        let report = SenderReport(
            source: source, ntpTimestamp: NTPTimestamp(0xB44D_B705_2000_0000), rtpTimestamp: RTPTimestamp(0),
            packetCount: 0, octetCount: 0)
        statistics.receive(report, now: at(1000))
        let block = statistics.reportBlock(on: source, now: at(6250))
        #expect(block.lastSenderReport.rawValue == 0xB705_2000)
        #expect(block.delaySinceLastSenderReport.rawValue == 0x0005_4000)
        #expect(block.roundTripTime(at: NTPTimestamp(0xB44D_B710_8000_0000)) == .milliseconds(6125))
    }

    @Test("Counts stay correct at the limits of their fields")
    func extremes() {
        var statistics = ReceiveStatistics(clockRate: 90_000, minimumSequential: 1)
        var verdicts: [[ReceiveStatistics.Validity]] = []
        for time in [Int64.min, 0, .max, .min] {
            let now = Instant(nanoseconds: time)
            verdicts.append([])
            for number in [0, 0xFFFF, 0x8000, 0x7FFF, 0x8000] as [UInt16] {
                verdicts[verdicts.count - 1].append(
                    statistics.receive(SequenceNumber(number), timestamp: RTPTimestamp(0x8000_0000), now: now))
                let block = statistics.reportBlock(on: source, now: now)
                #expect(block.cumulativeLost == Int32(statistics.packetsLost))
                #expect(block.extendedHighestSequenceNumber == statistics.extendedHighestSequenceNumber)
                #expect(block.fractionLost == 0)
            }
        }
        // Half the numbers away is neither ahead nor behind; what follows upon such a number begins anew.
        let behind = [ReceiveStatistics.Validity.implausible, .implausible, .valid, .valid, .valid]
        #expect(
            verdicts == [
                [.valid, .valid, .implausible, .implausible, .restarted], behind,
                [.restarted, .valid, .implausible, .implausible, .restarted], behind,
            ])
        #expect(statistics.packetsReceived == 12 && statistics.packetsInvalid == 8)
        #expect(statistics.packetsExpected == 1 && statistics.packetsLost == -3)
        #expect(statistics.extendedHighestSequenceNumber == 0x8000)
    }
}
