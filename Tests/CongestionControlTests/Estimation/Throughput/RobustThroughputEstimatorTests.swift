import RTCShareCongestionControl
import RTCShareRTP
import RTCShareWireFormat
import Testing

/// Scenarios of libwebrtc's `robust_throughput_estimator_unittest`: packets of 1000 bytes.
@Suite struct RobustThroughputEstimatorTests {
    private struct Stream {
        var estimator = RobustThroughputEstimator()
        var sent = Instant(nanoseconds: 1_000_000_000)
        var arrival = Duration.seconds(1)

        /// Packets sent and arriving so many microseconds apart; every `lossPeriod`th is lost.
        mutating func feed(_ count: Int, sendGap: Int, arrivalGap: Int? = nil, lossPeriod: Int? = nil) {
            estimator.receive(next(count, sendGap: sendGap, arrivalGap: arrivalGap, lossPeriod: lossPeriod))
        }

        mutating func next(
            _ count: Int, sendGap: Int, arrivalGap: Int? = nil, lossPeriod: Int? = nil
        ) -> [TransportFeedbackTracker.PacketResult] {
            (0..<count).map { index in
                sent = sent.advanced(by: .microseconds(sendGap))
                arrival += .microseconds(arrivalGap ?? sendGap)
                let isLost = lossPeriod.map { index % $0 == $0 - 1 } ?? false
                return .init(
                    number: TransportSequenceNumber(0), size: 1000, sent: sent, arrival: isLost ? nil : arrival)
            }
        }

        /// Thousands of bytes a second.
        var rate: Double? { estimator.estimate.map { Double($0.bitsPerSecond) / 8000 } }
    }

    private func isNear(_ rate: Double?, _ expected: Double) -> Bool {
        rate.map { abs($0 - expected) <= expected * 0.05 } ?? false
    }

    @Test("Nine packets are too few for a rate, ten suffice")
    func first() {
        var stream = Stream()
        stream.feed(9, sendGap: 10_000)
        #expect(stream.rate == nil)
        stream.feed(1, sendGap: 10_000)
        #expect(stream.rate == 100)
        stream.feed(15, sendGap: 10_000)
        #expect(stream.rate == 100)
    }

    @Test("A change of the rate is followed within about a second", arguments: [(5000, 200.0), (20_000, 50.0)])
    func follows(gap: Int, expected: Double) throws {
        var stream = Stream()
        stream.feed(100, sendGap: 10_000)
        stream.feed(500_000 / gap, sendGap: gap)
        let between = try #require(stream.rate)
        #expect(between > min(100, expected) && between < max(100, expected))
        stream.feed(1_000_000 / gap, sendGap: gap)
        #expect(stream.rate == expected)
    }

    @Test("The lower of send and arrival rate counts", arguments: [(10_000, 40_000, 25.0), (20_000, 10_000, 50.0)])
    func slower(sendGap: Int, arrivalGap: Int, expected: Double) {
        var stream = Stream()
        stream.feed(20, sendGap: sendGap, arrivalGap: arrivalGap)
        #expect(isNear(stream.rate, expected))
    }

    @Test("Lost packets do not count as arrived")
    func loss() {
        var stream = Stream()
        stream.feed(40, sendGap: 10_000, lossPeriod: 2)
        #expect(isNear(stream.rate, 50))
    }

    @Test("One pause of the path changes nothing")
    func pause() {
        var stream = Stream()
        stream.feed(100, sendGap: 10_000)
        stream.arrival += .milliseconds(250)
        stream.feed(50, sendGap: 10_000)
        #expect(isNear(stream.rate, 100))
    }

    @Test("Late feedback is inserted at its place")
    func reordered() {
        var stream = Stream()
        stream.feed(100, sendGap: 10_000)
        let late = stream.next(10, sendGap: 10_000)
        stream.feed(10, sendGap: 10_000)
        stream.estimator.receive(late)
        #expect(stream.rate == 100)
    }

    @Test("A receiver's clock that is set back, or a minute of silence, resets the estimator")
    func anew() {
        var stream = Stream()
        stream.feed(100, sendGap: 10_000)
        stream.arrival -= .seconds(2)
        stream.feed(11, sendGap: 5000)
        #expect(stream.rate == 200)
        stream.sent = stream.sent.advanced(by: .seconds(60))
        stream.arrival += .seconds(60)
        stream.feed(5, sendGap: 10_000)
        #expect(stream.rate == nil)
        stream.feed(5, sendGap: 10_000)
        #expect(stream.rate == 100)
    }
}
