/// When to look at a screen, in virtual time: at once where something changed, but not more often than the frame rate
/// allows.
///
/// The pointer's place is told by no event and has to be asked for: at each tick while it moves or moved lately, and
/// less often otherwise.
struct ScreenCadence {
    /// How long the pointer rests before it is asked for less often.
    static let pointerRest = Duration.seconds(1)
    /// How often a resting pointer is asked for.
    static let restInterval = Duration.milliseconds(100)

    private let interval: Duration
    /// From when on the next frame may be taken.
    private var nextFrame: Duration
    private var lastLook: Duration
    private var pointerMovedAt: Duration

    init(framesPerSecond: Double, now: Duration) {
        interval = .seconds(1) / framesPerSecond
        (nextFrame, lastLook, pointerMovedAt) = (now, now, now)
    }

    /// When to look next, if nothing happens before; `hasChange` says that there is something to be seen.
    func deadline(hasChange: Bool) -> Duration {
        if hasChange { return max(nextFrame, lastLook) }
        let rests = lastLook >= pointerMovedAt + Self.pointerRest
        return lastLook + (rests ? max(Self.restInterval, interval) : interval)
    }

    /// Nobody has a use for a frame now; that may be another at the next tick.
    mutating func skip(now: Duration) {
        lastLook = now
        nextFrame = now + interval
    }

    /// The screen was looked at; `isFrame` says that a frame came of it.
    mutating func didLook(isFrame: Bool, pointerMoved: Bool, now: Duration) {
        lastLook = now
        if pointerMoved { pointerMovedAt = now }
        guard isFrame else { return }
        // A look that was late leaves the next tick where it is, so that the rate is kept; after a rest, half an interval is
        // saved up, so that what changes at the rate itself need not wait for a tick each time.
        nextFrame = max(nextFrame, now - interval / 2) + interval
    }
}
