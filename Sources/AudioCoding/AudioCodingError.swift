/// Why sound could not be encoded, decoded, resampled or cut into blocks.
public enum AudioCodingError: Error, Sendable, Hashable {
    /// A setting is out of what the codec or converter takes; `allowed` says what it does take.
    case invalidSetting(name: String, value: String, allowed: String)
    /// The samples are not as many as asked for; `allowed` says how many would be.
    case wrongSampleCount(count: Int, allowed: String)
    /// A stream of sound changed its channels or rate; whoever takes it has to be made anew.
    case unexpectedFormat(channels: Int, sampleRate: Int, expectedChannels: Int, expectedSampleRate: Int)
    /// A packet without a byte.
    case emptyPacket
    /// A packet is no Opus packet (RFC 6716 §3.4), or its data make no sense.
    case malformedPacket(reason: String)
    /// libopus refused; `reason` is its own words.
    case codecFailed(operation: String, reason: String)
    /// libsamplerate refused; `reason` is its own words.
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
