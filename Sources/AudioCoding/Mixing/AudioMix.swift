internal import RTCShareMedia

/// Adds up sounds that come in blocks of their own times: a rule book without threads.
///
/// All are laid on one line of samples. A block of the sum is given when every input reaches beyond it, or when one is so
/// far ahead that the others must be silent. How far that is, each input teaches: a headset's microphone gives its sound
/// 200 ms after what the machine plays at the same time, and some sources give a tenth of a second at once.
struct AudioMix {
    /// How far the foremost input may be ahead of one that is waited for, at least: three blocks.
    static let patience = 3 * blockSize
    /// And at most, 500 ms: who is later than that is not heard.
    static let largestPatience = sampleRate / 2
    /// What is left, after each block, of what an input taught: half is forgotten in ten seconds.
    private static let memory = 0.9986
    /// How far the time of a block may be ahead of the clock. All others would be left behind by one that is further.
    static let largestLead = Duration.milliseconds(500)
    /// How far the time of a block may be behind the clock: what is further behind is of another clock.
    static let largestLag = Duration.seconds(2)
    static let blockSize = 960
    static let sampleRate = 48_000
    static let channels = 2
    /// What a device's clock shifts its blocks by is no gap until it is this much: half a block, so that a block that is
    /// missing is one.
    private static let tolerance = blockSize / 2

    /// Tells when an input's blocks were taken, also of an input whose clock is ahead of this one or far behind it.
    struct InputClock {
        /// What is added to its times.
        private var offset = Duration.zero
        private var hasBegun = false

        /// A block at a time that it can have been taken at: the first of the future is taken for one of now, and those
        /// after it for as much later as they say, until the clock jumps. An input whose first block is of long ago has
        /// another clock; one that falls behind later is late.
        mutating func plausible(_ frame: AudioFrame, now: Duration) -> AudioFrame {
            let (latest, time) = (now + AudioMix.largestLead, frame.timestamp + offset)
            if time > latest || offset != .zero && time < now - AudioMix.largestLead {
                offset = frame.timestamp > latest ? now - frame.timestamp : .zero
            } else if !hasBegun, time < now - AudioMix.largestLag {
                offset = now - frame.timestamp
            }
            hasBegun = true
            return offset == .zero ? frame : frame.stamped(frame.timestamp + offset)
        }
    }

    private struct Input {
        let conformer = AudioConformer(sampleRate: sampleRate, channels: channels, sampleCount: blockSize)
        var clock = InputClock()
        var volume: Float
        /// What waits, in order; between two stretches is silence.
        var stretches: [Stretch] = []
        /// Where the last block ended; nil before the first.
        var end: Int?
        /// By how much the foremost input was ahead of the end of this one's blocks when they came: the most, forgotten
        /// slowly.
        var lag = 0.0

        /// How far the foremost may be ahead before this one is left behind.
        var patience: Int { min(max(AudioMix.patience, Int(lag) + blockSize), largestPatience) }

        mutating func learn(lag new: Int) {
            lag *= memory
            // Sound of long ago is no measure of what comes.
            if new <= largestPatience { lag = max(lag, Double(new)) }
        }
    }

    /// Sound without a gap: interleaved samples from `position` on.
    private struct Stretch {
        var position: Int
        var samples: [Float]

        var end: Int { position + samples.count / channels }
    }

    private var inputs: [ObjectIdentifier: Input] = [:]
    private var origin: Duration?
    private var next = 0
    /// Samples a channel that came after their time in the sum had been given out.
    private(set) var lateSampleCount = 0

    mutating func add(_ id: ObjectIdentifier, volume: Float) {
        if inputs[id] == nil { inputs[id] = Input(volume: volume) }
    }

    mutating func setVolume(_ volume: Float, of id: ObjectIdentifier) {
        inputs[id]?.volume = volume
    }

    /// Takes an input out; what waited for it is given.
    mutating func remove(_ id: ObjectIdentifier) -> [AudioFrame] {
        inputs[id] = nil
        return emit()
    }

