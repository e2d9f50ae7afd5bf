import RTCShareCongestionControl
import RTCShareRTP
import RTCShareWireFormat
import Testing

struct CongestionFeedbackTrackerTests {
    private let source = SynchronizationSource(7)
    private let now = Instant(nanoseconds: 5_000_000_000)

    private func feedback(
        begin: UInt16, _ offsets: [Int?], seconds: UInt32, source: SynchronizationSource? = nil
    ) -> CongestionControlFeedback {
        let arrivals = offsets.map { offset in
            offset.map { CongestionControlFeedback.Arrival(mark: .none, offset: .time(.milliseconds($0))) }
        }
        return CongestionControlFeedback(
            sender: SynchronizationSource(1),
            streams: [
                .init(source: source ?? self.source, beginSequenceNumber: SequenceNumber(begin), arrivals: arrivals)
            ], timestamp: NTPShortTime(seconds << 16))
    }

    private func tracker(sending count: Int, from first: UInt16 = 65534) -> CongestionFeedbackTracker {
        var tracker = CongestionFeedbackTracker()
        for index in 0..<count {
            let number = SequenceNumber(first &+ UInt16(index))
            let identifier = tracker.packetSent(number, of: source, size: 100 + index, now: now)
            #expect(identifier == TransportSequenceNumber(UInt16(index)))
        }
        return tracker
    }

    @Test("Results bear one clock across reports and wraps")
    func oneClock() {
        var tracker = tracker(sending: 4)
        let first = tracker.receive(feedback(begin: 65534, [500, nil], seconds: 65535))
        #expect(first.map(\.arrival) == [.milliseconds(-500), nil])
        #expect(first.map(\.size) == [100, 101])
        // The report's time wraps each 65536 s.
        let second = tracker.receive(feedback(begin: 65535, [1200, 300, nil], seconds: 0))
        #expect(second.map(\.number.rawValue) == [1, 2, 3])
        #expect(second.map(\.arrival) == [.milliseconds(-200), .milliseconds(700), nil])
        #expect(tracker.packetsLost == 1)
        #expect(tracker.packetsAcknowledged == 3)
    }

    @Test("Repeated reports say nothing new")
    func repeatedReportsSayNothingNew() {
        var tracker = tracker(sending: 3)
        let report = feedback(begin: 65534, [10, nil, 5], seconds: 9)
        #expect(tracker.receive(report).count == 3)
        for _ in 0..<5 { #expect(tracker.receive(report).isEmpty) }
        #expect(tracker.receive(feedback(begin: 65534, [nil, nil, nil], seconds: 10)).isEmpty)
        #expect(tracker.packetsLost == 1)
    }

    @Test("Packets never sent and streams unknown are left aside")
    func unknownPackets() {
        var tracker = tracker(sending: 2)
        #expect(tracker.receive(feedback(begin: 2000, [1, 1, nil], seconds: 1)).isEmpty)
        #expect(tracker.receive(feedback(begin: 65534, [1, 1], seconds: 1, source: SynchronizationSource(8))).isEmpty)
        #expect(tracker.packetsAcknowledged == 0)
        #expect(tracker.packetsLost == 0)
        #expect(tracker.feedbackReceived == 2)
    }

    @Test("Arrivals without a time are no longer waited for")
    func arrivalsWithoutTime() {
        var tracker = tracker(sending: 1)
        var report = feedback(begin: 65534, [0], seconds: 1)
        report.streams[0].arrivals = [.init(mark: .experienced, offset: .unavailable)]
        #expect(tracker.receive(report).isEmpty)
        #expect(tracker.packetsAcknowledged == 1)
        #expect(tracker.packetsMarked == 1)
        #expect(tracker.receive(feedback(begin: 65534, [nil], seconds: 2)).isEmpty)
    }
}
