internal import RTCShareMedia

/// The interval at which an unchanged frame is sent again, which costs a few bytes.
///
/// A receiver counts a freeze if a frame stays much longer than those before. It can't distinguish an idle screen from
/// a broken path, and does not miss the end of a frame before a later packet arrives. So the interval grows slowly,
/// according to the receiver's rule with some room for jitter, up to ``longest``.
struct RestingInterval {
    /// The maximum interval: frames at this interval show the viewer that the share is live.
    static let longest = Duration.seconds(1)
    /// The fraction of the receiver's threshold that is used.
    private static let share = 0.8

    private var threshold = FreezeThreshold()
    private var last: Duration?

    /// Records a sent frame.
    mutating func sent(at now: Duration) {
        if let last { threshold.add(min(max(now - last, .zero), Self.longest)) }
        last = now
    }

    /// The maximum time from one frame to the next.
    var value: Duration { min(threshold.value * Self.share, Self.longest) }
}
