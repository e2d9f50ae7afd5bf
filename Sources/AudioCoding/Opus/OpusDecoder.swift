internal import RTCShareCOpus

/// libopus's decoder: packets in, interleaved samples at 48 kHz out (RFC 6716). Used from one thread at a time.
///
/// What a peer sends can't harm it: a packet that is none is an error, and the next good one goes on.
package final class OpusDecoder {
    /// Samples a second, a channel.
    package static let sampleRate = 48_000
    /// The most samples a channel of one packet, 120 ms (RFC 6716 §3.2.5).
    package static let largestSampleCount = 5760

    /// 1 or 2, whatever the packets have: stereo is mixed into one channel, mono is given twice.
    package let channels: Int
    private let decoder: OpaquePointer

    /// Makes a decoder that gives `channels` channels, 1 or 2.
    package init(channels: Int) throws(AudioCodingError) {
        guard (1...2).contains(channels) else {
            throw .invalidSetting(name: "the number of channels", value: "\(channels)", allowed: "1 or 2")
        }
        var code: Int32 = OPUS_OK
        let made = opus_decoder_create(Int32(Self.sampleRate), Int32(clamping: channels), &code)
        guard let made else { throw opusError("making a decoder", code) }
        decoder = made
        self.channels = channels
    }

    deinit {
        opus_decoder_destroy(decoder)
    }

    /// Decodes a packet.
    package func decode(_ packet: [UInt8]) throws(AudioCodingError) -> [Float] {
        guard !packet.isEmpty else { throw .emptyPacket }
        return try decode(packet, sampleCount: OpusPacketLayout.sampleCount(of: packet), usesFEC: false)
    }

    /// Makes the `sampleCount` samples a channel that were lost just before `following`, from what that packet repeats
    /// of them (RFC 6716 §2.1.7); if it repeats nothing, from what was heard before. `following` is to be decoded next.
    package func decodeLost(following packet: [UInt8], sampleCount: Int) throws(AudioCodingError) -> [Float] {
        guard !packet.isEmpty else { throw .emptyPacket }
        return try decodeCut(packet, sampleCount: sampleCount)
    }

    /// Makes `sampleCount` samples a channel from what was heard before; libopus fades them out as it goes on.
    package func conceal(sampleCount: Int) throws(AudioCodingError) -> [Float] {
        try decodeCut(nil, sampleCount: sampleCount)
    }

    /// What is made up comes in steps of 2.5 ms, and is cut to what was asked for.
    private func decodeCut(_ packet: [UInt8]?, sampleCount: Int) throws(AudioCodingError) -> [Float] {
        guard (1...Self.largestSampleCount).contains(sampleCount) else {
            throw .wrongSampleCount(count: sampleCount, allowed: "1 to \(Self.largestSampleCount) a channel")
        }
        let whole = (sampleCount + 119) / 120 * 120
        let samples = try decode(packet, sampleCount: whole, usesFEC: packet != nil)
        return whole == sampleCount ? samples : Array(samples.prefix(sampleCount * channels))
    }

    private func decode(_ packet: [UInt8]?, sampleCount: Int, usesFEC: Bool) throws(AudioCodingError) -> [Float] {
        var result = OPUS_BAD_ARG
        let samples = [Float](unsafeUninitializedCapacity: sampleCount * channels) { output, initialized in
            guard let place = output.baseAddress else { return }
            let frameSize = Int32(clamping: sampleCount)
            if let packet {
                result = packet.withUnsafeBufferPointer { bytes in
                    opus_decode_float(
                        decoder, bytes.baseAddress, Int32(clamping: bytes.count), place, frameSize,
                        usesFEC ? 1 : 0)
                }
            } else {
                result = opus_decode_float(decoder, nil, 0, place, frameSize, 0)
            }
            initialized = min(max(Int(result), 0), sampleCount) * channels
        }
        guard result >= 0 else { throw opusError("decoding", result) }
        return samples
    }
}
