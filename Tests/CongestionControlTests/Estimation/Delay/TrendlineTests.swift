import RTCShareCongestionControl
import RTCShareWireFormat
import Testing

/// The scenarios of libwebrtc's `trendline_estimator_unittest` and the detector's adaptation.
@Suite struct TrendlineTests {
    /// Returns the usage detected after each of 25 groups sent 20 ms apart that arrive `ratio` times as far apart.
    private func findings(ratio: Double, count: Int = 25) -> [OveruseDetector.Usage] {
        var estimator = TrendlineEstimator()
        var detector = OveruseDetector()
        let times = (0..<count).map { Duration.milliseconds(Int((Double($0) * 20 * ratio).rounded(.down))) }
        return (1..<count).map { index in
            let arrival = Duration.milliseconds(987_654_321) + times[index]
            estimator.update(
                sendDelta: .milliseconds(20), arrivalDelta: times[index] - times[index - 1], arrival: arrival)
            detector.detect(
                trend: estimator.trend, sendDelta: .milliseconds(20), deltaCount: estimator.deltaCount,
                arrival: arrival)
            return detector.usage
        }
    }

    @Test(
        "Arrival at the send rate is normal, 10 percent slower is overuse, 15 percent faster is underuse",
        arguments: [
            (1.0, OveruseDetector.Usage.normal), (1.1, .overusing), (0.85, .underusing),
        ])
    func scenarios(ratio: Double, expected: OveruseDetector.Usage) throws {
        let findings = findings(ratio: ratio)
        #expect(findings.first == .normal)
        #expect(findings.last == expected)
        let change = try #require(findings.firstIndex(of: expected))
        #expect(findings[..<change].allSatisfy { $0 == .normal })
        #expect(findings[change...].allSatisfy { $0 == expected })
    }

    @Test("The slope of a steadily growing delay approaches the path's excess time")
    func slope() {
        var estimator = TrendlineEstimator()
        for index in 1...200 {
            estimator.update(
                sendDelta: .milliseconds(20), arrivalDelta: .milliseconds(22), arrival: .milliseconds(22 * index))
        }
        #expect(abs(estimator.trend - 2.0 / 22) < 0.001)
        #expect(estimator.deltaCount == 200)
    }

    @Test("Groups that all arrive at once do not change the trend")
    func allAtOnce() {
        var estimator = TrendlineEstimator()
        for _ in 1...40 { estimator.update(sendDelta: .zero, arrivalDelta: .zero, arrival: .zero) }
        #expect(estimator.trend == 0)
    }

    @Test("The threshold falls to its floor without a trend, rises slowly near one, and ignores spikes")
    func threshold() {
        var detector = OveruseDetector()
        func feed(trend: Double, from start: Int, count: Int) {
            for index in start..<start + count {
                detector.detect(
                    trend: trend, sendDelta: .milliseconds(20), deltaCount: 60, arrival: .milliseconds(20 * index))
            }
        }
        feed(trend: 0, from: 0, count: 50)
        #expect(detector.threshold == 6)
        // 60 × 0.0625 × 4 is 15 ms.
        feed(trend: 0.0625, from: 50, count: 5)
        #expect(detector.usage == .overusing)
        let raised = detector.threshold
        #expect(raised > 6 && raised < 15)
        feed(trend: 1, from: 55, count: 50)
        #expect(detector.threshold == raised)
    }

    @Test("Two rising crossings that last 10 ms are overuse; one is not, nor are two falling ones")
    func crossings() {
        var detector = OveruseDetector()
        detector.detect(trend: 0.2, sendDelta: .milliseconds(30), deltaCount: 60, arrival: .milliseconds(30))
        #expect(detector.usage == .normal)
        detector.detect(trend: 0.19, sendDelta: .milliseconds(30), deltaCount: 60, arrival: .milliseconds(60))
        #expect(detector.usage == .normal)
        detector.detect(trend: 0.2, sendDelta: .milliseconds(30), deltaCount: 60, arrival: .milliseconds(90))
        #expect(detector.usage == .overusing)
    }
}
