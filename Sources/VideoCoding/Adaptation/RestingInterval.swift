internal import RTCShareMedia

/// How long a picture that rests stands before it is sent once more, which costs some bytes.
///
/// A receiver counts a freeze where a picture stands for much longer than those before. It can't tell a screen that rests
/// from a path that is broken; nor does it miss the end of a frame before something follows. So what comes to rest slows
/// down: by the receiver's rule, with some room for jitter, until ``longest``.
struct RestingInterval {
    /// Pictures are never farther apart: a viewer then knows that the share is live.
    static let longest = Duration.seconds(1)
    /// Of what receivers bear, the part that is used.
    private static let share = 0.8

    private var threshold = FreezeThreshold()
    private var last: Duration?

    /// A picture was sent.
    mutating func sent(at now: Duration) {
        if let last { threshold.add(min(max(now - last, .zero), Self.longest)) }
        last = now
    }

    /// The longest time from one picture to the next.
    var value: Duration { min(threshold.value * Self.share, Self.longest) }
}
