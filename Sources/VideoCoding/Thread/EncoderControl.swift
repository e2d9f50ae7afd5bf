internal import Glibc
internal import RTCShareMedia
internal import RTCShareWireFormat

/// The state that the encoder's thread shares with its callers.
struct EncoderControl {
    private(set) var settings: VideoEncoder.Settings
    private let sizeLimits: EncodedSizeLimits
    var cadence: FrameCadence
    private(set) var governor: QualityGovernor
    /// The accounting of bits.
    private var ledger = BitLedger()
    /// The start of the last frame with a change, and the interval before it.
    private var lastChange: (time: Duration, interval: Duration)?
    private var sourceHint = ContentHint.none
    private var motion = MotionDetector()
    /// The fraction of recent frames with only small changes.
    private var smallShare = 0.0
    private var isMuted = false
    var slot: VideoFrame?
    /// The encoder's thread after its start.
    var thread: pthread_t?
    var endings: [(any Error)?] = []
    /// The input of the current source. Frames of other sources are neither received nor passed on.
    private(set) var input: EncoderInput?
    /// Whether the source has provided a frame.
    private(set) var hasPicture = false
    /// The size of the frames for which the encoder is made before the first one.
    var expectedSize: PixelSize?
    private(set) var isStopping = false
    var statistics = VideoEncoderStatistics()
    var encodedRate = RateCounter()
    var receivedRate = RateCounter()

    init(settings: VideoEncoder.Settings, codec: VideoCodec = .all[0], now: Duration) {
        self.settings = settings
        sizeLimits = codec.sizeLimits
        cadence = FrameCadence(framesPerSecond: settings.framesPerSecond)
        let bitsPerSecond = Int(settings.bitrate.bitsPerSecond)
        governor = QualityGovernor(
            hint: .detail, framesPerSecond: settings.framesPerSecond, bitsPerSecond: bitsPerSecond,
            hasFasterSpeed: codec.hasFasterSpeed)
        settingsDidChange(now: now)
    }

    /// The hint for the content: from the settings, or else from the source, or else from motion detection.
    var hint: ContentHint {
        guard isHintFound else { return saidHint }
        return settings.heuristics.contains(.motionDetector) ? motion.hint : .detail
    }

    private var saidHint: ContentHint {
        let hint = settings.hint ?? sourceHint
        return hint == .none ? settings.assumedHint ?? .none : hint
    }

    private var isGoverned: Bool { settings.heuristics.contains(.qualityGovernor) }

    /// Whether neither the settings nor the source have a hint.
    private var isHintFound: Bool { saidHint == .none }

    /// Starts encoding the frame that the cadence named.
    mutating func begin(new: Bool, now: Duration) {
        cadence.begin(new: new, now: now)
        ledger.pass(to: now)
        guard new else { return }
        if isGoverned { governor.willEncode(after: cadence.currentWait, now: now) }
        cadence.framesPerSecond = governor.framesPerSecond
    }

    /// Returns the parameters of the next frame.
    func order(isNew: Bool) -> EncodingOrder {
        var order = EncodingOrder(
            settings: settings, sizeLimits: sizeLimits, hint: hint, isCamera: saidHint == .motion, input: input,
            ledger: ledger, governor: governor, isNew: isNew)
        if isNew { order.changeDuration = cadence.currentChangeDuration }
        // Content of a video or a camera does not move as a whole: the search finds less, for three times the effort,
        // which is only worth it if bits are scarce for content that the user declared as motion.
        let isFar = hint == .motion ? governor.reason == .bandwidth && !isHintFound : governor.reason != .cpu
        if isNew, isFar, settings.heuristics.contains(.motionSearch) {
            order.searchInterval = max(lastChange?.interval ?? .zero, .seconds(1) / order.framesPerSecond)
        }
        return order
    }

    /// Whether the order's source is still the current one.
    func isCurrent(_ order: EncodingOrder) -> Bool { order.input === input }

    /// Sets another source, and returns the input of the previous one.
    mutating func show(_ new: EncoderInput?) -> EncoderInput? {
        guard !isStopping else { return nil }
        defer { input = new }
        hasPicture = false
        return input
    }

