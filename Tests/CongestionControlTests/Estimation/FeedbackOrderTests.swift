import RTCShareRTP
import RTCShareWireFormat
import Testing

@testable import RTCShareCongestionControl

@Suite struct FeedbackOrderTests {
    @Test(
        "isSorted(by:) recognizes sorted arrays",
        arguments: [[], [1], [1, 1], [1, 2, 3], [1, 2, 2, 3], [2, 1], [1, 3, 2], [3, 1, 2], [1, 1, 0]] as [[Int]])
    func sortedness(numbers: [Int]) {
        #expect(numbers.isSorted(by: <) == (numbers.sorted() == numbers))
    }

    /// Feedback in which packets overtook each other and some are missing says the same, in whatever order it is listed.
    @Test("The estimate does not depend on the order in which packets are listed")
    func shuffledFeedback() {
        var listed = BandwidthEstimator(configuration: .init())
        var shuffled = BandwidthEstimator(configuration: .init())
        var now = Instant(nanoseconds: 1_000_000_000)
        listed.networkAvailable(now: now)
        shuffled.networkAvailable(now: now)
        var number: UInt16 = 65_400
        for round in 0..<60 {
            var results: [TransportFeedbackTracker.PacketResult] = []
            for index in 0..<8 {
                number &+= 1
                now = now.advanced(by: .milliseconds(10))
                let transport = TransportSequenceNumber(number)
                listed.packetSent(number: transport, size: 1000, cluster: nil, now: now)
                shuffled.packetSent(number: transport, size: 1000, cluster: nil, now: now)
                let isLost = (round + index) % 31 == 30
                // Every fifth is overtaken by the next two.
                let delay = Duration.milliseconds(index % 5 == 4 ? 45 : 20)
                results.append(
                    .init(
                        number: transport, size: 1000, sent: now,
                        arrival: isLost ? nil : .nanoseconds(now.nanoseconds) + delay))
            }
            now = now.advanced(by: .milliseconds(40))
            listed.receive(results, now: now)
            shuffled.receive(results.sorted { ($0.arrival ?? .zero) < ($1.arrival ?? .zero) }, now: now)
            listed.process(now: now)
            shuffled.process(now: now)
            #expect(listed.target == shuffled.target)
            #expect(listed.pacingRate == shuffled.pacingRate)
        }
    }
}
