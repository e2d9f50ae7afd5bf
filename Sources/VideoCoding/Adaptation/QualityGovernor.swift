internal import RTCShareMedia

/// Decides which quality is reduced if bits or the machine do not suffice, without a clock.
///
///     motion          keeps its frame rate and reduces its resolution: 3/4 and 1/2 of each side
///     text, detail    keep their resolution and reduce their frame rate: 3/4, 1/2, 3/8, 1/4 … to one per second;
///                     if that does not suffice, the quality below readable, and then the resolution
///
///                     coarse, too large, or too slow over 2 s
///     step ──────────────────────────────────────────────────────▶ the next step
///          (too slow: first the encoder's fastest speed, if it has one)
///          ◀──────────────────────────────────────────────────────
///                     fine and fast over 5 s and more; all steps if the content is idle
///                     or the bitrate is higher by half
///
/// The thresholds are the coarseness at which libwebrtc's scaler steps, 29 and 95 of VP8's 127. They are so far apart
/// that the gain of a step of resolution is no reason to undo it. The coarseness of frames at a lower frame rate does
/// not predict that at a higher one: motion between frames is larger, and costs as much per second. So frame rate is
/// increased as a trial if frames are not too coarse. A step up that must be undone soon doubles the time until the
/// next one.
struct QualityGovernor {
    /// The mean coarseness above which frames are too coarse.
    static let coarse = 95
    /// The coarseness up to which there is room for more.
    static let fine = 29
    /// The fraction of frames dropped by the rate control that is too high.
    static let droppedShare = 0.6
    /// The coarseness of changes up to which they are finer than necessary, while there are fewer frames than the
    /// source provides.
    static let plentiful = 60
    /// The ratio of bits to the target above which there are too many.
    static let overshoot = 1.25
    /// The fraction of a frame's time in the encoder that is too much for this machine (libwebrtc's overuse threshold).
    static let highUsage = 0.85
    /// The fraction of the time in the encoder below which the machine is fast enough. A few slow frames between long rests,
    /// such as a slide that fades in, don't require less quality or another codec.
    static let leastBusyShare = 0.5
    /// The fraction of a frame's time that leaves room for half as much again.
    static let lowUsage = 0.42
    /// The duration of measurements before a step down.
    static let window = Duration.seconds(2)
    static let windowFrames = 4
    /// The time after a key frame in which motion is as meaningless for measurements as the key frame.
    static let settling = Duration.seconds(3)
    /// The rate of changes below which each can be sharpened, and fewer frames would not help.
    static let leastRate = 2.0
    /// The frame rate below which fewer frames give each no more bits, so that only too many bits reduce it further.
    static let fewestForQuality = 5.0
    /// The ratio to the bitrate at the step down above which the quality restarts without steps.
    static let recovery = 1.5
    /// The ratio above which a restart is tried, whatever frames of another size predict.
    static let plenty = 3.0
    /// The time for which frames must be fine before a step up.
    static let firstPatience = Duration.seconds(5)
    static let longestPatience = Duration.seconds(60)
    /// The minimum number of pixels, below which resolution is not reduced.
    static let fewestPixels = 320 * 180

    /// The measurement of an encoded frame.
    struct Sample {
        let coarseness: Int
        let byteCount: Int
        /// The time of conversion and encoding.
        let effort: Duration
        var isKeyFrame: Bool
        /// Whether the frame showed a change.
        let isChange: Bool
        /// The time for which the frame was delayed until the bits before it were paid for.
        var wait = Duration.zero
        /// The coarseness of text at the frame's quantizer, by which its size changes; nil for the same.
        var quantizerCoarseness: Int?
    }

    struct Measurement {
        let now: Duration
        /// The sample; nil if the rate control dropped the frame.
        let sample: Sample?
    }

    private(set) var hint: ContentHint
    private(set) var limit: Double
    private(set) var bitsPerSecond: Int
    /// The reasons of the steps that were taken.
    var steps: [QualityLimitationReason] = []
    /// The size without any step.
    private(set) var fullSize: PixelSize?
    var recent: [Measurement] = []
    private var fineSince: Duration?
    /// The time of the latest frame with a change.
    private var movedSince: Duration?
    private var patience = Self.firstPatience
    private var lastUp: Duration?
    private var keyFrameAt: Duration?
    /// The target at the last step down.
    var bitsAtStep = 0
    /// The start of the period with enough bits for a restart.
    private var recoveredAt: Duration?
    /// The time of a decrease of the bitrate that was not evaluated yet.
    var fellAt: Duration?
    private var isPaused = false
    /// The latest frame with a change.
    var newest: Sample?
    /// Whether the encoder uses its fastest speed, because the machine is too slow. This is tried before any other
    /// reduction.
    private(set) var isHurried = false
    private let hasFasterSpeed: Bool
    /// Whether frames are late or coarse because of too few bits, even without a step.
    var isShortOfBits = false
    private var clock = QualityLimitationClock()
    /// The value of `qualityLimitationResolutionChanges`.
    private(set) var resolutionChanges = 0