    /// Stops receiving and passing on frames. Returns the input.
    mutating func end() -> EncoderInput? {
        defer { isStopping = true }
        return show(nil)
    }

    /// Removes and returns the state of the previous source: the waiting frame, and ends that were not reported yet.
    mutating func forgetPicture(now: Duration) -> (VideoFrame?, [(any Error)?]) {
        motion = MotionDetector()
        motion.resume(found: settings.foundHint, now: now)
        smallShare = 0
        cadence.forgetPicture()
        settingsDidChange(now: now)
        return (dropFrame(), takeEndings())
    }

    /// Removes and returns the waiting frame, which is not encoded any more.
    mutating func dropFrame() -> VideoFrame? {
        defer { slot = nil }
        if slot != nil { statistics.framesDropped += 1 }
        return slot
    }

    /// Returns the current demand for frames.
    func demand(now: Duration) -> FrameDemand {
        if cadence.isPaused { return .nothing }
        return slot != nil && cadence.keepsWaiting(now: now) ? .nothing : .changes
    }

    /// Stores the frame, and returns the one that it replaced.
    mutating func receive(_ frame: VideoFrame, now: Duration) -> VideoFrame? {
        hasPicture = true
        statistics.framesReceived += 1
        statistics.sourceSize = frame.outputSize
        receivedRate.count(now: now)
        let replaced = slot
        if replaced != nil { statistics.framesDropped += 1 }
        let newest = replaced.map { frame.following(missed: $0) } ?? frame
        slot = newest
        cadence.frameArrived(
            timestamp: frame.timestamp, isChange: frame.damage?.isEmpty != true, isSmall: isSmall(newest), now: now
        )
        return replaced
    }

    /// The maximum area of a small change in pixels: a line of text or a pointer.
    private static let smallArea = 64 * 256

    /// Whether a change is so small that it takes almost no bits: according to the source's damage or, if that is large
    /// because a program redraws its whole window for a letter, according to recent changes. Sharpening part by part
    /// adds a part, which must be paid for.
    private func isSmall(_ frame: VideoFrame) -> Bool {
        smallShare > Self.mostlySmall && !cadence.isUnfinished
            || frame.damage.map { $0.reduce(0) { $0 + $1.size.area } <= Self.smallArea } ?? false
    }

    /// The weights let one frame with large changes, such as a page, be an exception, but not two.
    private static let mostlySmall = 0.7
    private static let weightOfOne = 0.2

    mutating func apply(_ new: VideoEncoder.Settings, now: Duration) {
        let before = (settings.maximumSize, settings.sizeDivisor, settings.turnsPictures, hint)
        settings = new
        if before != (new.maximumSize, new.sizeDivisor, new.turnsPictures, hint) { cadence.settingsChanged() }
        settingsDidChange(now: now)
    }

    /// Sets the source's hint.
    mutating func sourceHintDidChange(_ new: ContentHint, now: Duration) {
        let before = hint
        sourceHint = new
        hintMayHaveChanged(from: before, now: now)
    }

    /// Records an encoded frame, of which the fraction `newShare` was new; nil for a repeated one.
    mutating func didEncode(newShare: Double?, now: Duration) {
        let before = hint
        if let newShare, let size = statistics.size {
            let isSmall = newShare * Double(size.area) <= Double(Self.smallArea)
            smallShare += ((isSmall ? 1 : 0) - smallShare) * Self.weightOfOne
        }
        if let newShare {
            motion.update(newShare: newShare, changedAt: cadence.currentChangeAt, now: now)
        } else {
            motion.update(now: now)
        }
        hintMayHaveChanged(from: before, now: now)
    }

    private mutating func hintMayHaveChanged(from before: ContentHint, now: Duration) {
        guard hint != before else { return }
        cadence.settingsChanged()
        settingsDidChange(now: now)
    }

    /// Mutes or unmutes. After unmuting the newest frame is encoded immediately.
    mutating func setMuted(_ new: Bool, now: Duration) {
        guard new != isMuted else { return }
        isMuted = new
        settingsDidChange(now: now)
    }

