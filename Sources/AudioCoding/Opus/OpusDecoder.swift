internal import RTCShareCOpus

/// libopus's decoder, which converts packets to interleaved samples at 48 kHz (RFC 6716). One thread at a time can use
/// it.
///
/// A peer's data can't harm it: an invalid packet causes an error, and the next valid one continues.
package final class OpusDecoder {
    /// The sampling rate in Hz.
    package static let sampleRate = 48_000
    /// The maximum number of samples per channel in one packet, 120 ms (RFC 6716 §3.2.5).
    package static let largestSampleCount = 5760

    /// The number of channels, 1 or 2, whatever the packets have: stereo is mixed down, mono is duplicated.
    package let channels: Int
    private let decoder: OpaquePointer

    /// Creates a decoder for `channels` channels, 1 or 2.
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

    /// Reconstructs the `sampleCount` samples per channel that were lost just before `following`, from that packet's
    /// in-band FEC (RFC 6716 §2.1.7), or by concealment if it has none. Decode `following` next.
    package func decodeLost(following packet: [UInt8], sampleCount: Int) throws(AudioCodingError) -> [Float] {
        guard !packet.isEmpty else { throw .emptyPacket }
        return try decodeCut(packet, sampleCount: sampleCount)
    }

    /// Conceals `sampleCount` lost samples per channel. libopus fades them out gradually.
    package func conceal(sampleCount: Int) throws(AudioCodingError) -> [Float] {
        try decodeCut(nil, sampleCount: sampleCount)
    }

    /// Decodes concealment or FEC in steps of 2.5 ms, and truncates it to `sampleCount`.
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
