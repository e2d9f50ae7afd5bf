import Foundation

/// Sounds whose energy and frequency are known, and what measures them.
enum Signals {
    /// A tone at `frequency` Hz on each channel: as many channels as frequencies.
    static func tones(
        _ frequencies: [Double], amplitude: Double = 0.5, sampleRate: Int = 48_000, from start: Int = 0, count: Int
    ) -> [Float] {
        (start..<(start + count)).flatMap { index in
            frequencies.map { Float(amplitude * sin(2 * .pi * $0 * Double(index) / Double(sampleRate))) }
        }
    }

    /// Something like a voice: a glottal buzz whose pitch and loudness move, in syllables.
    static func speech(count: Int) -> [Float] {
        (0..<count).map { someSpeech[$0 % someSpeech.count] }
    }

    private static let someSpeech: [Float] = {
        let formants = (1...20).map { harmonic in
            exp(-pow((Double(harmonic) * 120 - 600) / 500, 2)) + 0.3 / Double(harmonic)
        }
        var phase = 0.0
        return (0..<192_000).map { index in
            let time = Double(index) / 48_000
            phase += (120 + 25 * sin(2 * .pi * 0.7 * time)) / 48_000
            let loudness = 0.15 + 0.85 * pow(sin(.pi * 3.1 * time), 2)
            var buzz = 0.0
            for (index, formant) in formants.enumerated() {
                buzz += formant * sin(2 * .pi * phase * Double(index + 1))
            }
            return Float(0.08 * loudness * buzz)
        }
    }()

    /// White noise from a seed.
    static func noise(count: Int, amplitude: Float = 0.3, seed: UInt64 = 1) -> [Float] {
        var generator = SeededGenerator(seed: seed)
        return (0..<count).map { _ in Float.random(in: -amplitude...amplitude, using: &generator) }
    }

    /// One channel of interleaved samples.
    static func channel(_ index: Int, of samples: [Float], channels: Int) -> [Float] {
        stride(from: index, to: samples.count, by: channels).map { samples[$0] }
    }

    /// The amplitude of one frequency in a sound of one channel (Goertzel).
    static func amplitude(of frequency: Double, in samples: [Float], sampleRate: Int = 48_000) -> Double {
        let coefficient = 2 * cos(2 * .pi * frequency / Double(sampleRate))
        var last = 0.0
        var before = 0.0
        for (index, sample) in samples.enumerated() {
            // A Hann window keeps a tone between two bins in its place.
            let window = 1 - cos(2 * .pi * Double(index) / Double(samples.count))
            let next = Double(sample) * window + coefficient * last - before
            before = last
            last = next
        }
        let power = last * last + before * before - coefficient * last * before
        return 2 * max(0, power).squareRoot() / Double(samples.count)
    }

    /// The mean square.
    static func energy(_ samples: some Collection<Float>) -> Double {
        samples.reduce(0) { $0 + Double($1) * Double($1) } / Double(max(samples.count, 1))
    }

    /// The mean square of the difference.
    static func difference(_ one: some Collection<Float>, _ other: some Collection<Float>) -> Double {
        energy(zip(one, other).map { $0 - $1 })
    }
}

/// SplitMix64: the same numbers on every machine.
struct SeededGenerator: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) {
        state = seed
    }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var value = state
        value = (value ^ (value >> 30)) &* 0xBF58_476D_1CE4_E5B9
        value = (value ^ (value >> 27)) &* 0x94D0_49BB_1331_11EB
        return value ^ (value >> 31)
    }
}
