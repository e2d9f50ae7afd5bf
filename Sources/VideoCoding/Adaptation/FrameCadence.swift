/// The schedule of an encoder thread: it decides when to encode which frame, without a clock.
///
///                 frame                        due by the rate limit
///     empty ───────────────▶ a frame waits ───────────────────────────▶ the frame is encoded ──┐
///                                  ▲  a newer one replaces it                    │             │ again: key frame
///                                  └─────────────────────────────────────────────┘             ◀─ requested, still
///                                                    frame                                        coarse, or long idle
///
/// `now` is always the time of the thread's monotonic clock. A `timestamp` is the source's, which can jump.
struct FrameCadence {
    enum Action: Equatable {
        /// Wait until this time, or until an event.
        case wait(until: Duration?)
        /// Encode the waiting frame.
        case encodeNew(asKeyFrame: Bool)
        /// Encode the last frame again.
        case encodeAgain(asKeyFrame: Bool)
    }

    /// The time after a change in which an encoder sharpens the frame at the full rate, if it does not become fine before.
    /// Not all frames do. Partial updates sharpen until nothing is coarse, however long the bitrate takes for that.
    static let refinementTime = Duration.seconds(2)
    /// The age at which a newer frame replaces a frame that waits for an unknown time.
    static let renewal = Duration.milliseconds(100)
    /// The time before encoding within which a newer frame is useful.
    static let lead = Duration.milliseconds(50)
    /// The time after a failure until the same frame is retried. A new frame is tried when it arrives.
    static let failurePause = Duration.seconds(1)

    /// The maximum frame rate.
    var framesPerSecond: Double
    /// The maximum rate of sharpening an unchanged frame: bits that are too few for many frames can be enough for one.
    /// With nil it is the frame rate.
    var repetitionsPerSecond: Double?
    /// Whether encoding is paused.
    private(set) var isPaused = false
    /// Whether encoded frames are still queued, so that no further one is encoded and only the newest frame is kept.
    private(set) var isQueueFull = false
    /// The times until which the bits of the last frame must be paid for: before any frame, before a change, and before
    /// a small change.
    private var notBefore: Duration?
    private var noChangeBefore = Duration.zero
    private var noSmallChangeBefore = Duration.zero

    /// The waiting frame. `firstReadyAt` is that of the first frame that the waiting one has replaced.
    private var waiting:
        (
            timestamp: Duration, arrivedAt: Duration, readyAt: Duration, firstReadyAt: Duration, isChange: Bool,
            isSmall: Bool
        )?
    private var hasPicture = false
    /// The time from which a key frame is needed.
    private var keyFrameWantedAt: Duration? = .zero
    private var againAtOnce = false
    /// Whether the current frame shows a change.
    private var currentIsChange = false
    /// The time for which the current frame was delayed by the bitrate or the queue.
    private(set) var currentWait = Duration.zero
    /// The time of the first change that the current frame shows.
    private(set) var currentChangeAt = Duration.zero
    /// The time from that change to the frame itself.
    private(set) var currentChangeDuration = Duration.zero
    /// The time for which sharpening of the last change was delayed.
    private var refinementWait = Duration.zero
    /// The time of the next frame, on the source's clock.
    private var nextDue: Duration?
    private var lastTimestamp: Duration?
    private var lastEncodedAt = Duration.zero
    /// The interval at which the last frame is repeated while the source provides none.
    private var resting = RestingInterval()
    private var lastChangeAt = Duration.zero
    private var blockedUntil: Duration?
    /// Whether another encoding makes the unchanged frame finer.
    private var isCoarse = true
    /// Whether a frame is being sharpened part by part.
    private(set) var isUnfinished = false
    /// Whether the last frame was a partial update that sharpened unchanged content.
    private var isRefining = false
    private var dropsInARow = 0

    init(framesPerSecond: Double) {
        self.framesPerSecond = framesPerSecond
    }

    private var interval: Duration { .seconds(1) / max(framesPerSecond, 0.01) }

