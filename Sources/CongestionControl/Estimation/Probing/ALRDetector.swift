package import RTCShareWireFormat

/// Detects application-limited regions: periods in which the application sends so much less than the path can carry
/// that the path is not tested.
///
/// Packets use a budget that fills at a fraction of the estimate and is limited to half a second of it, in both
/// directions. Source: libwebrtc, `goog_cc/alr_detector`, `pacing/interval_budget`, and for the limits
/// `experiments/alr_experiment`. Deviations: the budget also changes with time only (`process`), so that an application
/// that sends no packets is detected, which requires one more packet there; the region starts at the given time, not at
/// one read from a clock.
package struct ALRDetector: Sendable {
    /// The limits of a region's start and end.
    package struct Configuration: Hashable, Sendable {
        /// The fraction of the estimate that counts as full use.
        package var usageRatio: Double
        /// The level of the budget above which a region starts.
        package var startLevel: Double
        /// The level of the budget below which a region ends.
        package var stopLevel: Double

        package init(usageRatio: Double = 0.8, startLevel: Double = 0.4, stopLevel: Double = -0.6) {
            self.usageRatio = usageRatio
            self.startLevel = startLevel
            self.stopLevel = stopLevel
        }

        /// The initial limits of libwebrtc's detector. Its experiment for screen share, active by default, replaces
        /// them with the defaults here.
        package static let conservative = Configuration(usageRatio: 0.65, startLevel: 0.8, stopLevel: 0.5)
    }

    private static let window = Duration.milliseconds(500)

    /// The start of the current region; nil outside a region.
    package private(set) var startTime: Instant?
    private let configuration: Configuration
    /// The number of bytes per second that counts as full use.
    private var target = 0.0
    /// The limit of the budget, cached because every packet needs it.
    private var capacity = 0.0
    /// The budget in bytes, limited to what half a second carries, positive or negative.
    private var budget = 0.0
    private var lastUpdate: Instant?

    /// Creates a detector without an estimate or a region.
    package init(configuration: Configuration = Configuration()) {
        self.configuration = configuration
    }

    /// The budget as a fraction of its limit, -1 to 1.
    package var budgetLevel: Double {
        capacity > 0 ? budget / capacity : 0
    }

    /// Sets the bandwidth estimate.
    package mutating func setEstimate(_ estimate: DataRate) {
        target = Double((estimate * configuration.usageRatio).bitsPerSecond) / 8
        capacity = target * Self.window.seconds
        clampBudget()
    }

    /// Records that `bytes` were sent at `now`.
    package mutating func packetSent(bytes: Int, now: Instant) {
        guard lastUpdate != nil else {
            // The period in which these bytes were produced is unknown.
            lastUpdate = now
            return
        }
        budget -= Double(bytes)
        clampBudget()
        process(now: now)
    }

    /// Updates the budget for the time up to `now`.
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
