import RTCShareRTP
import RTCShareWireFormat
import Testing

@testable import RTCShareCongestionControl

@Suite struct RecentArrivalsTests {
    /// Packets of 1250 bytes, each sent and arriving so many milliseconds after the start, on a clock of its own.
    private func results(_ times: [(sent: Int, arrival: Int)]) -> [TransportFeedbackTracker.PacketResult] {
        times.enumerated().map { index, time in
            TransportFeedbackTracker.PacketResult(
                number: TransportSequenceNumber(UInt16(index)), size: 1250,
                sent: Instant(nanoseconds: Int64(time.sent) * 1_000_000), arrival: .milliseconds(time.arrival))
        }
    }

    private func rate(_ times: [(sent: Int, arrival: Int)]) -> DataRate? {
        var (arrivals, queueing) = (RecentArrivals(), QueueingDelay())
        let all = results([(0, 50)] + times)
        queueing.receive(Array(all.prefix(1)), now: Instant(nanoseconds: 100_000_000))
        arrivals.receive(Array(all.dropFirst()), queueing: queueing)
        return arrivals.rate
    }

    @Test("Packets that queued arrive at the path's rate, whatever arrived before them")
    func waited() {
        // Ten at once after a lone one that had not waited: 10 ms apart, which is 1000 kbit/s.
        let burst = (0..<40).map { (sent: 500, arrival: 570 + 10 * $0) }
        #expect(rate([(sent: 300, arrival: 350)] + burst) == .kilobitsPerSecond(1000))
    }

    @Test("Packets that did not queue measure no rate, nor do the ones before them")
    func unwaited() {
        let even = (0..<40).map { (sent: 500 + 10 * $0, arrival: 569 + 10 * $0) }
        #expect(rate(even) == nil)
        let burst = (0..<40).map { (sent: 500, arrival: 570 + 10 * $0) }
        #expect(rate(burst + [(sent: 1000, arrival: 1050)]) == nil)
    }

    @Test("Too short a period measures no rate")
    func short() {
        #expect(rate((0..<15).map { (sent: 500, arrival: 570 + 10 * $0) }) == nil)
        #expect(rate((0..<16).map { (sent: 500, arrival: 570 + 10 * $0) }) == .kilobitsPerSecond(1000))
    }
}
