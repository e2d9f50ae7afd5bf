internal import RTCShareMedia

/// The reaction to a decreasing bitrate before a frame shows it.
extension QualityGovernor {
    /// The ratio of required bits to the target, at the maximum acceptable coarseness, above which a step is taken
    /// immediately.
    private static let certainOvershoot = 1.5
    /// The time for which a low bitrate must last, since a step of resolution costs a key frame.
    private static let fallTime = Duration.milliseconds(500)
    /// The time of past frames from which future ones are predicted.
    private static let memory = Duration.seconds(2)
    private static let fewestChanges = 4
    /// The coarseness from which a video looks better with fewer pixels that are finer.
    private static let motionCoarseness = 80
    /// The ratio of bits at half the pixels, as measured with a video: each pixel contains more.
    private static let stepGain = 0.75

    /// Reacts to a decreased bitrate. The size and the coarseness of the last frames determine the size of the next
    /// ones at the maximum acceptable coarseness. If it is far too large, the step is taken now and not after a window
    /// of frames.
    mutating func anticipate(now: Duration) {
        guard let demand = demand(now: now), bitsPerSecond > 0 else { return }
        let factor = demand / Double(bitsPerSecond)
        if factor > Self.certainOvershoot { stepDown(Shortage(reason: .bandwidth, factor: factor), now: now) }
    }

    /// Adapts to content that is motion from now on. The size of its frames while it was detail, at a lower rate,
    /// determines the size at the full rate: the necessary steps of resolution are taken immediately, with one key
    /// frame instead of one for each.
    mutating func beginMotion(after seen: [Measurement]) {
        let changes = ChangeSums(seen[...], at: Self.motionCoarseness, orFiner: true)
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

    /// Returns the number of steps of resolution that a bitrate can undo, according to the last frames. Each step back
    /// costs a key frame, and two if it has to be taken again soon. It is zero if too few frames are known.
    func stepsCovered(by bitsPerSecond: Int, now: Duration) -> Int {
        guard let fullSize, let demand = demand(now: now, orFiner: true) else { return 0 }
        let area = Double(size(for: fullSize).area)
        return (0...steps.count).last { count in
            let larger = Double(sizeSteps(after: steps.count - count).apply(to: fullSize).area)
            return demand * larger / area <= Double(bitsPerSecond)
        } ?? 0
    }

    /// Returns the bitrate of motion at the maximum acceptable coarseness; nil if too few frames are known.
    private func demand(now: Duration, orFiner: Bool = false) -> Double? {
        let taken = recent.drop { $0.now <= now - Self.memory }
        guard let first = taken.first?.now, let last = taken.last?.now else { return nil }
        let changes = ChangeSums(taken.dropFirst(), orFiner: orFiner)
        let seconds = (last - first - changes.wait) / .seconds(1)
        guard changes.count >= Self.fewestChanges, seconds > 0 else { return nil }
        return changes.bits / seconds
    }

    /// Records that the next frame waited until the ones before it were paid for. If that takes seconds, frames need
    /// more bits than one per second has, and come too seldom for a window: all steps that the newest one requires are
    /// taken immediately.
    mutating func willEncode(after wait: Duration, now: Duration) {
        if let fall = fellAt, now - fall >= Self.fallTime {
            fellAt = nil
            anticipate(now: now)
        }
        guard wait > Self.window, let newest, bitsPerSecond > 0 else { return }
        func seconds(_ coarseness: Int, area: Double) -> Double {
            newest.bits(at: coarseness) * area / Double(bitsPerSecond)
        }
        let before = steps
        startOver()
        var area = 1.0
        var most = 0.5
        if hint != .motion {
            most = Self.overshoot
            while steps.count < Self.rateSteps(limit) { steps.append(.bandwidth) }
            guard seconds(Self.coarse, area: 1) > most else { return stepped(from: before) }
            if steps.count == Self.rateSteps(limit) { steps.append(.bandwidth) }
        }
        while seconds(Coarseness.coarsest, area: area) > most {
            let count = steps.count
            reduceResolution(.bandwidth)
            guard steps.count > count else { break }
            area *= 0.5
        }
        stepped(from: before)
    }

    /// Records whether the last frames were late or coarse because of too few bits.
    mutating func recordShortage(now: Duration) {
        let taken = recent.drop { $0.now <= now - Self.memory }
        let changes = ChangeSums(taken)
        isShortOfBits =
            (taken.last?.sample?.wait ?? .zero) > Self.memory / 4 || changes.wait > Self.memory / 4
            || changes.count >= Self.fewestChanges && changes.coarseness > Self.coarse
    }
}

extension QualityGovernor.Sample {
    /// Returns the number of bits at another coarseness. A frame that is coarser already counts with its size, unless
    /// `orFiner` is set.
    func bits(at coarse: Int, orFiner: Bool = false) -> Double {
        let bits = Double(byteCount) * 8
        let coarseness = quantizerCoarseness ?? coarseness
        guard coarseness < coarse || orFiner else { return bits }
        return bits * Coarseness.bitRatio(at: coarse, to: coarseness)
    }
}

/// The sums of frames with changes. Key frames, which are coarse at first, are excluded.
struct ChangeSums {
    private(set) var count = 0
    private(set) var effort = Duration.zero
    private(set) var wait = Duration.zero
    /// The number of bits at the given coarseness.
    private(set) var bits = 0.0
    private var sum = 0

    /// The mean coarseness.
    var coarseness: Int { sum / max(count, 1) }

    /// Creates the sums of these measurements; see `QualityGovernor.Sample.bits(at:orFiner:)`. It runs for each frame
    /// and allocates no list.
    init(
        _ taken: ArraySlice<QualityGovernor.Measurement>, at coarse: Int = QualityGovernor.coarse,
        orFiner: Bool = false
    ) {
        for next in taken {
            guard let sample = next.sample, sample.isChange, !sample.isKeyFrame else { continue }
            count += 1
            effort += sample.effort
            wait += sample.wait
            bits += sample.bits(at: coarse, orFiner: orFiner)
            sum += sample.coarseness
        }
    }
}
