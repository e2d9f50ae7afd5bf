/// When to encode what: the rule book of an encoder thread, without its clock.
///
///                 frame                        due by the rate limit
///     empty ───────────────▶ a frame waits ───────────────────────────▶ the picture is encoded ──┐
///                                  ▲  a newer one takes its place                │               │ again: key frame asked
///                                  └─────────────────────────────────────────────┘               ◀─ for, still coarse,
///                                                    frame                                          it rested long
///
/// Times named `now` are the thread's monotonic clock; `timestamp`s are the source's, which can jump.
struct FrameCadence {
    enum Action: Equatable {
        /// Nothing until this time, or until something happens.
        case wait(until: Duration?)
        /// Encode the frame that waits.
        case encodeNew(asKeyFrame: Bool)
        /// Encode the last picture once more.
        case encodeAgain(asKeyFrame: Bool)
    }

    /// How long after a change libvpx sharpens the picture at the full rate, if it does not become fine before: not all
    /// pictures do. Partial updates sharpen until nothing is coarse, however long the bitrate takes for that.
    static let refinementTime = Duration.seconds(2)
    /// How old a frame becomes that waits for nobody knows how long, before a newer one takes its place.
    static let renewal = Duration.milliseconds(100)
    /// How long before a frame is taken up a newer one is of use.
    static let lead = Duration.milliseconds(50)
    /// How long after a failure the same picture is tried again. A new frame is tried when it comes.
    static let failurePause = Duration.seconds(1)

    /// Frames a second at most.
    var framesPerSecond: Double
    /// How often a second a picture that rests is sharpened at most: bits that were too few for many pictures are enough
    /// for one. As often as frames come where nothing is said.
    var repetitionsPerSecond: Double?
    /// Encodes nothing.
    var isPaused = false
    /// What was encoded still waits to leave: nothing more is encoded, and the newest frame is kept.
    private(set) var isQueueFull = false
    /// Until when what was made last has to be paid for, before anything is encoded, before a change is, and before a small one.
    private var notBefore: Duration?
    private var noChangeBefore = Duration.zero
    private var noSmallChangeBefore = Duration.zero

    /// `firstReadyAt` is of the first of the frames that waited in the same place.
    private var waiting:
        (
            timestamp: Duration, arrivedAt: Duration, readyAt: Duration, firstReadyAt: Duration, isChange: Bool,
            isSmall: Bool
        )?
    private var hasPicture = false
    /// From when on somebody needs a key frame.
    private var keyFrameWantedAt: Duration? = .zero
    private var againAtOnce = false
    /// Of the picture that is being encoded.
    private var currentIsChange = false
    /// How long it was held for the sake of the bitrate or the queue.
    private(set) var currentWait = Duration.zero
    /// How long the sharpening of the last change was held for it.
    private var refinementWait = Duration.zero
    /// In source time: when the next frame is due.
    private var nextDue: Duration?
    private var lastTimestamp: Duration?
    private var lastEncodedAt = Duration.zero
    /// How often the last picture is sent again while the source gives nothing.
    private var resting = RestingInterval()
    private var lastChangeAt = Duration.zero
    private var blockedUntil: Duration?
    private var quantizer = 127
    /// The picture becomes sharper part by part.
    private(set) var isUnfinished = false
    /// The last frame was a partial update that made a resting picture sharper.
    private var isRefining = false
    private var dropsInARow = 0

    init(framesPerSecond: Double) {
        self.framesPerSecond = framesPerSecond
    }

    private var interval: Duration { .seconds(1) / max(framesPerSecond, 0.01) }

    /// A frame came, and takes the place of one that waits. `isChange` is false where it shows what the last one did;
    /// `isSmall` where it and those that it replaces differ from that so little that it takes next to no bits.
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

    /// Somebody needs a key frame, which is not made for this before a time. Any number of requests before the next one are
    /// answered by it.
    mutating func requestKeyFrame(notBefore time: Duration = .zero) {
        keyFrameWantedAt = min(keyFrameWantedAt ?? time, time)
    }

    /// Nothing is begun before this time, but for changes, and small ones, from the others on: what was made has to be paid
    /// for.
    mutating func hold(until time: Duration, changesUntil: Duration? = nil, smallChangesUntil: Duration? = nil) {
        notBefore = time
        noChangeBefore = changesUntil ?? time
        noSmallChangeBefore = smallChangesUntil ?? time
    }

