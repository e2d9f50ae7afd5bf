/// Plays a block of sound a little faster or slower without changing its pitch: one period is left out, or repeated,
/// with a cross-fade of 5 ms (overlap-add where the waveform is most like itself).
package enum TimeScaling {
    /// 5 ms at 48 kHz: what is compared and cross-faded.
    private static let overlap = 240
    /// 2.5 to 10 ms: the periods of voices, and of any tone above 100 Hz a multiple.
    private static let lags = 120...480
    /// How alike two stretches must be (a correlation of 1 is the same), so that the seam is not heard.
    private static let likeness: Float = 0.85
    /// Below this mean square, -60 dB, no seam is heard.
    private static let quiet: Float = 1e-6

    /// The block without one period, of at most `limit` samples a channel; nil where there is none to be left out. With
    /// `anyway`, what comes nearest to a period is left out, however unlike it is.
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

    /// The block with one period twice, of at most `limit` samples a channel; nil where there is none to be repeated. With
    /// `anyway`, what comes nearest to a period is repeated, however unlike it is.
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

    /// The shift in samples at which the block's start is most like itself.
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
