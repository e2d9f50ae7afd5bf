internal import Glibc
internal import RTCShareMedia

/// What follows from a bitrate that falls, before a picture shows it.
extension QualityGovernor {
    /// What the bits a second have to be above the target, at the coarsest quantizer that is wanted, for a step at once.
    private static let certainOvershoot = 1.5
    /// A step of resolution is a key frame: it is taken for a bitrate that stays low for so long.
    private static let fallTime = Duration.milliseconds(500)
    /// The time by which what comes is judged.
    private static let memory = Duration.seconds(2)
    private static let fewestChanges = 4
    /// What is coarser looks no better than fewer pixels of a film, coded finer, but takes more time.
    private static let motionQuantizer = 80
    /// Half the pixels take so much of the bits, as measured with a film: each holds more.
    private static let stepGain = 0.75

    /// The bitrate fell: what the last pictures took, at the quantizers that they had, says what the next would take at the
    /// coarsest that is wanted. Where that is too much by far, the step is taken now, and not after a window of it.
    mutating func anticipate(now: Duration) {
        guard let demand = demand(now: now), bitsPerSecond > 0 else { return }
        let factor = demand / Double(bitsPerSecond)
        if factor > Self.certainOvershoot { stepDown(Shortage(reason: .bandwidth, factor: factor), now: now) }
    }

    /// What is seen is taken for motion from now on. What pictures of it took when they were detail, and came more seldom
    /// for it, says what they will take at the full rate: the steps of resolution that follow are taken at once, so that
    /// there is one key frame and not one for each.
    mutating func beginMotion(after seen: [Measurement]) {
        let changes = ChangeSums(seen[...], at: Self.motionQuantizer, orFiner: true)
        guard changes.count >= Self.fewestChanges, bitsPerSecond > 0 else { return }
        let bits = changes.bits / Double(changes.count)
        let before = steps
        var factor = bits * limit / Double(bitsPerSecond)
        while factor > Self.overshoot {
            let count = steps.count
            reduceResolution(.bandwidth)
            guard steps.count > count else { break }
            factor *= Self.stepGain
        }
        stepped(from: before)
    }

    /// How many steps of resolution so many bits a second are enough to undo, by what the last pictures took: each step back
    /// is a key frame, and one that has to be taken again soon costs two. None where too little is known.
    func stepsCovered(by bitsPerSecond: Int, now: Duration) -> Int {
        guard let fullSize, let demand = demand(now: now, orFiner: true) else { return 0 }
        let area = Double(size(for: fullSize).area)
        return (0...steps.count).last { count in
            let larger = Double(sizeSteps(after: steps.count - count).apply(to: fullSize).area)
            return demand * larger / area <= Double(bitsPerSecond)
        } ?? 0
    }

    /// Bits a second that what moves would take at the coarsest quantizer that is wanted; nil where too little is known.
    private func demand(now: Duration, orFiner: Bool = false) -> Double? {
        let taken = recent.drop { $0.now <= now - Self.memory }
        guard let first = taken.first?.now, let last = taken.last?.now else { return nil }
        let changes = ChangeSums(taken.dropFirst(), orFiner: orFiner)
        let seconds = (last - first - changes.wait) / .seconds(1)
        guard changes.count >= Self.fewestChanges, seconds > 0 else { return nil }
        return changes.bits / seconds
    }

    /// The next picture waited so long until those before it were paid for. Where that is seconds, pictures take more than
    /// one a second leaves for each, and come too seldom for a window of them: all that the newest one shows to be needed
    /// is given at once.
    mutating func willEncode(after wait: Duration, now: Duration) {
        if let fall = fellAt, now - fall >= Self.fallTime {
            fellAt = nil
            anticipate(now: now)
        }
        guard wait > Self.window, let newest, bitsPerSecond > 0 else { return }
        func seconds(_ quantizer: Int, area: Double) -> Double {
            newest.bits(at: quantizer) * area / Double(bitsPerSecond)
        }
        let before = steps
        startOver()
        var area = 1.0
        var most = 0.5
        if hint != .motion {
            most = Self.overshoot
            while steps.count < Self.rateSteps(limit) { steps.append(.bandwidth) }
            guard seconds(Self.coarseQuantizer, area: 1) > most else { return stepped(from: before) }
            if steps.count == Self.rateSteps(limit) { steps.append(.bandwidth) }
        }
        while seconds(Self.coarsestQuantizer, area: area) > most {
            let count = steps.count
            reduceResolution(.bandwidth)
            guard steps.count > count else { break }
            area *= 0.5
        }
        stepped(from: before)
    }

    /// Whether what was seen last is late or coarse for want of bits.
    mutating func recordShortage(now: Duration) {
        let taken = recent.drop { $0.now <= now - Self.memory }
        let changes = ChangeSums(taken)
        isShortOfBits =
            (taken.last?.sample?.wait ?? .zero) > Self.memory / 4 || changes.wait > Self.memory / 4
            || changes.count >= Self.fewestChanges && changes.quantizer > Self.coarseQuantizer
    }
}

extension QualityGovernor.Sample {
    /// What it would take at a quantizer: as many bits fewer or more as about the 0.7th power of the quantizer's step, as
    /// measured with text and with noise. What is coarser already counts as it is, but where it is asked for finer.
    func bits(at coarse: Int, orFiner: Bool = false) -> Double {
        let bits = Double(byteCount) * 8
        guard quantizer < coarse || orFiner else { return bits }
        let steps = (Double(Quantizer.step(of: quantizer)), Double(Quantizer.step(of: coarse)))
        return bits * pow(steps.0 / steps.1, 0.7)
    }
}

/// What pictures took together that showed something new, but for key frames, which are begun coarse.
struct ChangeSums {
    private(set) var count = 0
    private(set) var effort = Duration.zero
    private(set) var wait = Duration.zero
    /// At the quantizer that was asked for.
    private(set) var bits = 0.0
    private var quantizers = 0

    /// The mean quantizer index.
    var quantizer: Int { quantizers / max(count, 1) }

    /// Of these; see `QualityGovernor.Sample.bits(at:orFiner:)`. This is asked for with each picture: no list is made.
    init(
        _ taken: ArraySlice<QualityGovernor.Measurement>, at coarse: Int = QualityGovernor.coarseQuantizer,
        orFiner: Bool = false
    ) {
        for next in taken {
            guard let sample = next.sample, sample.isChange, !sample.isKeyFrame else { continue }
            count += 1
            effort += sample.effort
            wait += sample.wait
            bits += sample.bits(at: coarse, orFiner: orFiner)
            quantizers += sample.quantizer
        }
    }
}
