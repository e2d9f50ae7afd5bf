internal import Glibc
internal import RTCShareMedia
internal import RTCShareWireFormat

/// The state that the encoder's thread shares with its callers.
struct EncoderControl {
    private(set) var settings: VideoEncoder.Settings
    var cadence: FrameCadence
    private(set) var governor: QualityGovernor
    /// What may be made, and was.
    private var ledger = BitLedger()
    /// When the last picture that showed something new was taken up, and how long after the one before.
    private var lastChange: (time: Duration, interval: Duration)?
    private var sourceHint = ContentHint.none
    private var motion = MotionDetector()
    /// Of the pictures encoded of late, the part in which little was found to have changed.
    private var smallShare = 0.0
    private var isMuted = false
    var slot: VideoFrame?
    /// The encoder's thread, once it runs.
    var thread: pthread_t?
    var endings: [(any Error)?] = []
    /// Whose pictures are encoded. Nothing is taken from any other, nor does a picture of another come out.
    private(set) var input: EncoderInput?
    /// Whether that has given one.
    private(set) var hasPicture = false
    private(set) var isStopping = false
    var statistics = VideoEncoderStatistics()
    var encodedRate = RateCounter()
    var receivedRate = RateCounter()

    init(settings: VideoEncoder.Settings, now: Duration) {
        self.settings = settings
        cadence = FrameCadence(framesPerSecond: settings.framesPerSecond)
        cadence.isPaused = settings.bitrate <= .zero
        let bitsPerSecond = Int(settings.bitrate.bitsPerSecond)
        governor = QualityGovernor(
            hint: .detail, framesPerSecond: settings.framesPerSecond, bitsPerSecond: bitsPerSecond)
        settingsDidChange(now: now)
    }

    /// What the pictures are, by the settings or else by their source; what nobody knows, by how they move.
    var hint: ContentHint {
        guard isHintFound else { return saidHint }
        return settings.heuristics.contains(.motionDetector) ? motion.hint : .detail
    }

    private var saidHint: ContentHint {
        let hint = settings.hint ?? sourceHint
        return hint == .none ? settings.assumedHint ?? .none : hint
    }

    private var isGoverned: Bool { settings.heuristics.contains(.qualityGovernor) }

    /// Whether nobody said what the pictures are.
    private var isHintFound: Bool { saidHint == .none }

    /// The picture that the cadence named is taken up.
    mutating func begin(new: Bool, now: Duration) {
        cadence.begin(new: new, now: now)
        ledger.pass(to: now)
        guard new else { return }
        if isGoverned { governor.willEncode(after: cadence.currentWait, now: now) }
        cadence.framesPerSecond = governor.framesPerSecond
    }

    /// The parameters of the next frame.
    func order(isNew: Bool) -> EncodingOrder {
        var order = EncodingOrder(
            settings: settings, hint: hint, isCamera: saidHint == .motion, input: input, ledger: ledger,
            governor: governor, isNew: isNew)
        // What a film or a camera shows goes nowhere as a whole: less is found, for three times the effort, which is only worth
        // it where bits are short for what its user says is motion.
        let isFar = hint == .motion ? governor.reason == .bandwidth && !isHintFound : governor.reason != .cpu
        if isNew, isFar, settings.heuristics.contains(.motionSearch) {
            order.searchInterval = max(lastChange?.interval ?? .zero, .seconds(1) / order.framesPerSecond)
        }
        return order
    }

    /// Whether the source that the order was for is still the one.
    func isCurrent(_ order: EncodingOrder) -> Bool { order.input === input }

    /// Takes pictures of another source from now on, and returns the input of the one before.
    mutating func show(_ new: EncoderInput?) -> EncoderInput? {
        guard !isStopping else { return nil }
        defer { input = new }
        hasPicture = false
        return input
    }

    /// Takes nothing more, and gives nothing more out; returns the input.
    mutating func end() -> EncoderInput? {
        defer { isStopping = true }
        return show(nil)
    }

    /// Forgets what the source before gave, and returns it: the frame that waited, and ends that were not passed on yet.
    mutating func forgetPicture(now: Duration) -> (VideoFrame?, [(any Error)?]) {
        motion = MotionDetector()
        smallShare = 0
        cadence.forgetPicture()
        settingsDidChange(now: now)
        return (dropFrame(), takeEndings())
    }

