internal import RTCShareMedia

/// What gives way when bits or the machine don't suffice: the rule book, without a clock.
///
///     motion          keeps its frame rate and gives resolution: 3/4 and 1/2 of each side
///     text, detail    keep their resolution and give frame rate: 3/4, 1/2, 3/8, 1/4 … down to one a second;
///                     where even that is too much, quality below what is readable, and resolution last
///
///                     coarse, too large, or too slow over 2 s
///     step ──────────────────────────────────────────────────────▶ the next step
///          (too slow: first libvpx is told to hurry)
///          ◀──────────────────────────────────────────────────────
///                     fine and quick over 5 s and more; to the beginning if the picture rests
///                     or half as many bits again are there
///
/// The quantizers at which libwebrtc's scaler steps are the thresholds, 29 and 95 of VP8's 127: so far apart that what a
/// step of resolution gains is no reason to take it back. How coarse pictures are at a lower frame rate says nothing of
/// them at a higher one: what moves moves further in each, and costs as much a second. So frame rate comes back on trial
/// wherever it isn't too coarse. A step back that has to be taken again soon doubles the time to the next.
struct QualityGovernor {
    /// A mean quantizer above this is too coarse.
    static let coarseQuantizer = 95
    /// The coarsest that there is.
    static let coarsestQuantizer = 127
    /// One up to this leaves room for more.
    static let fineQuantizer = 29
    /// Of the pictures, the share left out by the rate control that is too many.
    static let droppedShare = 0.6
    /// Of what changes, one up to this is finer than need be while there are fewer pictures than the source gives.
    static let plentifulQuantizer = 60
    /// More bits than the target by this factor are too many, and are no longer chance.
    static let overshoot = 1.25
    /// Of a frame's time, the share in the encoder that is too much for this machine (libwebrtc's overuse threshold).
    static let highUsage = 0.85
    /// The share that leaves room for half as much again.
    static let lowUsage = 0.42
    /// What is measured before a step down.
    static let window = Duration.seconds(2)
    static let windowFrames = 4
    /// How long after a key frame what moves says as little as that.
    static let settling = Duration.seconds(3)
    /// Changes a second below which each has the time to be sharpened, and fewer frames would gain nothing.
    static let leastRate = 2.0
    /// Frames a second below which fewer give each no more bits, and only too many bits are a reason for fewer.
    static let fewestForQuality = 5.0
    /// More bits by this factor than at the step down are a reason to begin anew.
    static let recovery = 1.5
    /// More by this factor are one to try it, whatever pictures of another size say.
    static let plenty = 3.0
    /// What has to be fine before a step up.
    static let firstPatience = Duration.seconds(5)
    static let longestPatience = Duration.seconds(60)
    /// The coarsest quantizer, 0 to 63, at which text of a usual size can be read: 106 of VP8's 127.
    static let readableQuantizer = 56
    /// The fewest pixels that resolution is given for.
    static let fewestPixels = 320 * 180

    /// What became of a picture.
    struct Sample {
        let quantizer: Int
        let byteCount: Int
        /// Time spent on conversion and encoding.
        let effort: Duration
        var isKeyFrame: Bool
        /// Whether it showed something new.
        let isChange: Bool
        /// How long it was held until the bits before it were paid for.
        var wait = Duration.zero
    }

    struct Measurement {
        let now: Duration
        /// Nil where the rate control left it out.
        let sample: Sample?
    }

    private(set) var hint: ContentHint
    private(set) var limit: Double
    private(set) var bitsPerSecond: Int
    /// Each step taken, with its reason.
    var steps: [QualityLimitationReason] = []
    /// The size without any step.
    private(set) var fullSize: PixelSize?
    var recent: [Measurement] = []
    private var fineSince: Duration?
    /// When the newest picture came that showed something new.
    private var movedSince: Duration?
    private var patience = Self.firstPatience
    private var lastUp: Duration?
    private var keyFrameAt: Duration?
    /// The target at the last step down.
    var bitsAtStep = 0
    /// Since when there are bits enough to begin anew.
    private var recoveredAt: Duration?
    /// When the bitrate fell, and nothing was concluded from it yet.
    var fellAt: Duration?
    private var isPaused = false
    /// The newest picture that showed something new.
    var newest: Sample?
    /// The machine has no time to look for the best way to code a picture: tried before anything else gives way to it.
    private(set) var isHurried = false
    /// Pictures are late or coarse for want of bits, whether or not a step was taken for it.
    var isShortOfBits = false
    private var clock = QualityLimitationClock()
    /// `qualityLimitationResolutionChanges`.
    private(set) var resolutionChanges = 0

