internal import RTCShareCOpus
package import RTCShareWireFormat

/// libopus's encoder, which converts samples to packets (RFC 6716). One thread at a time can use it.
///
/// It requires 48 kHz. Samples beyond full scale are clipped softly, so that they do not crackle.
package final class OpusEncoder {
    /// The result for one block of samples.
    package enum Outcome: Sendable, Hashable {
        /// A packet to send.
        case packet([UInt8])
        /// Silence: there is nothing to send, but the media time advances (RFC 7587 §3.1.3).
        case silence
    }

    /// The sampling rate in Hz.
    package static let sampleRate = 48_000
    /// The range of Opus' bitrates (RFC 6716 §2.1.1).
    package static let bitrates = DataRate.kilobitsPerSecond(6) ... .kilobitsPerSecond(510)
    /// The maximum number of bytes in a packet: with its headers and its tag it stays below the 1200 bytes that every
    /// path carries.
    package static let largestPacket = 1120
    /// The allowed numbers of samples per channel in a block: 2.5, 5, 10, 20, 40 or 60 ms (RFC 6716 §2.1.4).
    package static let blockSizes = [120, 240, 480, 960, 1920, 2880]

    /// The current configuration.
    package private(set) var configuration: Configuration

    private var handle: EncoderHandle
    private var input: [Float] = []
    private var softClipState: [Float]
    private var output = [UInt8](repeating: 0, count: largestPacket)

    /// Creates an encoder.
    package init(configuration: Configuration) throws(AudioCodingError) {
        try configuration.validate()
        self.configuration = configuration
        softClipState = [Float](repeating: 0, count: configuration.channels)
        handle = try EncoderHandle(configuration)
    }

    /// Changes the configuration from the next block on. Decoders continue. An error leaves everything unchanged.
    ///
    /// Only other channels or another application create a new encoder, without the state of the former one.
    package func reconfigure(_ new: Configuration) throws(AudioCodingError) {
        try new.validate()
        guard new != configuration else { return }
        if new.channels != configuration.channels || new.application != configuration.application {
            handle = try EncoderHandle(new)
            softClipState = [Float](repeating: 0, count: new.channels)
        } else {
            try handle.apply(new)
        }
        configuration = new
    }

    /// The delay of encoder and decoder in samples per channel, which lip synchronization must add.
    package var lookahead: Int { handle.lookahead }

    /// Encodes one block of interleaved samples. The recommended length is 20 ms, 960 samples per channel.
    package func encode(_ samples: [Float]) throws(AudioCodingError) -> Outcome {
        let channels = configuration.channels
        guard samples.count % channels == 0, Self.blockSizes.contains(samples.count / channels) else {
            let allowed = Self.blockSizes.map(String.init).joined(separator: ", ")
            throw .wrongSampleCount(count: samples.count, allowed: "\(allowed) for each of \(channels) channels")
        }
        // A value that is not a number would stay in the encoder's filters forever.
        input.removeAll(keepingCapacity: true)
        input.append(contentsOf: samples.lazy.map { $0.isFinite ? $0 : 0 })
        let frameSize = Int32(clamping: samples.count / channels)
        input.withUnsafeMutableBufferPointer { input in
            softClipState.withUnsafeMutableBufferPointer { state in
                opus_pcm_soft_clip(input.baseAddress, frameSize, Int32(clamping: channels), state.baseAddress)
            }
        }
        let count = try handle.encode(input, frameSize: frameSize, into: &output)
        // opus_encode: packets of one or two bytes need not be sent. Every 400 ms there is a longer one, which
        // describes the background noise to decoders.
        if configuration.pausesInSilence, count <= 2 { return .silence }
        return .packet(Array(output[..<count]))
    }
}

/// The owner of a libopus encoder.
private final class EncoderHandle {
    private let encoder: OpaquePointer

    init(_ configuration: OpusEncoder.Configuration) throws(AudioCodingError) {
        var code: Int32 = OPUS_OK
        let application = configuration.application == .voice ? OPUS_APPLICATION_VOIP : OPUS_APPLICATION_AUDIO
        let made = opus_encoder_create(
            Int32(OpusEncoder.sampleRate), Int32(clamping: configuration.channels), application, &code)
        guard let made else { throw opusError("making an encoder", code) }
        encoder = made
        try apply(configuration)
    }

    deinit {
        opus_encoder_destroy(encoder)
    }

    func apply(_ configuration: OpusEncoder.Configuration) throws(AudioCodingError) {
        for control in configuration.controls {
            let code = copus_encoder_set(encoder, control.request, control.value)
            guard code == OPUS_OK else { throw opusError("setting \(control.name)", code) }
        }
    }

    var lookahead: Int {
        var value: Int32 = 0
        guard copus_encoder_get(encoder, OPUS_GET_LOOKAHEAD_REQUEST, &value) == OPUS_OK else { return 0 }
        return Int(value)
    }

    /// Returns the number of bytes written.
    func encode(_ samples: [Float], frameSize: Int32, into output: inout [UInt8]) throws(AudioCodingError) -> Int {
        let result = samples.withUnsafeBufferPointer { samples in
            output.withUnsafeMutableBufferPointer { output in
                guard let source = samples.baseAddress, let place = output.baseAddress else { return OPUS_BAD_ARG }
                return opus_encode_float(encoder, source, frameSize, place, Int32(clamping: output.count))
            }
        }
        guard result > 0 else { throw opusError("encoding", result) }
        return Int(result)
    }
}

/// Returns the error for a libopus code: the only place of that conversion.
func opusError(_ operation: String, _ code: Int32) -> AudioCodingError {
    let reason = String(cString: opus_strerror(code))
    return code == OPUS_INVALID_PACKET
        ? .malformedPacket(reason: reason) : .codecFailed(operation: operation, reason: reason)
}