    /// Receives a frame, which replaces a waiting one. `isChange` is false if it equals the last one. `isSmall` means
    /// that it and the frames that it replaces differ from that by almost no bits.
    mutating func frameArrived(timestamp: Duration, isChange: Bool, isSmall: Bool = false, now: Duration) {
        var readyAt = now
        if let due = nextDue, let last = lastTimestamp {
            if timestamp < last || timestamp >= due + interval * 2 {
                nextDue = nil
            } else if timestamp < due {
                readyAt = now + (due - timestamp)
            }
        }
        let firstReadyAt = waiting.map { $0.isChange ? $0.firstReadyAt : readyAt } ?? readyAt
        waiting = (timestamp, now, readyAt, firstReadyAt, isChange || (waiting?.isChange ?? false), isSmall)
        lastTimestamp = timestamp
    }

    /// Requests a key frame, which is not encoded before the given time. One key frame answers all earlier requests.
    mutating func requestKeyFrame(notBefore time: Duration = .zero) {
        keyFrameWantedAt = min(keyFrameWantedAt ?? time, time)
    }

    /// Delays frames until these times: any frame, frames with changes, and frames with small changes. The bits of the
    /// last frame must be paid for.
    mutating func hold(until time: Duration, changesUntil: Duration? = nil, smallChangesUntil: Duration? = nil) {
        notBefore = time
        noChangeBefore = changesUntil ?? time
        noSmallChangeBefore = smallChangesUntil ?? time
    }

    /// Sets whether encoded frames are queued. When the queue is no longer full, the newest frame is encoded
    /// immediately.
    mutating func queueDidFill(_ isFull: Bool, now: Duration) {
        if isQueueFull, !isFull { notBefore = max(notBefore ?? now, now) }
        isQueueFull = isFull
    }

    /// Whether the waiting frame will probably wait for some time, so that a newer one shortly before encoding is
    /// better. If the time is unknown, the frame is replaced from time to time.
    func keepsWaiting(now: Duration) -> Bool {
        guard let waiting else { return false }
        if isQueueFull { return now < waiting.arrivedAt + Self.renewal }
        let heldUntil = waiting.isSmall ? noSmallChangeBefore : noChangeBefore
        return max(waiting.readyAt, heldUntil) > now + Self.lead
    }

    /// Schedules the frame again soon because of changed settings, even if the source provides none.
    mutating func settingsChanged() {
        againAtOnce = true
    }

    /// Pauses or resumes. After a pause the newest frame is the next one. It has not waited for bits meanwhile, and the time
    /// for sharpening it begins.
    mutating func setPaused(_ new: Bool, now: Duration) {
        if isPaused, !new {
            againAtOnce = true
            waiting?.readyAt = now
            waiting?.firstReadyAt = now
            blockedUntil = nil
            lastChangeAt = now
            refinementWait = .zero
        }
        isPaused = new
    }

    /// Removes the frames of the previous source, which must not be shown again.
    mutating func forgetPicture() {
        waiting = nil
        hasPicture = false
        againAtOnce = false
        nextDue = nil
        lastTimestamp = nil
        blockedUntil = nil
        isCoarse = true
        isUnfinished = false
        isRefining = false
        dropsInARow = 0
    }

    /// Whether the frame that is being encoded shows a change.
    var isEncodingChange: Bool { currentIsChange }

    /// Returns the next action.
    func action(now: Duration) -> Action {
        guard !isPaused, waiting != nil || hasPicture else { return .wait(until: nil) }
        if isQueueFull { return .wait(until: nil) }
        if let notBefore, now < notBefore {
            guard let waiting, waiting.isChange, hasPicture, keyFrameWantedAt.map({ now < $0 }) ?? true
            else {
                return .wait(until: notBefore)
            }
            let at = max(waiting.readyAt, waiting.isSmall ? noSmallChangeBefore : noChangeBefore)
            return now >= at ? .encodeNew(asKeyFrame: false) : .wait(until: min(at, notBefore))
        }
        if let blockedUntil, now < blockedUntil, waiting == nil { return .wait(until: blockedUntil) }
        var next: Duration?
        if let keyFrameWantedAt {
            if now >= keyFrameWantedAt {
                return waiting != nil ? .encodeNew(asKeyFrame: true) : .encodeAgain(asKeyFrame: true)
            }
            next = keyFrameWantedAt
        }
        if let waiting, waiting.isChange || !hasPicture {
            if now >= waiting.readyAt { return .encodeNew(asKeyFrame: false) }
            next = min(next ?? waiting.readyAt, waiting.readyAt)
        }
        if hasPicture {
            let at = nextRepetition(now: now)
            if now >= at { return waiting != nil ? .encodeNew(asKeyFrame: false) : .encodeAgain(asKeyFrame: false) }
            next = min(next ?? at, at)
        }
        return .wait(until: next)
    }

