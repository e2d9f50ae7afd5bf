/// The reason why audio could not be encoded, decoded, resampled or split into blocks.
public enum AudioCodingError: Error, Sendable, Hashable {
    /// A setting is outside the range of the codec or converter; `allowed` is that range.
    case invalidSetting(name: String, value: String, allowed: String)
    /// The number of samples is wrong; `allowed` describes the allowed numbers.
    case wrongSampleCount(count: Int, allowed: String)
    /// The channels or the sampling rate of an audio stream changed, so that its receiver must be recreated.
    case unexpectedFormat(channels: Int, sampleRate: Int, expectedChannels: Int, expectedSampleRate: Int)
    /// The packet is empty.
    case emptyPacket
    /// The packet is not an Opus packet (RFC 6716 §3.4), or its data is invalid.
    case malformedPacket(reason: String)
    /// libopus reported an error; `reason` is its text.
    case codecFailed(operation: String, reason: String)
    /// libsamplerate reported an error; `reason` is its text.
    case resamplingFailed(reason: String)
}

extension AudioCodingError: CustomStringConvertible {
    /// The failure, its reason and its remedy.
    public var description: String {
        switch self {
        case .invalidSetting(let name, let value, let allowed): "\(name) can't be \(value): it takes \(allowed)"
        case .wrongSampleCount(let count, let allowed): "\(count) samples were given: give \(allowed)"
        case .unexpectedFormat(let channels, let sampleRate, let expectedChannels, let expectedSampleRate):
            "the audio changed from \(expectedChannels) channels at \(expectedSampleRate) Hz to \(channels) at "
                + "\(sampleRate) Hz: make a new one for the new format"
        case .emptyPacket: "the packet has no bytes: conceal it as one that was lost"
        case .malformedPacket(let reason): "the packet is damaged (\(reason)): conceal it as one that was lost"
        case .codecFailed(let operation, let reason): "libopus: \(operation) failed: \(reason)"
        case .resamplingFailed(let reason): "libsamplerate failed: \(reason)"
        }
    }
}
