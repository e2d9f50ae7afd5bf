internal import Glibc

/// A generator of random numbers that a seed reproduces exactly (xoshiro256**, with its state filled by SplitMix64).
package struct SeededGenerator: RandomNumberGenerator, Sendable {
    private var state: (UInt64, UInt64, UInt64, UInt64)

    /// Creates the generator of a seed.
    package init(seed: UInt64) {
        var mix = seed
        func next() -> UInt64 {
            mix &+= 0x9E37_79B9_7F4A_7C15
            var value = mix
            value = (value ^ (value >> 30)) &* 0xBF58_476D_1CE4_E5B9
            value = (value ^ (value >> 27)) &* 0x94D0_49BB_1331_11EB
            return value ^ (value >> 31)
        }
        state = (next(), next(), next(), next())
    }

    /// Returns 64 random bits.
    package mutating func next() -> UInt64 {
        let result = Self.rotate(state.1 &* 5, by: 7) &* 9
        let shifted = state.1 << 17
        state.2 ^= state.0
        state.3 ^= state.1
        state.1 ^= state.2
        state.0 ^= state.3
        state.2 ^= shifted
        state.3 = Self.rotate(state.3, by: 45)
        return result
    }

    /// Returns a number in 0..<1, of 53 random bits.
    package mutating func fraction() -> Double {
        Double(next() >> 11) * 0x1p-53
    }

    /// Returns true with this probability.
    package mutating func chance(_ probability: Double) -> Bool {
        fraction() < probability
    }

    /// Returns a number of the normal distribution with mean 0 and deviation 1 (Box and Muller); it takes two draws.
    package mutating func normal() -> Double {
        let (radius, angle) = ((-2 * log(1 - fraction())).squareRoot(), 2 * Double.pi * fraction())
        return radius * cos(angle)
    }

    /// Returns a number of the exponential distribution with this mean.
    package mutating func exponential(mean: Double) -> Double {
        -mean * log(1 - fraction())
    }

    private static func rotate(_ value: UInt64, by count: UInt64) -> UInt64 {
        value << count | value >> (64 - count)
    }
}
