internal import RTCShareRTP
internal import RTCShareWireFormat

/// The overhead of a media's packets on the wire: IP and UDP, the RTP header with the extensions of every packet, the
/// prefix of the payload, and the bytes of SRTP.
struct PacketOverhead {
    private let bitsPerPacket: Int
    /// The packets per second of audio; nil for video, whose number of packets follows from its bitrate.
    private let packetsPerSecond: Int?
    /// The ratio of loss protection to frames with headers.
    private let protectionRatio: Double

    /// The bytes of extensions: a profile's four bytes, absolute send time and transport-wide sequence number, with
    /// padding.
    private static let extensionBytes = 12
    /// The bytes that a payload format writes before a piece of a frame, at most, or has in the dependency descriptor.
    private static let prefixBytes = 6
    /// The payload of a full video packet, in bits.
    private static let fullPayloadBits = 1140.0 * 8
    /// The assumed frame rate, for packets that are not full.
    private static let framesPerSecond = 15

    /// - Parameters:
    /// - path: The number of bytes around SRTP.
    /// - cipher: The number of bytes that SRTP adds.
    /// - packetsPerSecond: The packets per second of audio; nil for video.
    /// - protectionRatio: The ratio of loss protection to media.
    init(path: Int, cipher: Int, packetsPerSecond: Int?, protectionRatio: Double = 0) {
        let headers = path + RTPHeader.fixedByteCount + Self.extensionBytes + cipher
        bitsPerPacket = 8 * (headers + (packetsPerSecond == nil ? Self.prefixBytes : 0))
        self.packetsPerSecond = packetsPerSecond
        self.protectionRatio = protectionRatio
    }

    /// Returns the bitrate of headers for an encoder's output.
    private func rate(of encoded: DataRate) -> DataRate {
        if let packetsPerSecond { return .bitsPerSecond(bitsPerPacket * packetsPerSecond) }
        let full = encoded * (Double(bitsPerPacket) / Self.fullPayloadBits)
        return max(full, .bitsPerSecond(bitsPerPacket * Self.framesPerSecond))
    }

    /// Returns the wire bitrate of an encoder's output, with headers.
    func wireRate(of encoded: DataRate) -> DataRate {
        let plain = DataRate.bitsPerSecond(encoded.bitsPerSecond.saturatingSum(rate(of: encoded).bitsPerSecond))
        return protectionRatio > 0 ? plain * (1 + protectionRatio) : plain
    }

    /// Returns the encoder's bitrate for a bitrate on the wire: the inverse of ``wireRate(of:)``.
    func encoderRate(of wire: DataRate) -> DataRate {
        let plain = protectionRatio > 0 ? wire * (1 / (1 + protectionRatio)) : wire
        let (wire, perPacket) = (plain.bitsPerSecond, Int64(bitsPerPacket))
        if let packetsPerSecond { return .bitsPerSecond(max(0, wire - perPacket * Int64(packetsPerSecond))) }
        let full = Int64(Double(wire) * Self.fullPayloadBits / (Self.fullPayloadBits + Double(perPacket)))
        return .bitsPerSecond(max(0, min(full, wire - perPacket * Int64(Self.framesPerSecond))))
    }
}

extension Int64 {
    /// Returns the sum, limited to the maximum.
    func saturatingSum(_ other: Int64) -> Int64 {
        let (sum, overflow) = addingReportingOverflow(other)
        return overflow ? .max : sum
    }
}
