internal import RTCShareMedia

/// Adds audio streams whose blocks have their own times, without threads.
///
/// All streams are on one line of samples. A block of the sum is returned when every input extends beyond it, or when
/// one input is so far ahead that the others must be silent. That distance is learned for each input: a headset's
/// microphone provides its audio 200 ms after the simultaneous audio of the machine, and some sources provide a tenth
/// of a second at once.
struct AudioMix {
    /// The minimum distance of the foremost input from one that is waited for: three blocks.
    static let patience = 3 * blockSize
    /// The maximum distance, 500 ms. Audio that is later is not mixed.
    static let largestPatience = sampleRate / 2
    /// The factor on the learned distance after each block: half is forgotten in ten seconds.
    private static let memory = 0.9986
    /// The maximum time of a block ahead of the clock. A block that is further ahead would leave all other inputs
    /// behind.
    static let largestLead = Duration.milliseconds(500)
    /// The maximum time of a block behind the clock. A block that is further behind is from another clock.
    static let largestLag = Duration.seconds(2)
    static let blockSize = 960
    static let sampleRate = 48_000
    static let channels = 2
    /// The minimum difference that counts as a gap: half a block, so that a missing block is a gap but the drift of a
    /// device's clock is not.
    private static let tolerance = blockSize / 2

    /// Corrects the times of an input whose clock is ahead of this one or far behind it.
    struct InputClock {
        /// The offset that is added to the input's times.
        private var offset = Duration.zero
        private var hasBegun = false

        /// Returns a block with a plausible time. The first block of the future gets the current time, and those after
        /// it follow at their distances, until the clock jumps. An input whose first block is from long ago has another
        /// clock; one that falls behind later is late.
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
        /// The pending audio, in order. There is silence between two stretches.
        var stretches: [Stretch] = []
        /// The end of the last block; nil before the first.
        var end: Int?
        /// The distance of the foremost input from the end of this one's blocks at their arrival: the maximum, which
        /// decays slowly.
        var lag = 0.0
        /// Whether the others wait for it: it has not ended since its last block.
        var isAwaited = true

        /// The maximum distance of the foremost input before this one is left behind.
        var patience: Int { min(max(AudioMix.patience, Int(lag) + blockSize), largestPatience) }

        mutating func learn(lag new: Int) {
            lag *= memory
            // Audio from long ago does not predict the future.
            if new <= largestPatience { lag = max(lag, Double(new)) }
        }
    }

    /// Audio without a gap: interleaved samples from `position`.
    private struct Stretch {
        var position: Int
        var samples: [Float]

        var end: Int { position + samples.count / channels }
    }

    private var inputs: [ObjectIdentifier: Input] = [:]
    private var origin: Duration?
    private var next = 0
    /// The number of samples per channel that arrived after their part of the sum was returned.
    private(set) var lateSampleCount = 0

    /// Adds an input. One that has ended gets the volume, and others are unchanged.
    mutating func add(_ id: ObjectIdentifier, volume: Float) {
        if inputs[id] == nil { inputs[id] = Input(volume: volume) }
        if inputs[id]?.isAwaited == false { inputs[id]?.volume = volume }
    }

    mutating func setVolume(_ volume: Float, of id: ObjectIdentifier) {
        inputs[id]?.volume = volume
    }

    /// Discards all that is known of an input except its volume, before it starts again after a pause.
    mutating func restart(_ id: ObjectIdentifier) {
        if let input = inputs[id] { inputs[id] = Input(volume: input.volume) }
    }

    /// Removes an input, and returns the blocks that waited for it.
    mutating func remove(_ id: ObjectIdentifier) -> [AudioFrame] {
        inputs[id] = nil
        return emit()
    }

    /// Stops waiting for an input that has ended, until its next block. Returns the blocks that waited for it.
    mutating func end(_ id: ObjectIdentifier) -> [AudioFrame] {
        inputs[id]?.isAwaited = false
        // It can start again with other timestamps.
        inputs[id]?.clock = InputClock()
        return emit()
    }

    /// Adds a block of an input that arrives now, and returns the complete blocks.
    mutating func insert(_ frame: AudioFrame, of id: ObjectIdentifier, now: Duration) -> [AudioFrame] {
        guard let frame = inputs[id]?.clock.plausible(frame, now: now) else { return [] }
        return insert(frame, of: id)
    }

    /// Adds a block of an input at its timestamp, and returns the complete blocks.
    mutating func insert(_ frame: AudioFrame, of id: ObjectIdentifier) -> [AudioFrame] {
        guard var input = inputs[id] else { return [] }
        input.isAwaited = true
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
                // The clock jumped back, so that the later samples of the former time are obsolete.
                input.stretches.removeAll { $0.position >= position }
                if let last = input.stretches.indices.last {
                    let excess = max(0, input.stretches[last].end - position)
                    input.stretches[last].samples.removeLast(excess * Self.channels)
                }
            }
        }
        input.end = start + block.sampleCount
        // Late samples are dropped.
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
                !$0.isAwaited || $0.end ?? .min >= blockEnd || newest >= blockEnd + $0.patience
            }
            guard isComplete else { break }
            // After a long time without audio, the sum continues at the next audio.
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
