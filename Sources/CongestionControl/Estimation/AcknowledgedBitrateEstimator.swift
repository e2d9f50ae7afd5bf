public import WireFormat

/// At which rate packets arrive: samples over windows, joined by how far they are off (a Bayesian estimate).
///
/// Source: libwebrtc, `goog_cc/acknowledged_bitrate_estimator` and `goog_cc/bitrate_estimator`, which
/// `RobustThroughputEstimator` replaces by default there. Deviations: no bytes of
/// packets without transport-wide numbers are added, for here all have one; the field trials that scale small samples
/// and those of application-limited regions, without effect by default there, are left out.
public struct AcknowledgedBitrateEstimator: Sendable {
    /// The window of the first sample.
    public static let firstWindow = Duration.milliseconds(500)
    /// The window of each later sample.
    public static let window = Duration.milliseconds(150)
    private static let uncertaintyScale = 10.0
    /// What each sample adds to the variance, because rates change with time.
    private static let drift = 5.0
    private static let fastChange = 200.0

    private var kilobits: Double?
    private var variance = 50.0
    /// Bytes in the window under way.
    private var bytes = 0
    /// How much of it has passed, in nanoseconds.
    private var elapsed: Int64 = 0
    private var lastArrival: Duration?
    private var limitedRegionEnd: Instant?

    /// Nothing arrived yet.
    public init() {}

    /// The rate; nil before the first window is over.
    public var estimate: DataRate? {
        kilobits.map { DataRate(kilobits: $0) }
    }

    /// The rate in the window under way alone; nil at its very beginning.
    public var currentRate: DataRate? {
        elapsed > 0 ? DataRate(byteCount: bytes, over: .nanoseconds(elapsed)) : nil
    }

    /// Lets the estimate follow fast from the first packet on that is sent after `instant`, when the application
    /// stopped being the limit.
    public mutating func limitedRegionEnded(at instant: Instant) {
        limitedRegionEnd = instant
    }

    /// Takes a packet of `size` bytes that was sent at `sent` and arrived at `arrival` on the receiver's clock. Packets
    /// come in the order of arrival; one that arrived before the one before it begins a new window.
    public mutating func receive(sent: Instant, arrival: Duration, size: Int) {
        if let end = limitedRegionEnd, sent > end {
            variance += Self.fastChange
            limitedRegionEnd = nil
        }
        guard let sample = sample(arrival: arrival, size: size) else { return }
        guard let estimate = kilobits else {
            kilobits = sample
            return
        }
        // The further off a sample, the less it counts.
        let uncertainty = estimate > 0 ? Self.uncertaintyScale * abs(estimate - sample) / estimate : 0
        let sampleVariance = uncertainty * uncertainty
        let predicted = variance + Self.drift
        kilobits = (sampleVariance * estimate + predicted * sample) / (sampleVariance + predicted)
        variance = sampleVariance * predicted / (sampleVariance + predicted)
    }

    /// The rate of the window that `arrival` ends, in kilobits per second; nil where it ends none.
    private mutating func sample(arrival: Duration, size: Int) -> Double? {
        let window = (kilobits == nil ? Self.firstWindow : Self.window).wholeNanoseconds
        if let last = lastArrival {
            if arrival < last {
                bytes = 0
                elapsed = 0
            } else {
                let step = min(arrival - last, .seconds(3600)).wholeNanoseconds
                elapsed += step
                // Nothing for a whole window: the silence is no sample.
                if step > window {
                    bytes = 0
                    elapsed %= window
                }
            }
        }
        lastArrival = arrival
        defer { bytes += size }
        guard elapsed >= window else { return nil }
        let sample = Double(bytes) * 8e6 / Double(window)
        elapsed -= window
        bytes = 0
        return sample
    }
}
