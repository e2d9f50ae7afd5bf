/// Determines the times to check a screen, in virtual time: at once after a change, but not more often than the frame
/// rate allows.
///
/// No event reports the pointer's position, which must be polled: at each tick while it moves or has moved recently,
/// and less often otherwise.
struct ScreenCadence {
    /// The time after which an idle pointer is polled less often.
    static let pointerRest = Duration.seconds(1)
    /// The polling interval of an idle pointer.
    static let restInterval = Duration.milliseconds(100)

    private let interval: Duration
    /// The earliest time of the next frame.
    private var nextFrame: Duration
    private var lastLook: Duration
    private var pointerMovedAt: Duration

    init(framesPerSecond: Double, now: Duration) {
        interval = .seconds(1) / framesPerSecond
        (nextFrame, lastLook, pointerMovedAt) = (now, now, now)
    }

    /// Returns the time of the next check, if nothing happens before; `hasChange` means that there is a change to show.
    func deadline(hasChange: Bool) -> Duration {
        if hasChange { return max(nextFrame, lastLook) }
        let rests = lastLook >= pointerMovedAt + Self.pointerRest
        return lastLook + (rests ? max(Self.restInterval, interval) : interval)
    }

    /// Records that no frame is needed now, which may change at the next tick.
    mutating func skip(now: Duration) {
        lastLook = now
        nextFrame = now + interval
    }

    /// Records a check; `isFrame` means that it resulted in a frame.
    mutating func didLook(isFrame: Bool, pointerMoved: Bool, now: Duration) {
        lastLook = now
        if pointerMoved { pointerMovedAt = now }
        guard isFrame else { return }
        // A late check does not move the next tick, so that the rate is kept. After an idle period, half an interval is
        // saved, so that changes at exactly that rate don't have to wait for a tick each time.
        nextFrame = max(nextFrame, now - interval / 2) + interval
    }
}
