extension AudioFrame {
    /// Returns the block mixed to `count` channels. Mono is copied to all of them. 3, 4, 5, 6 and 8 channels, in the
    /// order of a WAVE file, are mixed to stereo by ITU-R BS.775: the center to both sides and the surrounds to their
    /// own at -3 dB, without the low-frequency effects. Stereo becomes mono by its mean, and so does any other number
    /// of channels.
    public func mixed(toChannels count: Int) -> AudioFrame {
        let count = max(1, count)
        guard count != channels else { return self }
        if count <= 2, let gains = Self.stereoGains[channels] {
            let stereo = replacing(samples: mixed(by: gains), channels: 2)
            return stereo.mixed(toChannels: count)
        }
        var mixed: [Float] = []
        mixed.reserveCapacity(sampleCount * count)
        for start in stride(from: 0, to: samples.count, by: channels) {
            for channel in 0..<count {
                if count >= channels {
                    mixed.append(samples[start + min(channel, channels - 1)])
                } else {
                    // Each output channel is the mean of every `count`th input channel: of two, odd ones go left, even
                    // ones right.
                    let own = Swift.stride(from: channel, to: channels, by: count)
                    mixed.append(
                        own.reduce(0) { $0 + samples[start + $1] } / Float(own.reduce(0) { sum, _ in sum + 1 }))
                }
            }
        }
        return replacing(samples: mixed, channels: count)
    }

    private func mixed(by gains: [SIMD2<Float>]) -> [Float] {
        var mixed: [Float] = []
        mixed.reserveCapacity(sampleCount * 2)
        for start in stride(from: 0, to: samples.count, by: channels) {
            var sum = SIMD2<Float>.zero
            for (offset, gain) in gains.enumerated() { sum += gain * samples[start + offset] }
            mixed.append(sum.x)
            mixed.append(sum.y)
        }
        return mixed
    }

    /// The gains of each channel for the left and the right side, by the number of channels: ITU-R BS.775-4, annex 4,
    /// table 2.
    private static let stereoGains: [Int: [SIMD2<Float>]] = {
        let (front, surround) = ([SIMD2<Float>(1, 0), SIMD2(0, 1)], [SIMD2<Float>(half, 0), SIMD2(0, half)])
        let (centre, effects) = ([SIMD2<Float>(half, half)], [SIMD2<Float>.zero])
        return [
            3: front + centre,
            4: front + surround,
            5: front + centre + surround,
            6: front + centre + effects + surround,
            8: front + centre + effects + surround + surround,
        ]
    }()

    /// -3 dB: half the power.
    private static let half = Float(0.5).squareRoot()
}
