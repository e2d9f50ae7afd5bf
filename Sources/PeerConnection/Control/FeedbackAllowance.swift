internal import RTCShareRTP
internal import RTCShareWireFormat

/// How many packets the peer may report by transport-wide feedback. A few bytes of it announce thousands, each of which
/// is read and looked up; what no receiver has reason to report costs this side no more than ``perSecond``.
struct FeedbackAllowance: Sendable {
    /// What one compound may report: as much as a receiver has to say after seconds of silence.
    static let burst = TransportFeedback.maximumStatusCount
    /// Receivers report each packet once, and those of the last half second again where one was overtaken: of 15 Mbit/s,
    /// told twenty times a second, 15 000 in all.
    static let perSecond = 4 * burst

    /// What may be reported at once.
    var left = burst
    private var refilled: Instant?

    /// Adds what the time since the last call allows.
    mutating func refill(now: Instant) {
        guard let since = refilled else {
            refilled = now
            return
        }
        let elapsed = min(max(.zero, now - since), .seconds(1))
        let gain = Int(elapsed.wholeNanoseconds * Int64(Self.perSecond) / 1_000_000_000)
        // Of less than one, the time goes on to count.
        guard gain > 0 else { return }
        refilled = now
        left = min(left + gain, Self.burst)
    }
}
