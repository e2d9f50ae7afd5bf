internal import Media

/// Adds up sounds that come in blocks of their own times: a rule book without threads.
///
/// All are laid on one line of samples. A block of the sum is given when every input reaches beyond it, or when one is so
/// far ahead that the others must be silent.
struct AudioMix {
    /// How far the foremost input may be ahead of the one that is waited for: three blocks.
    static let patience = 3 * blockSize
    static let blockSize = 960
    static let sampleRate = 48_000
    static let channels = 2
    /// What a device's clock shifts its blocks by is no gap until it is this much: half a block, so that a block that is
    /// missing is one.
    private static let tolerance = blockSize / 2

    private struct Input {
        let conformer = AudioConformer(sampleRate: sampleRate, channels: channels, sampleCount: blockSize)
        var volume: Float
        /// What waits, in order; between two stretches is silence.
        var stretches: [Stretch] = []
        /// Where the last block ended; nil before the first.
        var end: Int?
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

    /// Takes a block of an input, and gives what is complete.
    mutating func insert(_ frame: AudioFrame, of id: ObjectIdentifier) -> [AudioFrame] {
        guard var input = inputs[id] else { return [] }
        let origin = origin ?? frame.timestamp
        self.origin = origin
        for block in input.conformer.process(frame) {
            place(block.frame, at: Self.samples(in: block.frame.timestamp - origin), in: &input)
        }
        inputs[id] = input
        return emit()
    }

    private func place(_ block: AudioFrame, at position: Int, in input: inout Input) {
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
            let isComplete = inputs.values.allSatisfy { ($0.end ?? .min) >= blockEnd }
            guard isComplete || newest >= blockEnd + Self.patience else { break }
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
