/// The thresholds for the inherent loss of a path, which does not depend on the rate.
///
/// Source: libwebrtc's `loss_based_bwe_v2`, whose thresholds assume a path without background loss. Deviation: here
/// they apply to the loss beyond the background. libwebrtc treats 20 percent of random loss, as on a bad radio link, as
/// congestion, and decreases to some 5 percent of the capacity.
struct LossThresholds: Hashable, Sendable {
    /// The loss above which the estimate has an upper limit. More loss lowers the limit.
    let upperBound: Double
    /// The maximum inherent loss of the path, which is higher at low rates.
    let inherent: Double
    /// The loss below which the higher of two equally likely rates is preferred, and above which the lower.
    let preference: Double
    /// The loss up to which the estimate can grow although the inherent loss does not explain all of it.
    let growth: Double

    /// Creates the thresholds for a path with the given background loss.
    init(background: Double = 0) {
        upperBound = 0.05 + background
        inherent = 0.05 + background
        preference = 0.2 + background
        growth = background > 0 ? background + 0.03 : 0
    }
}