    /// Sets whether encoded frames are queued.
    mutating func queueDidFill(_ isFull: Bool, now: Duration) {
        cadence.queueDidFill(isFull, now: now)
    }

    private mutating func settingsDidChange(now: Duration) {
        let bitsPerSecond = Int(settings.bitrate.bitsPerSecond)
        if (settings.bitrate, settings.burstRate) != (ledger.bitrate, ledger.burstRate) {
            ledger.setRates(settings.bitrate, burst: settings.burstRate, now: now)
            holdForDebt()
        }
        let isPaused = settings.bitrate <= .zero || isMuted
        if cadence.isPaused, !isPaused { motion.resume(found: settings.foundHint, now: now) }
        cadence.setPaused(isPaused, now: now)
        governor.configure(
            hint: hint, framesPerSecond: settings.framesPerSecond, bitsPerSecond: bitsPerSecond,
            isPaused: cadence.isPaused, now: now)
        cadence.framesPerSecond = governor.framesPerSecond
        cadence.repetitionsPerSecond = settings.framesPerSecond
    }

    private mutating func holdForDebt() {
        cadence.hold(
            until: ledger.readyAt, changesUntil: ledger.readyForChangeAt,
            smallChangesUntil: ledger.readyForSmallChangeAt)
    }
}

/// The parameters of one encoding.
struct EncodingOrder {
    let settings: VideoEncoder.Settings
    let hint: ContentHint
    let framesPerSecond: Double
    /// The input of the frame's source.
    let input: EncoderInput?
    /// The maximum ``Coarseness``.
    let maximumCoarseness: Int
    /// Whether the content is declared as motion, as that of a camera is.
    let isCamera: Bool
    /// Whether the encoder should use its fastest speed.
    let isHurried: Bool
    /// The available bits.
    let ledger: BitLedger
    /// Whether the frame is a new one of the source. A repeated one is encoded even if nothing changed.
    let isNew: Bool
    /// The time until the next frame, if a motion search is worthwhile; otherwise nil.
    var searchInterval: Duration?
    /// The time from the first change that the frame shows to the frame itself.
    var changeDuration = Duration.zero
    private let sizeLimits: EncodedSizeLimits
    private let sizeSteps: QualityGovernor.SizeSteps

    init(
        settings: VideoEncoder.Settings, sizeLimits: EncodedSizeLimits, hint: ContentHint, isCamera: Bool,
        input: EncoderInput?, ledger: BitLedger, governor: QualityGovernor, isNew: Bool
    ) {
        self.settings = settings
        self.sizeLimits = sizeLimits
        self.ledger = ledger
        self.input = input
        self.hint = hint
        self.isNew = isNew
        // A frame's share of the bits grows with fewer frames, but not to a burst of a second's bits. An idle frame is
        // sharpened at the full rate.
        let fewer = max(governor.framesPerSecond, min(settings.framesPerSecond, 5))
        // A peer can request a lower rate than the encoder supports (RFC 7741 §6.1, `max-fr`).
        framesPerSecond = max(
            isNew ? fewer : settings.framesPerSecond, VideoEncoder.Settings.leastFramesPerSecond)
        sizeSteps = governor.sizeSteps
        maximumCoarseness = governor.maximumCoarseness
        self.isCamera = isCamera
        isHurried = governor.isHurried
    }

    /// Returns the frame's full size and its current size, before or after rotation according to the settings.
    func sizes(for frame: VideoFrame) -> (full: PixelSize, now: PixelSize) {
        sizes(for: frame.outputSize, swapsSides: frame.rotation.swapsSides)
    }

    /// Returns the sizes for a frame of this size, whose rotation can swap its sides.
    func sizes(for size: PixelSize, swapsSides: Bool = false) -> (full: PixelSize, now: PixelSize) {
        var (size, bound) = (size, settings.maximumSize)
        if swapsSides {
            // The maximum is for the upright frame.
            if settings.turnsPictures { size = size.transposed } else { bound = bound.transposed }
        }
        size = size.fitted(within: bound)
        if settings.sizeDivisor > 1 { size = size.fitted(within: size.divided(by: settings.sizeDivisor)) }
        let full = sizeLimits.fitting(size)
        return (full, sizeSteps.apply(to: full))
    }
}

