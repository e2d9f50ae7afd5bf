@testable import RTCShareCongestionControl
import RTCShareWireFormat
import Testing

/// The use and amount of forward error correction, and the time for which receivers hold frames.
@Suite("Loss policy")
struct LossPolicyTests {
    private static let far = Duration.milliseconds(200)
    private static let rate = DataRate.kilobitsPerSecond(2000)

    /// Gives a policy a report a second on a hundred packets.
    private static func report(
        _ loss: Double, seconds: Range<Int>, roundTripTime: Duration? = far,
        to policy: inout LossPolicy
    ) {
        for second in seconds {
            policy.receive(
                LossSample(fractionLost: loss, packets: 100), roundTripTime: roundTripTime, now: at(second))
            policy.setRate(rate)
        }
    }

    private static func at(_ seconds: Int) -> Instant { Instant(nanoseconds: Int64(seconds) * 1_000_000_000) }

    private static func corrections(
        _ policy: inout LossPolicy, packets: Int, at second: Int
    ) -> Int {
        policy.corrections(forPackets: packets, bytesEach: 1200, now: at(second))
    }

    @Test("There are no corrections without loss or before any report")
    func clean() {
        var policy = LossPolicy()
        #expect(Self.corrections(&policy, packets: 10, at: 0) == 0)
        Self.report(0, seconds: 1..<60, to: &policy)
        #expect(policy.ratio == 0 && Self.corrections(&policy, packets: 10, at: 60) == 0)
    }

    @Test(
        "While packets are lost frames are held slightly longer than a round trip, and not for long",
        arguments: [(10, 0), (20, 0), (30, 70), (80, 120), (150, 190), (400, 200)])
    func holds(roundTrip: Int, hold: Int) {
        var policy = LossPolicy()
        let trip = Duration.milliseconds(roundTrip)
        Self.report(0, seconds: 0..<5, roundTripTime: trip, to: &policy)
        #expect(policy.hold == .zero)
        Self.report(0.05, seconds: 5..<10, roundTripTime: trip, to: &policy)
        #expect(policy.hold == .milliseconds(hold))
        // Some milliseconds more or less are not told of.
        Self.report(0.05, seconds: 10..<11, roundTripTime: trip + .milliseconds(9), to: &policy)
        #expect(policy.hold == .milliseconds(hold))
        Self.report(0, seconds: 11..<60, roundTripTime: trip, to: &policy)
        #expect(policy.hold == .zero)
    }

    @Test(
        "Frames are held for two retransmissions when many of the retransmissions are lost too",
        arguments: [(30, 100, 70), (40, 120, 80), (80, 180, 120), (200, 300, 200), (400, 300, 200)])
    func holdsLonger(roundTrip: Int, heavy: Int, usual: Int) {
        var policy = LossPolicy()
        let trip = Duration.milliseconds(roundTrip)
        Self.report(0.12, seconds: 0..<10, roundTripTime: trip, to: &policy)
        #expect(policy.hold == .milliseconds(heavy))
        // A loss that wavers does not have the receiver change each time.
        Self.report(0.07, seconds: 10..<30, roundTripTime: trip, to: &policy)
        #expect(policy.hold == .milliseconds(heavy))
        Self.report(0.04, seconds: 30..<50, roundTripTime: trip, to: &policy)
        #expect(policy.hold == .milliseconds(usual))
        Self.report(0.07, seconds: 50..<70, roundTripTime: trip, to: &policy)
        #expect(policy.hold == .milliseconds(usual))
    }

    @Test("One lost packet in a second has no effect, two have")
    func onset() {
        var policy = LossPolicy()
        Self.report(0.01, seconds: 1..<2, to: &policy)
        #expect(!policy.isActive)
        Self.report(0.02, seconds: 2..<3, to: &policy)
        #expect(policy.isActive)
    }

    @Test(
        "There are no corrections when the round trip is short or unknown",
        arguments: [
            nil, Duration.zero, .milliseconds(20), LossPolicy.shortestRoundTrip - .nanoseconds(1),
        ])
    func shortRoundTrip(roundTripTime: Duration?) {
        var policy = LossPolicy()
        Self.report(0.1, seconds: 1..<20, roundTripTime: roundTripTime, to: &policy)
        #expect(policy.ratio == 0)
        Self.report(0.1, seconds: 20..<21, roundTripTime: LossPolicy.shortestRoundTrip, to: &policy)
        #expect(policy.ratio > 0)
        Self.report(0.1, seconds: 21..<22, roundTripTime: roundTripTime, to: &policy)
        #expect(policy.ratio == 0)
    }

    @Test("Corrections end within 15 s of the end of the loss")
    func end() {
        var policy = LossPolicy()
        Self.report(0.05, seconds: 1..<20, to: &policy)
        let before = policy.ratio
        Self.report(0, seconds: 20..<24, to: &policy)
        #expect(policy.ratio > 0 && policy.ratio < before * 0.6)
        Self.report(0, seconds: 24..<35, to: &policy)
        #expect(policy.ratio == 0 && !policy.isActive)
    }

    @Test(
        "A frame has as many corrections as its losses probably need, and at least one",
        arguments: [0.02, 0.05, 0.1], [1, 4, 10, 20, 48, 300])
    func amount(loss: Double, packets: Int) {
        var policy = LossPolicy()
        Self.report(loss, seconds: 1..<40, to: &policy)
        let expected = min((Double(min(packets, 48)) * policy.ratio).rounded(.up), 12)
        #expect(policy.ratio == loss * LossPolicy.packetsPerLoss)
        #expect(Self.corrections(&policy, packets: packets, at: 41) == Int(expected))
    }

    @Test("The corrections keep to their share of the rate, however much is lost", arguments: [0.02, 0.1, 0.9])
    func share(loss: Double) {
        var policy = LossPolicy()
        Self.report(loss, seconds: 1..<10, to: &policy)
        #expect(policy.ratio <= LossPolicy.maximumRatio)
        // Single packets, each of which would be doubled, at five times the rate.
        var bytes = 0
        for index in 0..<10_000 {
            let now = Self.at(10).advanced(by: .milliseconds(index))
            bytes += policy.corrections(forPackets: 1, bytesEach: 1200, now: now) * 1200
        }
        let allowed = Self.rate * (policy.ratio / (1 + policy.overhead))
        #expect(bytes <= allowed.bytes(in: .seconds(10) + LossPolicy.savedTime))
        #expect(bytes >= allowed.bytes(in: .seconds(10)) * 9 / 10)
    }
}