    /// Takes a block of an input that comes now, and gives what is complete.
    mutating func insert(_ frame: AudioFrame, of id: ObjectIdentifier, now: Duration) -> [AudioFrame] {
        guard let frame = inputs[id]?.clock.plausible(frame, now: now) else { return [] }
        return insert(frame, of: id)
    }

    /// Takes a block of an input at the time that it says, and gives what is complete.
    mutating func insert(_ frame: AudioFrame, of id: ObjectIdentifier) -> [AudioFrame] {
        guard var input = inputs[id] else { return [] }
        let origin = origin ?? frame.timestamp
        self.origin = origin
        let foremost = inputs.filter { $0.key != id }.values.compactMap(\.end).max()
        for block in input.conformer.process(frame) {
            place(block.frame, at: Self.samples(in: block.frame.timestamp - origin), in: &input)
            if let foremost, let end = input.end { input.learn(lag: foremost - end) }
        }
        inputs[id] = input
        return emit()
    }

    private mutating func place(_ block: AudioFrame, at position: Int, in input: inout Input) {
        var start = position
        if let end = input.end {
            if abs(position - end) <= Self.tolerance {
                start = end
            } else {
                // A clock that jumped back: what was to come later is not what comes now.
                input.stretches.removeAll { $0.position >= position }
                if let last = input.stretches.indices.last {
                    let excess = max(0, input.stretches[last].end - position)
                    input.stretches[last].samples.removeLast(excess * Self.channels)
                }
            }
        }
        input.end = start + block.sampleCount
        // What comes too late is left out.
        let late = min(max(0, next - start), block.sampleCount)
        lateSampleCount += late
        guard late < block.sampleCount else { return }
        let samples = block.samples.dropFirst(late * Self.channels)
        if let last = input.stretches.indices.last, input.stretches[last].end == start + late {
            input.stretches[last].samples += samples
        } else {
            input.stretches.append(Stretch(position: start + late, samples: Array(samples)))
        }
    }

    private mutating func emit() -> [AudioFrame] {
        guard let origin else { return [] }
        var frames: [AudioFrame] = []
        while let newest = inputs.values.compactMap(\.end).max(), newest >= next + Self.blockSize {
            let blockEnd = next + Self.blockSize
            let isComplete = inputs.values.allSatisfy {
                $0.end ?? .min >= blockEnd || newest >= blockEnd + $0.patience
            }
            guard isComplete else { break }
            // A sum of nothing for long: the line goes on where there is sound.
            if let first = inputs.values.compactMap({ $0.stretches.first?.position }).min(), first >= blockEnd {
                next = first
                continue
            }
            frames.append(
                AudioFrame(
                    samples: takeSum(), channels: Self.channels, sampleRate: Self.sampleRate,
                    timestamp: origin + Self.duration(ofSamples: next)))
            next = blockEnd
        }
        return frames
    }

    private mutating func takeSum() -> [Float] {
        let blockEnd = next + Self.blockSize
        var sum = [Float](repeating: 0, count: Self.blockSize * Self.channels)
        for id in inputs.keys {
            guard var input = inputs[id] else { continue }
            while let stretch = input.stretches.first, stretch.position < blockEnd {
                let count = min(stretch.end, blockEnd) - stretch.position
                let offset = (stretch.position - next) * Self.channels
                for index in 0..<count * Self.channels { sum[offset + index] += stretch.samples[index] * input.volume }
                input.stretches[0].samples.removeFirst(count * Self.channels)
                input.stretches[0].position += count
                if input.stretches[0].samples.isEmpty { input.stretches.removeFirst() }
            }
            inputs[id] = input
        }
        return sum
    }

    private static func duration(ofSamples count: Int) -> Duration {
        .seconds(count / sampleRate) + .nanoseconds(Int64(count % sampleRate) * 1_000_000_000 / Int64(sampleRate))
    }

    private static func samples(in duration: Duration) -> Int {
        let (seconds, attoseconds) = duration.components
        return Int(seconds) * sampleRate + Int(attoseconds / (1_000_000_000_000_000_000 / Int64(sampleRate)))
    }
}