    /// What was encoded waits to leave, or waits no longer: then the newest frame is encoded at once.
    mutating func queueDidFill(_ isFull: Bool, now: Duration) {
        if isQueueFull, !isFull { notBefore = max(notBefore ?? now, now) }
        isQueueFull = isFull
    }

    /// Whether the frame that waits will not be taken up soon, as far as is known: a newer one that comes shortly before is
    /// better. Where nobody knows when that is, it is renewed now and then.
    func keepsWaiting(now: Duration) -> Bool {
        guard let waiting else { return false }
        if isQueueFull { return now < waiting.arrivedAt + Self.renewal }
        let heldUntil = waiting.isSmall ? noSmallChangeBefore : noChangeBefore
        return max(waiting.readyAt, heldUntil) > now + Self.lead
    }

    /// The picture is to be encoded with other settings: do so soon, even if the source rests.
    mutating func settingsChanged() {
        againAtOnce = true
    }

    /// Frames were held back and are no more: the newest is shown at once.
    mutating func resume(now: Duration) {
        againAtOnce = true
        waiting?.readyAt = now
        blockedUntil = nil
    }

    /// There is another source: what the one before gave is not shown again.
    mutating func forgetPicture() {
        waiting = nil
        hasPicture = false
        againAtOnce = false
        nextDue = nil
        lastTimestamp = nil
        blockedUntil = nil
        quantizer = 127
        isUnfinished = false
        isRefining = false
        dropsInARow = 0
    }

    /// Whether what is being encoded shows something new.
    var isEncodingChange: Bool { currentIsChange }

    /// What to do now.
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
        let isCoarse =
            isUnfinished
            || quantizer > CodedQuality.fineQuantizer
                && (isRefining || lastEncodedAt < lastChangeAt + Self.refinementTime + refinementWait)
        // One interval and a half: a source at its full rate comes before its picture is repeated.
        guard isCoarse else {
            return lastEncodedAt + max(resting.value, min(interval * 1.5, RestingInterval.longest))
        }
        // A frame that waits for its time is what sharpens next.
        guard let repetitionsPerSecond, waiting?.isChange != true else { return lastEncodedAt + interval * 1.5 }
        return lastEncodedAt + .seconds(1.5) / max(repetitionsPerSecond, 0.01)
    }

    /// The picture that `action` named is taken up. A frame that comes from now on waits for the next.
    mutating func begin(new: Bool, now: Duration) {
        againAtOnce = false
        currentIsChange = false
        currentWait = .zero
        let isChange = new && (waiting?.isChange ?? false)
        let heldUntil = notBefore.map { min($0, now) }
        if !isChange, let heldUntil { refinementWait += max(heldUntil - lastEncodedAt - interval, .zero) }
        guard new, let frame = waiting else { return }
        waiting = nil
        if isChange, let heldUntil { currentWait = max(heldUntil - frame.firstReadyAt, .zero) }
        currentIsChange = frame.isChange
        // As libwebrtc's adapter does: the next is due an interval after this one was due, and a frame half an interval
        // early is still in time, so that a jittering source at the limit's rate loses nothing.
        if let due = nextDue { nextDue = due + interval } else { nextDue = frame.timestamp + interval / 2 }
    }

    /// The picture is encoded; what is coarsest in it now is of this quantizer index. `isUnfinished` says that a blurred key
    /// frame becomes sharper part by part, until it is said no more; `isRefining` that a partial update made some of a resting
    /// picture finer.
    mutating func encoded(
        isKeyFrame: Bool, quantizer: Int, isUnfinished: Bool = false, isRefining: Bool = false, now: Duration
    ) {
        pictureTaken(now: now)
        resting.sent(at: now)
        if isKeyFrame { keyFrameWantedAt = nil }
        self.quantizer = quantizer
        self.isUnfinished = isUnfinished
        self.isRefining = isRefining
        dropsInARow = 0
    }

    /// The picture came out at another size than the one before: coarse again, and to be sharpened anew.
    mutating func sizeChanged(now: Duration) {
        lastChangeAt = now
        refinementWait = .zero
    }

    /// The rate control left the picture out: it is given again, once at once and then frame by frame.
    mutating func dropped(now: Duration) {
        pictureTaken(now: now)
        dropsInARow += 1
    }

    /// The picture could not be encoded.
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
