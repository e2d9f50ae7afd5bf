internal import Glibc
internal import RTCShareWireFormat

/// How much of an estimate may be used although nothing has tested it for a while: after an idle time another rate may
/// be what the path takes.
///
/// For 10 s an estimate is trusted as it is. Then the rate that is trusted halves each 10 s, down to the start rate. What
/// arrives makes it twice that, and a probe restores it whole. Source: none in libwebrtc, which after silence sends at the
/// old rate; the decay is that of congestion window validation (RFC 7661 §4.4.1, RFC 2861 §3) with times of a screen's.
struct EstimateConfidence: Sendable {
    /// How long an estimate needs no test.
    static let trustTime = Duration.seconds(10)
    /// The time in which the trusted rate halves from then on.
    static let halfLife = Duration.seconds(10)
    /// The multiple of a rate that arrived which is trusted.
    static let growth = 2.0

    /// The rate trusted at the last test; nil for any.
    private var trusted: DataRate?
    private var lastTest: Instant?

    /// Trusts any rate, up to `now`.
    mutating func restore(now: Instant) {
        trusted = nil
        lastTest = now
    }

    /// Takes a rate that the path was seen to carry while `estimate` was held to be what it takes.
    mutating func confirm(_ rate: DataRate, estimate: DataRate, floor: DataRate, now: Instant) {
        let rate = rate * Self.growth
        guard rate >= bound(on: estimate, floor: floor, now: now) else { return }
        trusted = rate < estimate ? rate : nil
        lastTest = now
    }

    /// What may be used of `estimate`; no less than the lower of it and `floor`.
    func bound(on estimate: DataRate, floor: DataRate, now: Instant) -> DataRate {
        guard let lastTest else { return estimate }
        var usable = min(trusted ?? estimate, estimate)
        let age = now - lastTest - Self.trustTime
        if age > .zero { usable = usable * pow(0.5, age.seconds / Self.halfLife.seconds) }
        return max(usable, min(floor, estimate))
    }
}