    init(hint: ContentHint, framesPerSecond: Double, bitsPerSecond: Int) {
        self.hint = hint
        limit = framesPerSecond
        self.bitsPerSecond = bitsPerSecond
    }

    /// Frames a second at most, now.
    var framesPerSecond: Double { hint == .motion ? limit : Self.rate(limit, steps: steps.count) }

    /// Frames a second at most, a step further down.
    private var nextFramesPerSecond: Double { Self.rate(limit, steps: steps.count + 1) }

    /// What is done to sizes, now.
    var sizeSteps: SizeSteps { sizeSteps(after: steps.count) }

    func sizeSteps(after count: Int) -> SizeSteps {
        SizeSteps(count: hint == .motion ? count : max(count - Self.rateSteps(limit) - 1, 0))
    }

    /// The coarsest quantizer that is used, 0 to 63: text stays readable while fewer pictures are a way out.
    var maximumQuantizer: Int {
        hint == .motion || steps.count > Self.rateSteps(limit) ? 63 : Self.readableQuantizer
    }

    /// The size that pictures of `size` are encoded at, now.
    func size(for size: PixelSize) -> PixelSize { sizeSteps.apply(to: size) }

    /// Why it is less than it could be.
    var reason: QualityLimitationReason { isPaused ? .other : steps.last ?? (isShortOfBits ? .bandwidth : .none) }

    /// How long each reason has held.
    func durations(now: Duration) -> [QualityLimitationReason: Duration] { clock.read(now: now) }

    /// Takes new settings. Another hint begins anew: what gave way before is not what should.
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
        limit = framesPerSecond
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

    /// Far more bits than at the last step down begin anew: at once where that costs nothing, after a while where it takes
    /// a key frame.
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

    /// A picture wanted at `size` was encoded.
    mutating func encoded(_ sample: Sample, size: PixelSize, now: Duration) {
        var sample = sample
        fullSize = size
        if sample.isKeyFrame { keyFrameAt = now }
        // What moves is coarse and dear for as long as it makes up for what the key frame left out.
        if hint == .motion, let keyFrameAt, now - keyFrameAt < Self.settling { sample.isKeyFrame = true }
        if sample.isChange || sample.isKeyFrame { newest = sample }
        take(Measurement(now: now, sample: sample))
    }

    /// The rate control left a picture out.
    mutating func dropped(size: PixelSize, now: Duration) {
        fullSize = size
        take(Measurement(now: now, sample: nil))
    }