    private func nextRepetition(now: Duration) -> Duration {
        if againAtOnce { return lastEncodedAt }
        if dropsInARow > 0 { return dropsInARow == 1 ? lastEncodedAt : lastEncodedAt + interval }
        let isImproved =
            isUnfinished
            || isCoarse
                && (isRefining || lastEncodedAt < lastChangeAt + Self.refinementTime + refinementWait)
        // The time is an interval and a half: a source at its full rate provides a frame before the last one is
        // repeated.
        guard isImproved else {
            return lastEncodedAt + max(resting.value, min(interval * 1.5, RestingInterval.longest))
        }
        // A waiting frame will cause the next sharpening.
        guard let repetitionsPerSecond, waiting?.isChange != true else { return lastEncodedAt + interval * 1.5 }
        return lastEncodedAt + .seconds(1.5) / max(repetitionsPerSecond, 0.01)
    }

    /// Starts encoding the frame that `action` named. Later frames wait for the next action.
    mutating func begin(new: Bool, now: Duration) {
        againAtOnce = false
        currentIsChange = false
        currentWait = .zero
        currentChangeDuration = .zero
        currentChangeAt = now
        let isChange = new && (waiting?.isChange ?? false)
        let heldUntil = notBefore.map { min($0, now) }
        if !isChange, let heldUntil { refinementWait += max(heldUntil - lastEncodedAt - interval, .zero) }
        guard new, let frame = waiting else { return }
        waiting = nil
        if isChange {
            if let heldUntil { currentWait = max(heldUntil - frame.firstReadyAt, .zero) }
            currentChangeAt = min(frame.firstReadyAt, now)
            currentChangeDuration = max(frame.arrivedAt - frame.firstReadyAt, .zero)
        }
        currentIsChange = frame.isChange
        // As in libwebrtc's adapter, the next frame is due one interval after this one was due, and a frame that is
        // half an interval early is on time, so that a source with jitter at the limit's rate loses no frames.
        if let due = nextDue { nextDue = due + interval } else { nextDue = frame.timestamp + interval / 2 }
    }

    /// Records an encoded frame, and whether further ones can improve it. `isUnfinished` means that a blurred key
    /// frame is being sharpened part by part. `isRefining` means that a partial update sharpened a part of an unchanged
    /// frame.
    mutating func encoded(
        isKeyFrame: Bool, isCoarse: Bool, isUnfinished: Bool = false, isRefining: Bool = false, now: Duration
    ) {
        pictureTaken(now: now)
        resting.sent(at: now)
        if isKeyFrame { keyFrameWantedAt = nil }
        self.isCoarse = isCoarse
        self.isUnfinished = isUnfinished
        self.isRefining = isRefining
        dropsInARow = 0
    }

    /// Records a change of the encoded size: the frame is coarse, and must be sharpened again.
    mutating func sizeChanged(now: Duration) {
        lastChangeAt = now
        refinementWait = .zero
    }

    /// Records that the rate control dropped the frame. It is encoded again, once immediately and then at the frame
    /// rate.
    mutating func dropped(now: Duration) {
        pictureTaken(now: now)
        dropsInARow += 1
    }

    /// Records a new frame that equals the last one and was not encoded. The last one is repeated as if the source had
    /// provided nothing.
    mutating func unchanged() {
        blockedUntil = nil
        hasPicture = true
    }

    /// Records a failure to encode the frame.
    mutating func failed(now: Duration) {
        hasPicture = true
        lastEncodedAt = now
        blockedUntil = now + Self.failurePause
        dropsInARow = 0
    }

    private mutating func pictureTaken(now: Duration) {
        blockedUntil = nil
        lastEncodedAt = now
        hasPicture = true
        if currentIsChange {
            lastChangeAt = now
            refinementWait = .zero
        }
    }
}
