internal import RTCShareCOpus

/// What can be told of an Opus packet without decoding it (RFC 6716 §3 and §4.2.3).
enum OpusPacketLayout {
    /// The samples a channel at 48 kHz.
    static func sampleCount(of packet: [UInt8]) throws(AudioCodingError) -> Int {
        guard !packet.isEmpty else { throw .emptyPacket }
        let count = packet.withUnsafeBufferPointer { bytes in
            guard let first = bytes.baseAddress else { return OPUS_INVALID_PACKET }
            return opus_packet_get_nb_samples(first, Int32(clamping: bytes.count), Int32(OpusDecoder.sampleRate))
        }
        guard count > 0 else { throw opusError("reading a packet", count == 0 ? OPUS_INVALID_PACKET : count) }
        return Int(count)
    }

    /// Whether the packet repeats the frame before it, which only the speech layer can.
    ///
    /// That layer's data begin with one bit a 20 ms for "somebody speaks", then one for "there is a repetition", for
    /// each channel (RFC 6716 §4.2.3); all of them have even odds, so that they lie in the first byte as they are.
    static func repeatsLastFrame(_ packet: [UInt8]) -> Bool {
        // RFC 6716 §3.1: configurations 16 to 31 have no speech layer.
        guard let head = packet.first, head & 0x80 == 0 else { return false }
        let configuration = Int(head >> 3)
        // In hybrid mode 10 and 20 ms, below it 10, 20, 40 and 60 ms.
        let speechFrames = configuration < 12 ? max(1, configuration % 4) : 1
        guard let first = firstFrameByte(packet) else { return false }
        let isStereo = head & 0x04 != 0
        if first >> UInt8(7 - speechFrames) & 1 == 1 { return true }
        return isStereo && first >> UInt8(6 - 2 * speechFrames) & 1 == 1
    }

    /// Nil for a packet that is none, and for one whose first frame is empty.
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
