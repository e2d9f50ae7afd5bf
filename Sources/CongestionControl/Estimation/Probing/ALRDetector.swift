package import RTCShareWireFormat

/// Tells whether the application sends so much less than the path would take that the path is not being tested: an
/// application-limited region.
///
/// Sending uses up a budget that fills at a share of the estimate and holds half a second of it, in both directions.
/// Source: libwebrtc, `goog_cc/alr_detector`, `pacing/interval_budget`, and for the limits `experiments/alr_experiment`. Deviations: the budget also moves with time
/// alone (`process`), so that an application that sends nothing at all is seen to be limited, which there needs one
/// more packet; the region begins at the time given, not at one read from a clock.
package struct ALRDetector: Sendable {
    /// When a region begins and ends.
    package struct Configuration: Hashable, Sendable {
        /// The share of the estimate that counts as full use.
        package var usageRatio: Double
        /// The level of the budget above which a region begins.
        package var startLevel: Double
        /// The level of the budget below which it ends.
        package var stopLevel: Double

        /// These limits.
        package init(usageRatio: Double = 0.8, startLevel: Double = 0.4, stopLevel: Double = -0.6) {
            self.usageRatio = usageRatio
            self.startLevel = startLevel
            self.stopLevel = stopLevel
        }

        /// The limits that libwebrtc's detector is built with, which its experiment for screen share, on unless
        /// switched off, replaces by the defaults here.
        package static let conservative = Configuration(usageRatio: 0.65, startLevel: 0.8, stopLevel: 0.5)
    }

    private static let window = Duration.milliseconds(500)

    /// When the present region began; nil outside one.
    package private(set) var startTime: Instant?
    private let configuration: Configuration
    /// Bytes a second that count as full use.
    private var target = 0.0
    /// The bound of the budget: kept, as it is asked for with every packet.
    private var capacity = 0.0
    /// Bytes, between minus and plus what half a second carries.
    private var budget = 0.0
    private var lastUpdate: Instant?

    /// A detector that knows of no estimate and finds nothing limited.
    package init(configuration: Configuration = Configuration()) {
        self.configuration = configuration
    }

    /// The budget as a share of its bound, -1 to 1.
    package var budgetLevel: Double {
        capacity > 0 ? budget / capacity : 0
    }

    /// Takes the bandwidth estimate.
    package mutating func setEstimate(_ estimate: DataRate) {
        target = Double((estimate * configuration.usageRatio).bitsPerSecond) / 8
        capacity = target * Self.window.seconds
        clampBudget()
    }

    /// Takes note of `bytes` that were sent at `now`.
    package mutating func packetSent(bytes: Int, now: Instant) {
        guard lastUpdate != nil else {
            // Over which time these bytes were made is not known.
            lastUpdate = now
            return
        }
        budget -= Double(bytes)
        clampBudget()
        process(now: now)
    }

    /// Lets the time pass up to `now`.
    package mutating func process(now: Instant) {
        guard let lastUpdate, now >= lastUpdate else { return }
        budget += target * (now - lastUpdate).seconds
        self.lastUpdate = now
        clampBudget()
        if startTime == nil, budgetLevel > configuration.startLevel {
            startTime = now
        } else if startTime != nil, budgetLevel < configuration.stopLevel {
            startTime = nil
        }
    }

    private mutating func clampBudget() {
        budget = min(max(budget, -capacity), capacity)
    }
}
