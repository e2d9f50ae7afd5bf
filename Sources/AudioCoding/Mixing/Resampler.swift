internal import RTCShareCSampleRate

/// libsamplerate's converter of interleaved samples from one rate to another. One thread at a time can use it.
///
/// It does not delay the audio: the first output sample corresponds to the first input sample. But the last few
/// milliseconds of the input are returned only with further input, or by ``flush()``.
package final class Resampler {
    /// The quality of the conversion, which determines its cost.
    package enum Quality: Sendable, Hashable, CaseIterable {
        /// A noise level of -97 dB, and 80 % of the bandwidth, for speech and slow machines.
        case fast
        /// A noise level of -97 dB or less, and 90 % of the bandwidth.
        case medium
        /// A noise level of -144 dB, and 96 % of the bandwidth.
        case best
    }

    /// The supported rates in Hz. libsamplerate supports ratios of up to 256 between them.
    package static let sampleRates = 1000...768_000

    /// The number of interleaved channels.
    package let channels: Int
    /// The input rate in Hz.
    package let inputRate: Int
    /// The output rate in Hz.
    package let outputRate: Int
    /// libsamplerate's state; nil if there is nothing to convert.
    private let state: OpaquePointer?
    private var scratch: [Float]

    /// The maximum number of output samples per channel in one step.
    private static let step = 4096

    /// Creates a converter of `channels` channels, 1 to 64, between two rates in Hz.
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

    /// Converts the next samples: any number that is a multiple of the number of channels.
    package func process(_ samples: [Float]) throws(AudioCodingError) -> [Float] {
        guard samples.count % channels == 0 else {
            throw .wrongSampleCount(count: samples.count, allowed: "as many for each of \(channels) channels")
        }
        return try convert(samples, isEnd: false)
    }

    /// Returns the remaining samples, and restarts: the next samples are other audio.
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
                    // Even without input, libsamplerate requires a pointer.
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
            // If it neither consumes nor returns samples, it never will.
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