    /// Creates a governor. Without `hasFasterSpeed`, a machine that is too slow leads to the first step at once.
    init(hint: ContentHint, framesPerSecond: Double, bitsPerSecond: Int, hasFasterSpeed: Bool = true) {
        self.hint = hint
        self.hasFasterSpeed = hasFasterSpeed
        limit = framesPerSecond
        self.bitsPerSecond = bitsPerSecond
    }

    /// The current maximum frame rate.
    var framesPerSecond: Double { hint == .motion ? limit : Self.rate(limit, steps: steps.count) }

    /// The maximum frame rate after another step down.
    private var nextFramesPerSecond: Double { Self.rate(limit, steps: steps.count + 1) }

    /// The current steps of resolution.
    var sizeSteps: SizeSteps { sizeSteps(after: steps.count) }

    func sizeSteps(after count: Int) -> SizeSteps {
        SizeSteps(count: hint == .motion ? count : max(count - Self.rateSteps(limit) - 1, 0))
    }

    /// The maximum coarseness of frames: text stays readable as long as fewer frames can help.
    var maximumCoarseness: Int {
        hint == .motion || steps.count > Self.rateSteps(limit) ? Coarseness.coarsest : Coarseness.readable
    }

    /// Returns the current encoded size of frames of `size`.
    func size(for size: PixelSize) -> PixelSize { sizeSteps.apply(to: size) }

    /// The reason why the quality is limited.
    var reason: QualityLimitationReason { isPaused ? .other : steps.last ?? (isShortOfBits ? .bandwidth : .none) }

    /// Returns the time for which each reason applied.
    func durations(now: Duration) -> [QualityLimitationReason: Duration] { clock.read(now: now) }

    /// Applies new settings. A change of the hint resets the steps, since another quality must be reduced.
    mutating func configure(
        hint: ContentHint, framesPerSecond: Double, bitsPerSecond: Int, isPaused: Bool, now: Duration
    ) {
        let isOther = (hint == .motion) != (self.hint == .motion)
        if isOther, fullSize.map({ size(for: $0) }) != fullSize { resolutionChanges += 1 }
        let seen = isOther ? recent : []
        if isOther || isPaused != self.isPaused { startOver() }
        if isOther {
            steps = []
            patience = Self.firstPatience
        }
        self.hint = hint
        setLimit(framesPerSecond)
        let isLess = bitsPerSecond < self.bitsPerSecond
        self.bitsPerSecond = bitsPerSecond
        self.isPaused = isPaused
        if isOther, hint == .motion, !isPaused { beginMotion(after: seen) }
        trackRecovery(now: now)
        if isLess, !isPaused {
            if hint == .motion { fellAt = fellAt ?? now } else { anticipate(now: now) }
        }
        clock.set(reason, now: now)
    }

    /// Sets the maximum frame rate. If it is lower, fewer steps lead to one frame per second: the rest is removed, since it
    /// would reduce quality and resolution instead.
    private mutating func setLimit(_ new: Double) {
        let beyond = max(steps.count - Self.rateSteps(limit), 0)
        limit = new
        guard hint != .motion else { return }
        steps.removeLast(max(steps.count - Self.rateSteps(limit) - beyond, 0))
    }

    /// Restarts the quality if there are far more bits than at the last step down: immediately if that costs nothing,
    /// after a while if it costs a key frame.
    private mutating func trackRecovery(now: Duration) {
        guard steps.last == .bandwidth, Double(bitsPerSecond) > Double(bitsAtStep) * Self.recovery else {
            return recoveredAt = nil
        }
        let since = recoveredAt ?? now
        recoveredAt = since
        guard sizeSteps.count == 0 || now - since >= Self.window else { return }
        let isPlenty = hint != .motion || Double(bitsPerSecond) > Double(bitsAtStep) * Self.plenty
        let count = isPlenty ? steps.count : stepsCovered(by: bitsPerSecond, now: now)
        guard count > 0 else { return }
        patience = Self.firstPatience
        stepUp(count, now: now)
    }

