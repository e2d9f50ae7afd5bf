internal import RTCShareWireFormat

/// Bounds the bytes under way: where more are than the rate carries in a round trip and a queue that is tolerated, the
/// rate goes down until feedback comes.
///
/// Source: libwebrtc, `goog_cc/congestion_window_pushback_controller` and the window of `goog_cc/goog_cc_network_control`,
/// on by default there. Deviations: the rate is lowered, where libwebrtc lets its encoder drop frames instead; it is
/// decided with each feedback and each 25 ms, not with each packet; and what is under way is too much only where packets
/// are seen to wait, or feedback stays away, for a large picture that leaves at the pacing rate fills a window, too.
struct CongestionWindow: Sendable {
    /// The queue that is tolerated beyond the round trip.
    static let queueTime = Duration.milliseconds(150)
    /// No window is smaller.
    static let smallestWindow = 3000
    /// What a pushed rate does not go below.
    static let minimumRate = DataRate.kilobitsPerSecond(30)
    private static let roundTripCount = 32

    /// The bytes that may be under way; nil before the first round trip.
    private(set) var bytes: Int?
    /// What is left of the rate.
    private(set) var ratio = 1.0
    private var roundTrips: [Duration] = []
    /// The least of ``roundTrips``: kept, for it is asked with every input.
    private var shortest: Duration?
    private var next = 0

    /// Takes the longest round trip that a feedback shows, its wait at the receiver included.
    mutating func receive(roundTrip: Duration) {
        if roundTrips.count < Self.roundTripCount {
            roundTrips.append(roundTrip)
        } else {
            roundTrips[next] = roundTrip
            next = (next + 1) % Self.roundTripCount
        }
        shortest = roundTrips.min()
    }

    /// Fits the window to `target`.
    mutating func update(target: DataRate) {
        guard let shortest else { return }
        let size = target.bytes(in: shortest + Self.queueTime)
        bytes = max(Self.smallestWindow, bytes.map { $0 / 2 + size / 2 } ?? size)
    }

    /// How long feedback may stay away before what is under way is held to wait on the path.
    var patience: Duration { (shortest ?? .zero) + Self.queueTime }

    /// Whether more is under way than may be.
    func isExceeded(by outstanding: Int) -> Bool {
        bytes.map { outstanding > $0 } ?? false
    }

    /// What `target` becomes while `outstanding` bytes are under way; `isExceeded` where they are too many.
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
