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
    /// What a device's clock shifts its blocks by is no gap until it is this much.
    private static let tolerance = sampleRate / 50

    private struct Input {
        let conformer = AudioConformer(sampleRate: sampleRate, channels: channels, sampleCount: blockSize)
        var volume: Float
        /// Interleaved samples from `position` on.
        var samples: [Float] = []
        var position = 0

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
        let distance = position - input.end
        var samples = block.samples
        if input.samples.isEmpty || distance < -Self.tolerance {
            // The first, or one whose clock jumped back: it goes where it belongs, and what is past is left out.
            let start = input.samples.isEmpty && Swift.abs(distance) <= Self.tolerance ? input.end : position
            input.position = max(start, next)
            input.samples = []
            samples.removeFirst(min(samples.count, (input.position - start) * Self.channels))
        } else if distance > Self.tolerance {
            input.samples += repeatElement(0, count: min(distance, Self.sampleRate) * Self.channels)
        }
        input.samples += samples
    }

    private mutating func emit() -> [AudioFrame] {
        guard let origin else { return [] }
        var frames: [AudioFrame] = []
        while let newest = inputs.values.map(\.end).max(), newest >= next + Self.blockSize {
            let blockEnd = next + Self.blockSize
            guard inputs.values.allSatisfy({ $0.end >= blockEnd }) || newest >= blockEnd + Self.patience else { break }
            // A sum of nothing for long: the line goes on where there is sound.
            if let first = inputs.values.filter({ !$0.samples.isEmpty }).map(\.position).min(), first >= blockEnd {
                next = first
                continue
            }
            frames.append(
                AudioFrame(
                    samples: takeSum(), channels: Self.channels, sampleRate: Self.sampleRate,
                    timestamp: origin + .nanoseconds(Int64(next) * 1_000_000_000 / Int64(Self.sampleRate))))
            next = blockEnd
        }
        return frames
    }

    private mutating func takeSum() -> [Float] {
        var sum = [Float](repeating: 0, count: Self.blockSize * Self.channels)
        for id in inputs.keys {
            guard var input = inputs[id] else { continue }
            let offset = max(0, input.position - next) * Self.channels
            let count = max(0, min(sum.count - offset, input.samples.count))
            for index in 0..<count { sum[offset + index] += input.samples[index] * input.volume }
            input.samples.removeFirst(count)
            input.position = max(input.position, next) + count / Self.channels
            inputs[id] = input
        }
        return sum
    }

    private static func samples(in duration: Duration) -> Int {
        let (seconds, attoseconds) = duration.components
        return Int(seconds) * sampleRate + Int(attoseconds / (1_000_000_000_000_000_000 / Int64(sampleRate)))
    }
}
