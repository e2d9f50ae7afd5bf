/// Plays an audio block slightly faster or slower without a change of pitch: it removes or repeats one period, with a
/// cross-fade of 5 ms (overlap-add at the best match of the waveform).
package enum TimeScaling {
    /// The length of comparisons and cross-fades, 5 ms at 48 kHz.
    private static let overlap = 240
    /// The range of periods, 2.5 to 10 ms: those of voices, and a multiple of any tone above 100 Hz.
    private static let lags = 120...480
    /// The minimum correlation of two stretches (1 means equal) at which the seam is inaudible.
    private static let likeness: Float = 0.85
    /// The mean square, -60 dB, below which no seam is audible.
    private static let quiet: Float = 1e-6

    /// Returns the block without one period, of at most `limit` samples per channel; nil if there is none. With
    /// `anyway`, it removes the best match for a period, however different it is.
    package static func shortened(
        _ samples: [Float], channels: Int, limit: Int, anyway: Bool = false
    ) -> (samples: [Float], removed: Int)? {
        guard let lag = bestLag(samples, channels: channels, limit: limit, likeness: anyway ? -2 : likeness) else {
            return nil
        }
        var result: [Float] = []
        result.reserveCapacity(samples.count - lag * channels)
        appendFade(from: 0, to: lag, of: samples, channels: channels, onto: &result)
        result.append(contentsOf: samples[((lag + overlap) * channels)...])
        return (result, lag)
    }

    /// Returns the block with one period repeated, of at most `limit` samples per channel; nil if there is none. With
    /// `anyway`, it repeats the best match for a period, however different it is.
    package static func lengthened(
        _ samples: [Float], channels: Int, limit: Int, anyway: Bool = false
    ) -> (samples: [Float], added: Int)? {
        guard let lag = bestLag(samples, channels: channels, limit: limit, likeness: anyway ? -2 : likeness) else {
            return nil
        }
        var result: [Float] = []
        result.reserveCapacity(samples.count + lag * channels)
        result.append(contentsOf: samples[..<(lag * channels)])
        appendFade(from: lag, to: 0, of: samples, channels: channels, onto: &result)
        result.append(contentsOf: samples[(overlap * channels)...])
        return (result, lag)
    }

    private static func appendFade(
        from: Int, to: Int, of samples: [Float], channels: Int, onto result: inout [Float]
    ) {
        for index in 0..<overlap {
            let weight = (Float(index) + 0.5) / Float(overlap)
            for channel in 0..<channels {
                let old = samples[(from + index) * channels + channel]
                let new = samples[(to + index) * channels + channel]
                result.append(old + (new - old) * weight)
            }
        }
    }

    /// Returns the shift in samples at which the block's start matches itself best.
    private static func bestLag(_ samples: [Float], channels: Int, limit: Int, likeness least: Float) -> Int? {
        let count = samples.count / channels
        let longest = min(lags.upperBound, limit, count - overlap)
        guard longest >= lags.lowerBound else { return nil }
        let mono = (0..<count).map { index in
            (0..<channels).reduce(Float(0)) { $0 + samples[index * channels + $1] }
        }
        return mono.withUnsafeBufferPointer { mono in
            let energy = product(mono, 0, 0)
            if energy < quiet * Float(overlap) { return longest }
            var best: (lag: Int, likeness: Float)?
            for lag in stride(from: lags.lowerBound, through: longest, by: 2) {
                let other = product(mono, lag, lag)
                guard other > 0 else { continue }
                let likeness = product(mono, 0, lag) / (energy * other).squareRoot()
                if likeness > best?.likeness ?? least { best = (lag, likeness) }
            }
            return best?.lag
        }
    }

    private static func product(_ samples: UnsafeBufferPointer<Float>, _ one: Int, _ other: Int) -> Float {
        var sum: Float = 0
        for index in 0..<overlap { sum += samples[one + index] * samples[other + index] }
        return sum
    }
}
