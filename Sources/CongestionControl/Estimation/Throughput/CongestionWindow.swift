internal import RTCShareWireFormat

/// Limits the bytes in flight. If more are in flight than the rate carries in a round trip and an accepted queue, the
/// rate decreases until feedback arrives.
///
/// Source: libwebrtc, `goog_cc/congestion_window_pushback_controller` and the window of
/// `goog_cc/goog_cc_network_control`, active by default there. Deviations: the rate decreases, where libwebrtc's
/// encoder drops frames instead; the decision is made with each feedback and every 25 ms, not with each packet; and the
/// bytes in flight are too many only if packets wait or feedback is late, since a large frame that is sent at the
/// pacing rate also fills a window.
struct CongestionWindow: Sendable {
    /// The accepted queue, in addition to the round trip.
    static let queueTime = Duration.milliseconds(150)
    /// The minimum window.
    static let smallestWindow = 3000
    /// The minimum rate after a reduction.
    static let minimumRate = DataRate.kilobitsPerSecond(30)
    private static let roundTripCount = 32

    /// The maximum number of bytes in flight; nil before the first round trip.
    private(set) var bytes: Int?
    /// The fraction of the rate that remains.
    private(set) var ratio = 1.0
    private var roundTrips: [Duration] = []
    /// The minimum of ``roundTrips``, cached because every input needs it.
    private var shortest: Duration?
    private var next = 0

    /// Adds the longest round-trip time in a feedback, including the wait at the receiver.
    mutating func receive(roundTrip: Duration) {
        if roundTrips.count < Self.roundTripCount {
            roundTrips.append(roundTrip)
        } else {
            roundTrips[next] = roundTrip
            next = (next + 1) % Self.roundTripCount
        }
        shortest = roundTrips.min()
    }

    /// Sets the window for `target`.
    mutating func update(target: DataRate) {
        guard let shortest else { return }
        let size = target.bytes(in: shortest + Self.queueTime)
        bytes = max(Self.smallestWindow, bytes.map { $0 / 2 + size / 2 } ?? size)
    }

    /// The time without feedback after which the bytes in flight count as waiting on the path.
    var patience: Duration { (shortest ?? .zero) + Self.queueTime }

    /// Whether the bytes in flight exceed the window.
    func isExceeded(by outstanding: Int) -> Bool {
        bytes.map { outstanding > $0 } ?? false
    }

    /// Returns `target`, reduced while `outstanding` bytes in flight are too many (`isExceeded`).
    mutating func push(_ target: DataRate, outstanding: Int, isExceeded: Bool) -> DataRate {
        guard let bytes, bytes > 0 else { return target }
        let fill = Double(outstanding) / Double(bytes)
        if !isExceeded {
            ratio = fill < 0.1 ? 1 : min(1, ratio * 1.05)
        } else if fill > 1.5 {
            ratio *= 0.9
        } else {
            ratio *= 0.95
        }
        let pushed = target * ratio
        return pushed < Self.minimumRate ? min(target, Self.minimumRate) : pushed
    }
}
