internal import RTCShareCSampleRate

/// libsamplerate's converter: interleaved samples at one rate in, at another out. Used from one thread at a time.
///
/// The sound is not delayed: the first sample out is the first one in. But the last few milliseconds of what went in
/// stay inside until more comes, or until ``flush()``.
package final class Resampler {
    /// How much computing goes into it.
    package enum Quality: Sendable, Hashable, CaseIterable {
        /// 97 dB below the sound, to 80 % of the band: for speech and slow machines.
        case fast
        /// 97 dB or more below the sound, to 90 % of the band.
        case medium
        /// 144 dB below the sound, to 96 % of the band.
        case best
    }

    /// The rates in Hz that it takes and gives. libsamplerate goes up to 256 times up or down between them.
    package static let sampleRates = 1000...768_000

    /// How many channels the samples are interleaved of.
    package let channels: Int
    /// Samples a second that go in, a channel.
    package let inputRate: Int
    /// Samples a second that come out, a channel.
    package let outputRate: Int
    /// Nil where there is nothing to convert.
    private let state: OpaquePointer?
    private var scratch: [Float]

    /// The samples a channel that come out of libsamplerate at a time.
    private static let step = 4096

    /// Makes a converter of `channels` channels, 1 to 64, between two rates in Hz.
    package init(
        channels: Int, from inputRate: Int, to outputRate: Int, quality: Quality = .medium
    ) throws(AudioCodingError) {
        guard (1...64).contains(channels) else {
            throw .invalidSetting(name: "the number of channels", value: "\(channels)", allowed: "1 to 64")
        }
        for rate in [inputRate, outputRate] where !Self.sampleRates.contains(rate) {
            throw .invalidSetting(name: "the sampling rate", value: "\(rate) Hz", allowed: "1000 to 768000 Hz")
        }
        self.channels = channels
        self.inputRate = inputRate
        self.outputRate = outputRate
        guard inputRate != outputRate else {
            state = nil
            scratch = []
            return
        }
        let ratio = Double(outputRate) / Double(inputRate)
        guard src_is_valid_ratio(ratio) != 0 else {
            throw .invalidSetting(
                name: "the ratio of the rates", value: "\(outputRate) to \(inputRate)", allowed: "at most 256")
        }
        var code: Int32 = 0
        guard let made = src_new(quality.converter, Int32(clamping: channels), &code) else {
            throw Self.error(code)
        }
        state = made
        scratch = [Float](repeating: 0, count: Self.step * channels)
    }

    deinit {
        if let state { src_delete(state) }
    }

    /// Converts the next samples; they need not be of any length, but whole for all channels.
    package func process(_ samples: [Float]) throws(AudioCodingError) -> [Float] {
        guard samples.count % channels == 0 else {
            throw .wrongSampleCount(count: samples.count, allowed: "as many for each of \(channels) channels")
        }
        return try convert(samples, isEnd: false)
    }

    /// Gives what is left inside, and begins anew: what is processed next is another sound.
    package func flush() throws(AudioCodingError) -> [Float] {
        let rest = try convert([], isEnd: true)
        if let state {
            let code = src_reset(state)
            guard code == 0 else { throw Self.error(code) }
        }
        return rest
    }

    private func convert(_ samples: [Float], isEnd: Bool) throws(AudioCodingError) -> [Float] {
        guard let state else { return samples }
        var converted: [Float] = []
        converted.reserveCapacity(samples.count * outputRate / inputRate + 64 * channels)
        var consumed = 0
        while true {
            var used = 0
            var made = 0
            let code = samples.withUnsafeBufferPointer { input in
                scratch.withUnsafeMutableBufferPointer { output in
                    var data = SRC_DATA()
                    // With nothing to read it still wants a place to read from.
                    data.data_in =
                        input.baseAddress.map { $0 + consumed * channels } ?? UnsafePointer(output.baseAddress)
                    data.input_frames = samples.count / channels - consumed
                    data.data_out = output.baseAddress
                    data.output_frames = Self.step
                    data.end_of_input = isEnd ? 1 : 0
                    data.src_ratio = Double(outputRate) / Double(inputRate)
                    let code = src_process(state, &data)
                    used = data.input_frames_used
                    made = data.output_frames_gen
                    return code
                }
            }
            guard code == 0 else { throw Self.error(code) }
            consumed += used
            converted.append(contentsOf: scratch[..<(made * channels)])
            // Where it neither takes nor gives anything, it never will.
            if made < Self.step, consumed * channels >= samples.count || used == 0 { return converted }
        }
    }

    private static func error(_ code: Int32) -> AudioCodingError {
        .resamplingFailed(reason: src_strerror(code).map { String(cString: $0) } ?? "code \(code)")
    }
}

extension Resampler.Quality {
    fileprivate var converter: Int32 {
        switch self {
        case .fast: Int32(SRC_SINC_FASTEST)
        case .medium: Int32(SRC_SINC_MEDIUM_QUALITY)
        case .best: Int32(SRC_SINC_BEST_QUALITY)
        }
    }
}