    /// Records an encoded frame, whose size without steps is `size`.
    mutating func encoded(_ sample: Sample, size: PixelSize, now: Duration) {
        var sample = sample
        fullSize = size
        if sample.isKeyFrame { keyFrameAt = now }
        // Motion is coarse and costs many bits until it has replaced what the key frame omitted.
        if hint == .motion, let keyFrameAt, now - keyFrameAt < Self.settling { sample.isKeyFrame = true }
        if sample.isChange || sample.isKeyFrame { newest = sample }
        take(Measurement(now: now, sample: sample))
    }

    /// Records that the rate control dropped a frame.
    mutating func dropped(size: PixelSize, now: Duration) {
        fullSize = size
        take(Measurement(now: now, sample: nil))
    }

    private mutating func take(_ new: Measurement) {
        let now = new.now
        recent.append(new)
        // If there are too few frames for a window in ten seconds, the source is idle.
        recent.removeAll { $0.now < now - .seconds(10) }
        // While a frame is only repeated, earlier measurements do not describe the present.
        if new.sample?.isChange ?? true, let shortage = shortage(now: now) {
            fineSince = nil
            if shortage.reason == .cpu, hasFasterSpeed, !isHurried {
                isHurried = true
                startOver()
            } else {
                stepDown(shortage, now: now)
            }
        } else if leavesRoom(new) {
            let since = fineSince ?? now
            fineSince = since
            if new.sample?.isChange != false { movedSince = now }
            if now - since >= (isPlenty(new) ? patience / 5 : patience) {
                stepUp(movedSince.map { $0 < since } ?? true ? steps.count : min(steps.count, 1), now: now)
            }
        } else {
            fineSince = nil
        }
        trackRecovery(now: now)
        recordShortage(now: now)
        // Measurements older than the window were evaluated.
        while recent.count > Self.windowFrames * 2, recent[0].now < now - Self.window { recent.removeFirst() }
        clock.set(reason, now: now)
    }

    struct Shortage {
        let reason: QualityLimitationReason
        /// The ratio of required to available bits.
        var factor = 1.0
    }

    /// Returns the resource that does not suffice; nil if all do, or too few frames were measured.
    private func shortage(now: Duration) -> Shortage? {
        guard let first = recent.first?.now, now - first >= Self.window else { return nil }
        // Sharpening of an idle frame can cost any amount, and key frames are coarse at first.
        let changes = ChangeSums(recent[...])
        let dropped = recent.count { $0.sample == nil }
        let seconds = (now - first) / .seconds(1)
        guard changes.count + dropped >= Self.windowFrames,
            Double(changes.count + dropped) >= seconds * min(Self.leastRate, framesPerSecond * 0.75)
        else { return nil }
        if Double(dropped) >= Double(recent.count) * Self.droppedShare {
            return Shortage(reason: .bandwidth)
        }
        guard changes.count > 0 else { return nil }
        // The first frame of the window was paid for by the time before it. A finer quantizer than necessary is not a
        // reason: a coarser one is chosen automatically.
        let paid = ChangeSums(recent.dropFirst())
        // Without delays the frames would have come sooner, and taken as many bits.
        let waits = paid.wait / .seconds(1)
        let overshoot = paid.bits / max(Double(bitsPerSecond) * max(seconds - waits, seconds / 32), 1)
        if changes.coarseness > Self.coarse || overshoot > Self.overshoot {
            return Shortage(reason: .bandwidth, factor: overshoot)
        }
        guard usage(changes.effort / changes.count) > Self.highUsage else { return nil }
        let effort = recent.dropFirst().reduce(.zero) { $0 + ($1.sample?.effort ?? .zero) }
        return effort / .seconds(1) >= seconds * Self.leastBusyShare ? Shortage(reason: .cpu) : nil
    }

    private func leavesRoom(_ taken: Measurement) -> Bool {
        guard !steps.isEmpty || isHurried, let sample = taken.sample else { return false }
        // An idle frame needs no more than it has. A codec's quantizer then varies, since hardly anything is coded with
        // it.
        guard sample.isChange else { return sample.coarseness <= Self.coarse }
        guard sample.wait / .seconds(1) * framesPerSecond < 0.5 else { return false }
        var (effort, count) = (Duration.zero, 0)
        for case let sample? in recent.lazy.map(\.sample) {
            effort += sample.effort
            count += 1
        }
        let usage = usage(effort / max(count, 1))
        if steps.isEmpty { return usage <= Self.lowUsage }
        if steps.last == .cpu {
            return sample.coarseness <= (Self.fine + Self.coarse) / 2 && usage <= Self.lowUsage
        }
        let coarsest = hint == .motion || sizeSteps.count > 0 ? Self.fine : Self.coarse
        return sample.coarseness <= coarsest && usage <= Self.highUsage
    }