    /// Returns the frame that waits, which is not encoded any more.
    mutating func dropFrame() -> VideoFrame? {
        defer { slot = nil }
        if slot != nil { statistics.framesDropped += 1 }
        return slot
    }

    /// What a frame is of use for now.
    func demand(now: Duration) -> FrameDemand {
        if cadence.isPaused { return .nothing }
        return slot != nil && cadence.keepsWaiting(now: now) ? .nothing : .changes
    }

    /// Puts the frame into the slot and gives back the one that it replaced.
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

    /// What a line of text or a pointer may cover, of all pixels.
    private static let smallArea = 64 * 256

    /// Whether so little changed that it takes next to no bits: by what the source says, and where that is much, as by a
    /// program that draws all of its window anew for a letter, by what was found of late. What becomes sharp part by part
    /// brings a part along, which is to be paid.
    private func isSmall(_ frame: VideoFrame) -> Bool {
        smallShare > Self.mostlySmall && !cadence.isUnfinished
            || frame.damage.map { $0.reduce(0) { $0 + $1.size.area } <= Self.smallArea } ?? false
    }

    /// One picture in which much changed, a page for instance, is an exception; a second is none.
    private static let mostlySmall = 0.7
    private static let weightOfOne = 0.2

    mutating func apply(_ new: VideoEncoder.Settings, now: Duration) {
        let before = (settings.maximumSize, settings.turnsPictures, hint)
        settings = new
        if before != (new.maximumSize, new.turnsPictures, hint) { cadence.settingsChanged() }
        settingsDidChange(now: now)
    }

    /// The source says what its pictures are.
    mutating func sourceHintDidChange(_ new: ContentHint, now: Duration) {
        let before = hint
        sourceHint = new
        hintMayHaveChanged(from: before, now: now)
    }

    /// A picture was encoded of which this part was new; nil where it was the one before.
    mutating func didEncode(newShare: Double?, now: Duration) {
        let before = hint
        if let newShare, let size = statistics.size {
            let isSmall = newShare * Double(size.area) <= Double(Self.smallArea)
            smallShare += ((isSmall ? 1 : 0) - smallShare) * Self.weightOfOne
        }
        if let newShare { motion.update(newShare: newShare, now: now) } else { motion.update(now: now) }
        hintMayHaveChanged(from: before, now: now)
    }

    private mutating func hintMayHaveChanged(from before: ContentHint, now: Duration) {
        guard hint != before else { return }
        cadence.settingsChanged()
        settingsDidChange(now: now)
    }

    /// Nothing is encoded, or again: then the newest frame at once.
    mutating func setMuted(_ new: Bool, now: Duration) {
        guard new != isMuted else { return }
        isMuted = new
        if !new { cadence.resume(now: now) }
        settingsDidChange(now: now)
    }

    /// What was encoded waits to leave, or waits no longer.
    mutating func queueDidFill(_ isFull: Bool, now: Duration) {
        cadence.queueDidFill(isFull, now: now)
    }

