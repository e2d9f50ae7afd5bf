import RTCShareCongestionControl
import RTCShareWireFormat
import Testing

@Suite struct LinkCapacityEstimatorTests {
    @Test("There are no bounds before an estimate; the first sample becomes the estimate")
    func first() {
        var capacity = LinkCapacityEstimator()
        #expect(capacity.estimate == nil && capacity.upperBound == nil && capacity.lowerBound == nil)
        capacity.overuseDetected(acknowledged: .kilobitsPerSecond(500))
        #expect(capacity.estimate == .kilobitsPerSecond(500))
        // 0.4 of normalized variance at 500 kbit/s is a deviation of 14 kbit/s.
        #expect(capacity.upperBound == .bitsPerSecond(542_426))
        #expect(capacity.lowerBound == .bitsPerSecond(457_574))
        capacity.reset()
        #expect(capacity.estimate == nil)
    }

    @Test("Overuse moves the estimate by a twentieth of the difference and widens the bounds")
    func weights() {
        var capacity = LinkCapacityEstimator()
        capacity.overuseDetected(acknowledged: .kilobitsPerSecond(400))
        capacity.overuseDetected(acknowledged: .kilobitsPerSecond(600))
        #expect(capacity.estimate == .kilobitsPerSecond(410))
        #expect(capacity.upperBound == .bitsPerSecond(506_047))
    }

    @Test("The lower bound is never negative")
    func floor() {
        var capacity = LinkCapacityEstimator()
        capacity.overuseDetected(acknowledged: .zero)
        #expect(capacity.lowerBound == .zero && capacity.upperBound == .zero)
    }
}