    /// Whether frames are much finer than necessary, because there are fewer of them for lack of bits.
    private func isPlenty(_ taken: Measurement) -> Bool {
        guard steps.last == .bandwidth, hint != .motion, let sample = taken.sample else { return false }
        return sample.isChange && sample.coarseness <= Self.plentiful
    }

    /// Returns the fraction of a frame's time that `effort` takes.
    private func usage(_ effort: Duration) -> Double { effort / .seconds(1) * framesPerSecond }

    mutating func stepDown(_ shortage: Shortage, now: Duration) {
        let seen = recent.first.map { Double(recent.count) / max((now - $0.now) / .seconds(1), 0.1) } ?? limit
        startOver()
        let before = steps
        if hint == .motion {
            // Far too many bits require both at once, since each step costs a key frame.
            for _ in 0..<(shortage.factor > 3 ? 2 : 1) { reduceResolution(shortage.reason) }
        } else {
            // A source with fewer frames than the limit is not affected by a step above its own rate. Far too many bits
            // require more than one step, down to a quarter at a time.
            let wanted = seen / min(max(shortage.factor, 1), 4)
            let goesLow =
                shortage.reason == .cpu
                || shortage.factor > Self.overshoot && nextFramesPerSecond < Self.fewestForQuality
            let fewest = goesLow ? 1 : min(Self.fewestForQuality, framesPerSecond)
            while framesPerSecond > 1, nextFramesPerSecond >= fewest, steps == before || framesPerSecond >= wanted {
                steps.append(shortage.reason)
            }
            if steps == before, goesLow, shortage.reason == .bandwidth, steps.count >= Self.rateSteps(limit) {
                if steps.count == Self.rateSteps(limit) {
                    steps.append(.bandwidth)
                } else {
                    reduceResolution(.bandwidth)
                }
            }
        }
        stepped(from: before)
        guard steps != before else { return }
        guard let lastUp else { return }
        patience = now - lastUp < patience * 2 ? min(patience * 2, Self.longestPatience) : Self.firstPatience
    }

    /// Records the bitrate at which a step was taken.
    mutating func stepped(from before: [QualityLimitationReason]) {
        if steps != before { bitsAtStep = bitsPerSecond }
    }

    mutating func reduceResolution(_ reason: QualityLimitationReason) {
        guard let fullSize, sizeSteps(after: steps.count + 1).apply(to: fullSize) != size(for: fullSize) else { return }
        steps.append(reason)
        resolutionChanges += 1
    }

    /// Takes steps up, all of them if the frame is idle and the excess is over.
    private mutating func stepUp(_ count: Int, now: Duration) {
        startOver()
        let before = fullSize.map { size(for: $0) }
        steps.removeLast(count)
        if steps.isEmpty { isHurried = false }
        lastUp = now
        if fullSize.map({ size(for: $0) }) != before { resolutionChanges += 1 }
    }

    /// Removes measurements that do not describe the future.
    mutating func startOver() {
        recent = []
        fineSince = nil
        recoveredAt = nil
        isShortOfBits = false
    }

    /// The steps of resolution: 3/4 of each side, then 2/3 of that.
    struct SizeSteps: Equatable {
        let count: Int

        func apply(to size: PixelSize) -> PixelSize {
            var result = size
            for (numerator, denominator) in [(3, 4), (1, 2)].prefix(count) {
                let bound = PixelSize(
                    width: size.width * numerator / denominator, height: size.height * numerator / denominator)
                let next = size.fitted(within: bound)
                guard next.area >= fewestPixels else { break }
                result = next
            }
            return result
        }
    }

    /// Returns the number of steps down to one frame per second.
    static func rateSteps(_ limit: Double) -> Int {
        (0..<32).first { rate(limit, steps: $0) <= min(limit, 1) } ?? 32
    }

    /// Returns the frame rate after steps of 3/4 and 2/3 alternately, at least one per second and at most the limit.
    private static func rate(_ limit: Double, steps: Int) -> Double {
        var rate = limit
        for step in 0..<min(steps, 32) { rate *= step.isMultiple(of: 2) ? 0.75 : 2.0 / 3 }
        return min(limit, max(rate, 1))
    }
}
