import RTCShareCongestionControl
import RTCShareRTP
import RTCShareWireFormat
import Testing

/// The number of packets back to which feedback can still be matched, and the memory for them.
struct TransportFeedbackTrackerTests {
    private static let first = TransportSequenceNumber(65_000)

    /// A tracker whose packets are sent one after another, and whose numbers are those of ``first`` on.
    private struct Flow {
        var tracker = TransportFeedbackTracker()
        private var milliseconds: Int64 = 0
        private var sent = 0
        private var feedbackCount: UInt8 = 0

        private func number(_ index: Int) -> TransportSequenceNumber {
            TransportSequenceNumber(first.rawValue &+ UInt16(truncatingIfNeeded: index))
        }

        /// Sends packets, one every `step` milliseconds, each of which is at once reported as missing, or not at all.
        mutating func send(_ count: Int, step: Int64, isReported: Bool = true) {
            for _ in 0..<count {
                milliseconds += step
                tracker.packetSent(number(sent), size: 100, now: Instant(nanoseconds: milliseconds * 1_000_000))
                sent += 1
                if isReported { _ = report(1, in: &tracker, delta: nil) }
                feedbackCount &+= 1
            }
        }

        /// Reports the packet that was sent `age` packets ago, 1 being the newest, and returns the number of results.
        private func report(_ age: Int, in tracker: inout TransportFeedbackTracker, delta: Int16?) -> Int {
            tracker.receive(
                TransportFeedback(
                    sender: SynchronizationSource(1), media: SynchronizationSource(2),
                    baseSequenceNumber: number(sent - age), referenceTime: Int32(milliseconds / 64),
                    feedbackPacketCount: feedbackCount, deltas: [delta])
            ).count
        }

        /// Whether a late arrival of that packet would still be joined.
        func remembers(_ age: Int) -> Bool {
            var copy = tracker
            return report(age, in: &copy, delta: 0) == 1
        }

        /// Up to which age all packets are remembered.
        var memory: Int { (1...10_000).first { !remembers($0) }.map { $0 - 1 } ?? .max }
    }

    @Test("The capacity for a second of packets grows at once", arguments: [(20, 128), (10, 128), (2, 512), (1, 1024)])
    func growsToASecond(step: Int, room: Int) {
        var flow = Flow()
        flow.send(3000, step: Int64(step))
        #expect(flow.memory == room)
    }

    @Test(
        "The capacity halves when three eighths of it held more than a second of packets",
        arguments: [(20, 128), (11, 128), (10, 256), (6, 256), (5, 512), (3, 512), (2, 1024), (1, 1024)])
    func shrinks(step: Int, room: Int) {
        var flow = Flow()
        flow.send(2000, step: 1)
        #expect(flow.memory == 1024)
        flow.send(4000, step: Int64(step))
        #expect(flow.memory == room)
    }

    @Test("A packet without feedback keeps its place, and the capacity with it")
    func keepsWhatIsUnderWay() {
        var flow = Flow()
        flow.send(2000, step: 1)
        flow.send(1, step: 20, isReported: false)
        flow.send(900, step: 20)
        #expect(flow.remembers(901))
        #expect(flow.memory >= 901)
        #expect(flow.tracker.packetsInFlight == 1)
        #expect(flow.tracker.packetsUnresolved == 0)
    }

    @Test("Packets moved to a smaller buffer are reported once")
    func movesWhatIsKnown() {
        var flow = Flow()
        flow.send(2000, step: 1)
        flow.send(4000, step: 20)
        #expect(flow.tracker.packetsLost == 6000)
        #expect(flow.tracker.packetsInFlight == 0)
        #expect(flow.tracker.packetsUnresolved == 0)
    }
}
