import RTCShareCongestionControl
import RTCShareRTP
import RTCShareWireFormat
import Testing

@Suite struct ReportTests {
    private func block(fraction: UInt8 = 0, last: UInt32, delay: UInt32) -> ReportBlock {
        ReportBlock(
            source: SynchronizationSource(1), fractionLost: fraction, cumulativeLost: -3,
            extendedHighestSequenceNumber: 70_000, jitter: 900, lastSenderReport: NTPShortTime(last),
            delaySinceLastSenderReport: NTPShortTime(delay))
    }

    @Test("The round-trip time is the arrival less LSR and DLSR (RFC 3550 6.4.1, figure 2)")
    func roundTrip() {
        var tracker = ReceiverReportTracker(clockRate: 90_000)
        let arrival = NTPTimestamp(0xB44D_B710_8000_0000)
        let report = tracker.receive(block(fraction: 64, last: 0xB705_2000, delay: 0x0005_4000), arrival: arrival)
        #expect(report.roundTripTime == .milliseconds(6125))
        #expect(report.fractionLost == 0.25)
        #expect(report.packetsLost == -3)
        #expect(report.jitter == .milliseconds(10))
        #expect(tracker.smoothedRoundTripTime == .milliseconds(6125))
    }

    @Test("A report without LSR measures no round trip; measurements add up and are smoothed")
    func accumulates() {
        var tracker = ReceiverReportTracker(clockRate: 90_000)
        let arrival = NTPTimestamp(0x0000_0010_0000_0000)
        #expect(tracker.receive(block(last: 0, delay: 0), arrival: arrival).roundTripTime == nil)
        tracker.receive(block(last: 0x000F_0000, delay: 0), arrival: arrival)
        tracker.receive(block(last: 0x000F_0000, delay: 0x8000), arrival: arrival)
        #expect(tracker.reportsReceived == 3)
        #expect(tracker.roundTripTimeMeasurements == 2)
        #expect(tracker.totalRoundTripTime == .milliseconds(1500))
        #expect(tracker.smoothedRoundTripTime == .milliseconds(500))
        tracker.receive(block(last: 0x000F_0000, delay: 0), arrival: arrival)
        #expect(tracker.smoothedRoundTripTime == .microseconds(562_500))
        // The latest one applies to retransmissions, for two seconds.
        let seconds = { (count: UInt64) in NTPTimestamp(arrival.rawValue + count << 32) }
        #expect(tracker.recentRoundTripTime(at: seconds(2)) == .seconds(1))
        #expect(tracker.recentRoundTripTime(at: seconds(3)) == nil)
    }

    @Test("Feedback and packets of the last second are matched whatever the rate was before")
    func joinsFeedbackWhileItsRoomChanges() {
        var tracker = TransportFeedbackTracker()
        var number = TransportSequenceNumber(65_000)
        var (time, feedbackCount, sum) = (0, UInt8(0), 0)
        for (step, count) in [(1, 3000), (10, 1000), (40, 400), (1, 2500), (25, 600)] {
            for index in 0..<count {
                time += step
                tracker.packetSent(number, size: 100, now: Instant(nanoseconds: Int64(time) * 1_000_000))
                number = number.next
                // Every tenth packet brings feedback on ten.
                guard index % 10 == 9 else { continue }
                let feedback = TransportFeedback(
                    sender: SynchronizationSource(1), media: SynchronizationSource(2),
                    baseSequenceNumber: number.advanced(by: -10), referenceTime: Int32(time / 64),
                    feedbackPacketCount: feedbackCount, deltas: Array(repeating: 4, count: 10))
                feedbackCount &+= 1
                let results = tracker.receive(feedback)
                sum += results.count
                #expect(results.count == 10)
                #expect(tracker.packetsInFlight == 0)
            }
        }
        #expect(tracker.packetsAcknowledged == sum)
        #expect(tracker.packetsUnresolved == 0)
    }
}
