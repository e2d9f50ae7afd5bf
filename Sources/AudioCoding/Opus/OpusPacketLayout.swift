internal import RTCShareCOpus

/// The properties of an Opus packet that are known without decoding it (RFC 6716 §3 and §4.2.3).
enum OpusPacketLayout {
    /// Returns the number of samples per channel at 48 kHz.
    static func sampleCount(of packet: [UInt8]) throws(AudioCodingError) -> Int {
        guard !packet.isEmpty else { throw .emptyPacket }
        let count = packet.withUnsafeBufferPointer { bytes in
            guard let first = bytes.baseAddress else { return OPUS_INVALID_PACKET }
            return opus_packet_get_nb_samples(first, Int32(clamping: bytes.count), Int32(OpusDecoder.sampleRate))
        }
        guard count > 0 else { throw opusError("reading a packet", count == 0 ? OPUS_INVALID_PACKET : count) }
        return Int(count)
    }

    /// Whether the packet repeats the previous frame, which only the speech layer supports.
    ///
    /// That layer's data starts, for each channel, with one bit per 20 ms for voice activity, and then one for a
    /// repetition (RFC 6716 §4.2.3). All of them have a probability of one half, so that they are unchanged in the
    /// first byte.
    static func repeatsLastFrame(_ packet: [UInt8]) -> Bool {
        // RFC 6716 §3.1: configurations 16 to 31 have no speech layer.
        guard let head = packet.first, head & 0x80 == 0 else { return false }
        let configuration = Int(head >> 3)
        // Hybrid mode has 10 and 20 ms, the modes below it 10, 20, 40 and 60 ms.
        let speechFrames = configuration < 12 ? max(1, configuration % 4) : 1
        guard let first = firstFrameByte(packet) else { return false }
        let isStereo = head & 0x04 != 0
        if first >> UInt8(7 - speechFrames) & 1 == 1 { return true }
        return isStereo && first >> UInt8(6 - 2 * speechFrames) & 1 == 1
    }

    /// Returns the first byte of the first frame; nil for an invalid packet, and if the first frame is empty.
    private static func firstFrameByte(_ packet: [UInt8]) -> UInt8? {
        var head: UInt8 = 0
        var offset: Int32 = 0
        var sizes = [Int16](repeating: 0, count: 48)
        let frames = packet.withUnsafeBufferPointer { bytes in
            guard let start = bytes.baseAddress else { return OPUS_INVALID_PACKET }
            return opus_packet_parse(start, Int32(clamping: bytes.count), &head, nil, &sizes, &offset)
        }
        guard frames > 0, sizes[0] > 0, packet.indices.contains(Int(offset)) else { return nil }
        return packet[Int(offset)]
    }
}
