internal import RTCShareRTP
internal import RTCShareWireFormat

/// The limit of packets that the peer can report by transport-wide feedback. A few bytes can announce thousands of
/// packets, each of which is read and looked up. Reports beyond those of any real receiver cost this side no more than
/// ``perSecond``.
struct FeedbackAllowance: Sendable {
    /// The maximum in one compound packet: the report of a receiver after seconds of silence.
    static let burst = TransportFeedback.maximumStatusCount
    /// The maximum per second. Receivers report each packet once, and those of the last half second again if one was
    /// reordered: 15 000 in total at 15 Mbit/s with twenty reports per second.
    static let perSecond = 4 * burst

    /// The number of packets that can be reported now.
    var left = burst
    private var refilled: Instant?

    /// Increases the number according to the time since the last call.
    mutating func refill(now: Instant) {
        guard let since = refilled else {
            refilled = now
            return
        }
        let elapsed = min(max(.zero, now - since), .seconds(1))
        let gain = Int(elapsed.wholeNanoseconds * Int64(Self.perSecond) / 1_000_000_000)
        // If it is less than one, the time continues to count.
        guard gain > 0 else { return }
        refilled = now
        left = min(left + gain, Self.burst)
    }
}