    private mutating func take(_ new: Measurement) {
        let now = new.now
        recent.append(new)
        // Without a window's worth of pictures in ten seconds the source rests.
        recent.removeAll { $0.now < now - .seconds(10) }
        // While a picture is only repeated, what came before says nothing of now.
        if new.sample?.isChange ?? true, let shortage = shortage(now: now) {
            fineSince = nil
            if shortage.reason == .cpu, !isHurried {
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
        // What is older than the window has been judged.
        while recent.count > Self.windowFrames * 2, recent[0].now < now - Self.window { recent.removeFirst() }
        clock.set(reason, now: now)
    }

    struct Shortage {
        let reason: QualityLimitationReason
        /// How many times more bits were taken than there are.
        var factor = 1.0
    }

    /// What doesn't suffice; nil where all does, or too little was seen.
    private func shortage(now: Duration) -> Shortage? {
        guard let first = recent.first?.now, now - first >= Self.window else { return nil }
        // What is sharpened while it stays costs as much as it likes, and key frames are begun coarse.
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
        // The first of the window was paid for by the time before it. A finer quantizer than need be is no reason: a coarser
        // one is taken by itself.
        let paid = ChangeSums(recent.dropFirst())
        // Had none been held they would have come sooner, and taken as much.
        let waits = paid.wait / .seconds(1)
        let overshoot = paid.bits / max(Double(bitsPerSecond) * max(seconds - waits, seconds / 32), 1)
        if changes.quantizer > Self.coarseQuantizer || overshoot > Self.overshoot {
            return Shortage(reason: .bandwidth, factor: overshoot)
        }
        return usage(changes.effort / changes.count) > Self.highUsage ? Shortage(reason: .cpu) : nil
    }

    private func leavesRoom(_ taken: Measurement) -> Bool {
        guard !steps.isEmpty || isHurried, let sample = taken.sample else { return false }
        // What only rests needs no more than it has; libvpx's quantizer then wanders, as hardly anything is coded by it.
        guard sample.isChange else { return sample.quantizer <= Self.coarseQuantizer }
        guard sample.wait / .seconds(1) * framesPerSecond < 0.5 else { return false }
        var (effort, count) = (Duration.zero, 0)
        for case let sample? in recent.lazy.map(\.sample) {
            effort += sample.effort
            count += 1
        }
        let usage = usage(effort / max(count, 1))
        if steps.isEmpty { return usage <= Self.lowUsage }
        if steps.last == .cpu {
            return sample.quantizer <= (Self.fineQuantizer + Self.coarseQuantizer) / 2 && usage <= Self.lowUsage
        }
        let coarsest = hint == .motion || sizeSteps.count > 0 ? Self.fineQuantizer : Self.coarseQuantizer
        return sample.quantizer <= coarsest && usage <= Self.highUsage
    }

    /// Whether pictures are far finer than would do, since they are fewer for want of bits.
    private func isPlenty(_ taken: Measurement) -> Bool {
        guard steps.last == .bandwidth, hint != .motion, let sample = taken.sample else { return false }
        return sample.isChange && sample.quantizer <= Self.plentifulQuantizer
    }

    /// Of a frame's time, the part that `effort` takes.
    private func usage(_ effort: Duration) -> Double { effort / .seconds(1) * framesPerSecond }

    mutating func stepDown(_ shortage: Shortage, now: Duration) {
        let seen = recent.first.map { Double(recent.count) / max((now - $0.now) / .seconds(1), 0.1) } ?? limit
        startOver()
        let before = steps
        if hint == .motion {
            // Far too many bits want both at once: each step is a key frame.
            for _ in 0..<(shortage.factor > 3 ? 2 : 1) { reduceResolution(shortage.reason) }
        } else {
            // A source that gives fewer frames than the limit feels no step above its own rate. Far too many
            // bits want more than one step, down to a quarter at a time.
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

    /// Notes at which bitrate a step was taken.
    mutating func stepped(from before: [QualityLimitationReason]) {
        if steps != before { bitsAtStep = bitsPerSecond }
    }

    mutating func reduceResolution(_ reason: QualityLimitationReason) {
        guard let fullSize, sizeSteps(after: steps.count + 1).apply(to: fullSize) != size(for: fullSize) else { return }
        steps.append(reason)
        resolutionChanges += 1
    }

    /// A step, or back to the beginning where the picture rests: what was too much is over.
    private mutating func stepUp(_ count: Int, now: Duration) {
        startOver()
        let before = fullSize.map { size(for: $0) }
        steps.removeLast(count)
        if steps.isEmpty { isHurried = false }
        lastUp = now
        if fullSize.map({ size(for: $0) }) != before { resolutionChanges += 1 }
    }

    /// What was measured says nothing of what comes.
    mutating func startOver() {
        recent = []
        fineSince = nil
        recoveredAt = nil
        isShortOfBits = false
    }

    /// Steps of resolution: each side's 3/4, then 2/3 of that.
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

    /// How many steps there are down to one frame a second.
    static func rateSteps(_ limit: Double) -> Int {
        (0..<32).first { rate(limit, steps: $0) <= min(limit, 1) } ?? 32
    }

    /// 3/4 and 2/3 by turns, but one a second at least, and never more than the limit.
    private static func rate(_ limit: Double, steps: Int) -> Double {
        var rate = limit
        for step in 0..<min(steps, 32) { rate *= step.isMultiple(of: 2) ? 0.75 : 2.0 / 3 }
        return min(limit, max(rate, 1))
    }
}