extension PixelSize {
    fileprivate var transposed: PixelSize { PixelSize(width: height, height: width) }

    fileprivate func divided(by divisor: Double) -> PixelSize {
        PixelSize(width: max(Int(Double(width) / divisor), 1), height: max(Int(Double(height) / divisor), 1))
    }
}

extension EncoderControl {
    /// Removes and returns the ends of the source that were not reported yet.
    mutating func takeEndings() -> [(any Error)?] {
        defer { endings = [] }
        return endings
    }

    /// Counts a frame that precedes the one of its image.
    mutating func countPreceding(_ frame: EncodedVideoFrame) {
        statistics.framesEncoded += 1
        statistics.partialUpdatesEncoded += frame.isPartialUpdate ? 1 : 0
        statistics.bytesEncoded += frame.data.count
        statistics.qpSum += frame.quantizer
    }

    /// Counts the outcome of a frame, with its start and end times and the order's ledger.
    mutating func count(
        _ outcome: EncodingOutcome, ledger spent: BitLedger, isRepetition: Bool, fullSize: PixelSize,
        begin: Duration, end: Duration
    ) {
        ledger = spent
        // The rates can have changed since.
        ledger.setRates(settings.bitrate, burst: settings.burstRate, now: begin)
        holdForDebt()
        let isChange = cadence.isEncodingChange
        switch outcome {
        case .dropped:
            statistics.framesDropped += 1
            cadence.dropped(now: begin)
            // A repeated frame that is dropped again does not count twice.
            if !isRepetition, isGoverned { governor.dropped(size: fullSize, now: begin) }
        case .unchanged:
            cadence.unchanged()
        case .encoded(let frame):
            if isChange { lastChange = (begin, lastChange.map { begin - $0.time } ?? .zero) }
            let mean = statistics.bytesEncoded / max(statistics.framesEncoded, 1)
            if statistics.framesEncoded > 0, frame.data.count * 2 >= mean * 5 { statistics.hugeFramesSent += 1 }
            statistics.framesEncoded += 1
            statistics.keyFramesEncoded += frame.isKeyFrame ? 1 : 0
            statistics.partialUpdatesEncoded += frame.isPartialUpdate ? 1 : 0
            statistics.framesRepeated += isRepetition ? 1 : 0
            statistics.bytesEncoded += frame.data.count
            statistics.qpSum += frame.quantizer
            if let size = statistics.size, size != frame.size { cadence.sizeChanged(now: begin) }
            statistics.size = frame.size
            statistics.fullSize = fullSize
            encodedRate.count(now: end)
            // Frames after a blurred key frame pay for what it omitted, and predict as little as a key frame.
            let isKeyFrame = frame.isKeyFrame || cadence.isUnfinished
            cadence.encoded(
                isKeyFrame: frame.isKeyFrame, isCoarse: frame.canBeFiner ?? (frame.coarsest > Coarseness.fine),
                isUnfinished: frame.isUnfinished,
                isRefining: frame.becomesFinest && !isChange, now: begin)
            // In scrolling content, fewer frames would show as much new content, without a gain.
            let sample = QualityGovernor.Sample(
                coarseness: frame.coarseness, byteCount: frame.data.count, effort: end - begin,
                isKeyFrame: isKeyFrame, isChange: isChange && !frame.isScroll, wait: cadence.currentWait,
                quantizerCoarseness: frame.quantizerCoarseness)
            if isGoverned { governor.encoded(sample, size: fullSize, now: begin) }
        }
        cadence.framesPerSecond = governor.framesPerSecond
    }
}

/// A counter of events in the last second, with constant memory.
struct RateCounter {
    private static let capacity = 256
    private var times = [Duration](repeating: .seconds(-10), count: Self.capacity)
    private var position = 0

    mutating func count(now: Duration) {
        times[position] = now
        position = (position + 1) % Self.capacity
    }

    func rate(now: Duration) -> Int {
        times.reduce(0) { $0 + ($1 > now - .seconds(1) ? 1 : 0) }
    }
}