    private mutating func settingsDidChange(now: Duration) {
        let bitsPerSecond = Int(settings.bitrate.bitsPerSecond)
        if (settings.bitrate, settings.burstRate) != (ledger.bitrate, ledger.burstRate) {
            ledger.setRates(settings.bitrate, burst: settings.burstRate, now: now)
            holdForDebt()
        }
        cadence.isPaused = settings.bitrate <= .zero || isMuted
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

/// What one picture is to be encoded with.
struct EncodingOrder {
    let settings: VideoEncoder.Settings
    let hint: ContentHint
    let framesPerSecond: Double
    /// Whose picture it is.
    let input: EncoderInput?
    /// The coarsest quantizer, 0 to 63.
    let maximumQuantizer: Int
    /// libvpx's cpu-used where nothing is to be looked for.
    let speed: Int
    /// How libvpx goes about it.
    let tuning: VP8Encoder.Tuning
    /// The bits that there are.
    let ledger: BitLedger
    /// How far away the next picture is, where it is worth finding out where things moved to.
    var searchInterval: Duration?
    private let sizeSteps: QualityGovernor.SizeSteps

    init(
        settings: VideoEncoder.Settings, hint: ContentHint, isCamera: Bool, input: EncoderInput?,
        ledger: BitLedger, governor: QualityGovernor, isNew: Bool
    ) {
        self.settings = settings
        self.ledger = ledger
        self.input = input
        self.hint = hint
        // A frame's share of the bits grows as frames become fewer; but no burst of a second's bits comes of that. A
        // picture that rests is sharpened at the full rate.
        let fewer = max(governor.framesPerSecond, min(settings.framesPerSecond, 5))
        // A peer may ask for less than an encoder knows (RFC 7741 §6.1, `max-fr`).
        framesPerSecond = max(
            isNew ? fewer : settings.framesPerSecond, VP8Encoder.Configuration.smallestFramesPerSecond)
        sizeSteps = governor.sizeSteps
        maximumQuantizer = governor.maximumQuantizer
        tuning = settings.tuning ?? (isCamera ? .camera : .screen)
        let usualSpeed = settings.speed ?? (isCamera ? Self.cameraSpeed : Self.screenSpeed)
        speed = governor.isHurried ? min(usualSpeed, Self.hurriedSpeed) : usualSpeed
    }

    /// What a camera takes is worth some more looking for where things moved to (`rtcbench camera`).
    private static let cameraSpeed = -5
    private static let screenSpeed = -8

    /// As fast as libvpx can be.
    private static let hurriedSpeed = -16

    /// The picture's size as it would be if all sufficed, and as it is to be now; before a turn or after, as asked for.
    func sizes(for frame: VideoFrame) -> (full: PixelSize, now: PixelSize) {
        var bound = settings.maximumSize
        var size = frame.outputSize
        if frame.rotation.swapsSides {
            // The bound is for the picture as it is seen.
            if settings.turnsPictures { size = size.transposed } else { bound = bound.transposed }
        }
        let full = size.fitted(within: bound)
        return (full, sizeSteps.apply(to: full))
    }
}

extension PixelSize {
    fileprivate var transposed: PixelSize { PixelSize(width: height, height: width) }
}

extension EncoderControl {
    /// The ends of the source that nobody was told of yet.
    mutating func takeEndings() -> [(any Error)?] {
        defer { endings = [] }
        return endings
    }

    /// Notes a frame that goes before the one of its picture.
    mutating func countPreceding(_ frame: EncodedVideoFrame) {
        statistics.framesEncoded += 1
        statistics.partialUpdatesEncoded += frame.isPartialUpdate ? 1 : 0
        statistics.bytesEncoded += frame.data.count
        statistics.qpSum += frame.quantizer
    }

    /// Notes what became of a picture, which was begun and ended at these times, and of the order's ledger.
    mutating func count(
        _ outcome: VP8Encoder.Outcome, ledger spent: BitLedger, isRepetition: Bool, fullSize: PixelSize,
        begin: Duration, end: Duration
    ) {
        ledger = spent
        // They may be others since.
        ledger.setRates(settings.bitrate, burst: settings.burstRate, now: begin)
        holdForDebt()
        let isChange = cadence.isEncodingChange
        switch outcome {
        case .dropped:
            statistics.framesDropped += 1
            cadence.dropped(now: begin)
            // What is given again and left out again is not one more.
            if !isRepetition, isGoverned { governor.dropped(size: fullSize, now: begin) }
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
            encodedRate.count(now: end)
            // What follows a blurred key frame pays for what that left out: it says as little of what comes as a key frame.
            let isKeyFrame = frame.isKeyFrame || cadence.isUnfinished
            cadence.encoded(
                isKeyFrame: frame.isKeyFrame, quantizer: frame.coarsestQuantizer, isUnfinished: frame.isUnfinished,
                isRefining: frame.isPartialUpdate && !isChange, now: begin)
            // Of what scrolls, fewer pictures would show as much that is new: nothing is gained by them.
            let sample = QualityGovernor.Sample(
                quantizer: frame.quantizer, byteCount: frame.data.count, effort: end - begin,
                isKeyFrame: isKeyFrame, isChange: isChange && !frame.isScroll, wait: cadence.currentWait)
            if isGoverned { governor.encoded(sample, size: fullSize, now: begin) }
        }
        cadence.framesPerSecond = governor.framesPerSecond
    }
}

/// Counts what happened in the last second, in memory that does not grow.
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
