import RTCShareCongestionControl
import RTCSharePeerConnection
import RTCShareRTP
import RTCShareWireFormat
import TestSupport
import Testing

private func at(_ milliseconds: Int) -> Instant { Instant(nanoseconds: Int64(milliseconds) * 1_000_000) }
private let media = SynchronizationSource(1)

@Suite struct TransportFeedbackTests {
    @Test("Feedback is due an interval after the first arrival, or at once after many packets")
    func schedule() {
        var generator = TransportFeedbackGenerator(sender: SynchronizationSource(9))
        #expect(generator.nextDeadline == nil)
        generator.receive(TransportSequenceNumber(7), of: media, now: at(10))
        generator.receive(TransportSequenceNumber(9), of: media, now: at(20))
        #expect(generator.nextDeadline == at(60))
        #expect(generator.poll(now: at(59)).isEmpty)
        let feedback = generator.poll(now: at(60))
        #expect(feedback.count == 1)
        #expect(feedback.first?.baseSequenceNumber == TransportSequenceNumber(7))
        #expect(feedback.first?.deltas == [40, nil, 40])
        #expect(generator.nextDeadline == nil)
        for number in 10..<510 { generator.receive(TransportSequenceNumber(UInt16(number)), of: media, now: at(100)) }
        #expect(generator.nextDeadline == at(100))
    }

    @Test(
        "Feedback preserves every packet's arrival or loss, across the wraps of numbers and clock",
        arguments: [0.0, 0.05, 0.3])
    func endToEnd(loss: Double) {
        let start = Instant(nanoseconds: Int64(0x7F_FFFF) * 64_000_000 - 3_000_000_000)
        var link = SimulatedLink<TransportSequenceNumber>(
            LinkConditions(loss: loss, delay: .milliseconds(20), jitter: .milliseconds(10), reordering: 0.05), seed: 4)
        var generator = TransportFeedbackGenerator(sender: SynchronizationSource(9))
        var tracker = TransportFeedbackTracker()
        var arrivals: [Int: Instant] = [:]
        var sent: [Int: Instant] = [:]
        var results: [Int: TransportFeedbackTracker.PacketResult] = [:]
        let first = 65_000
        func take(until end: Instant) throws {
            while let now = [link.nextArrival, generator.nextDeadline].compactMap({ $0 }).min(), now <= end {
                for number in link.poll(now: now) {
                    let index = first + Int(number.rawValue &- UInt16(first))
                    arrivals[index] = now
                    generator.receive(number, of: media, now: now)
                }
                for feedback in generator.poll(now: now) {
                    // By the bytes, as a peer would have it.
                    let packets = try RTCPPacket.transportFeedback(feedback).bytes.withRawSpan {
                        (span) throws(RTPError) in try RTCPPacket.parse(compound: span)
                    }
                    guard case .transportFeedback(let parsed)? = packets.first else {
                        Issue.record("not read back: \(packets)")
                        return
                    }
                    #expect(parsed == feedback)
                    for result in tracker.receive(parsed) {
                        results[first + Int(result.number.rawValue &- UInt16(first))] = result
                    }
                }
            }
        }
        #expect(throws: Never.self) {
            for index in 0..<3000 {
                let now = start.advanced(by: .milliseconds(2 * index))
                try take(until: now)
                let number = TransportSequenceNumber(UInt16(truncatingIfNeeded: first + index))
                sent[first + index] = now
                tracker.packetSent(number, size: 1000 + index % 7, now: now)
                link.send(number, size: 1000, now: now)
            }
            try take(until: .distantFuture)
        }
        let firstArrived = arrivals.keys.min() ?? first
        let origin = results[firstArrived].flatMap { result in
            result.arrival.flatMap { arrival in arrivals[firstArrived].map { $0.advanced(by: .zero - arrival) } }
        }
        var wrong: [Int] = []
        for (index, result) in results {
            if result.sent != sent[index] || result.size != 1000 + (index - first) % 7 { wrong.append(index) }
            if (result.arrival == nil) != (arrivals[index] == nil) { wrong.append(index) }
            if let origin, let arrival = result.arrival, let actual = arrivals[index] {
                let error = actual - origin.advanced(by: arrival)
                if error >= .microseconds(250) || error <= .microseconds(-250) { wrong.append(index) }
            }
        }
        #expect(wrong.isEmpty)
        #expect(origin != nil)
        #expect(tracker.packetsAcknowledged == arrivals.count)
        #expect(tracker.packetsLost + tracker.packetsInFlight == 3000 - arrivals.count)
        // Only what was lost before the first arrival and behind the last is not known of.
        #expect(tracker.packetsInFlight == firstArrived + 2999 - (arrivals.keys.max() ?? 0))
        #expect(tracker.feedbackLost == 0)
    }

    @Test("A packet reported as missing and then as received is not lost, and is reported again")
    func lateArrival() {
        var tracker = TransportFeedbackTracker()
        for number in 0..<3 as Range<UInt16> {
            tracker.packetSent(TransportSequenceNumber(number), size: 100, now: at(Int(number)))
        }
        #expect(tracker.bytesInFlight == 300)
        func feedback(_ count: UInt8, _ deltas: [Int16?]) -> TransportFeedback {
            TransportFeedback(
                sender: media, media: media, baseSequenceNumber: TransportSequenceNumber(0), referenceTime: -1,
                feedbackPacketCount: count, deltas: deltas)
        }
        #expect(
            tracker.receive(feedback(255, [4, nil, 4])).map(\.arrival) == [.milliseconds(1), nil, .milliseconds(2)])
        #expect(tracker.packetsLost == 1)
        #expect(tracker.receive(feedback(0, [4, 20, 4])).map(\.number) == [TransportSequenceNumber(1)])
        #expect(tracker.packetsLost == 0)
        #expect(tracker.packetsAcknowledged == 3 && tracker.bytesAcknowledged == 300)
        #expect(tracker.packetsInFlight == 0 && tracker.bytesInFlight == 0)
        #expect(tracker.receive(feedback(3, [4, 20, 4])).isEmpty)
        #expect(tracker.feedbackLost == 2)
    }

    @Test("Feedback on packets never sent is ignored")
    func unknownPackets() {
        var tracker = TransportFeedbackTracker()
        let feedback = TransportFeedback(
            sender: media, media: media, baseSequenceNumber: TransportSequenceNumber(65_000), referenceTime: 0x7F_FFFF,
            feedbackPacketCount: 0, deltas: Array(repeating: .max, count: 2000))
        #expect(tracker.receive(feedback).isEmpty)
        #expect(tracker.packetsInFlight == 0)
    }

    @Test("Packets without feedback are counted when their slots are reused")
    func unresolved() {
        var tracker = TransportFeedbackTracker()
        for index in 0..<TransportFeedbackTracker.capacity + 5 {
            tracker.packetSent(TransportSequenceNumber(UInt16(truncatingIfNeeded: index)), size: 10, now: at(index))
        }
        #expect(tracker.packetsUnresolved == 5)
        #expect(tracker.packetsInFlight == TransportFeedbackTracker.capacity)
    }
}
