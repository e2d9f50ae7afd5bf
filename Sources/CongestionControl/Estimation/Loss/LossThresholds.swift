/// How much loss may be the path's own: what is lost whatever the rate is.
///
/// Source: libwebrtc's `loss_based_bwe_v2`, whose thresholds are those of a path without a loss of its own. Deviation:
/// they are for what is lost beyond the background. libwebrtc reads 20 percent of random loss, as a bad radio link has
/// it, as congestion, and goes down to some 5 percent of the capacity.
struct LossThresholds: Hashable, Sendable {
    /// Above this loss the estimate has an upper bound, the nearer the more is lost.
    let upperBound: Double
    /// The path's own loss is this at most, and more at low rates.
    let inherent: Double
    /// Below this loss the higher of two rates that explain it alike is preferred, above it the lower.
    let preference: Double
    /// Up to this loss the estimate may grow although more is lost than the path's own loss explains.
    let growth: Double

    /// The thresholds where a share of `background` is lost whatever the rate is.
    init(background: Double = 0) {
        upperBound = 0.05 + background
        inherent = 0.05 + background
        preference = 0.2 + background
        growth = background > 0 ? background + 0.03 : 0
    }
}
