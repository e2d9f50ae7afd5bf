internal import RTCShareRTP
internal import RTCShareWireFormat

/// What is put around a media's payloads on the wire: IP and UDP, the RTP header with the extensions that every packet has,
/// the payload descriptor, and what SRTP adds.
struct PacketOverhead {
    private let bitsPerPacket: Int
    /// Of sound; nil for pictures, whose packets are as many as their bits need.
    private let packetsPerSecond: Int?
    /// How much goes beside a frame and its headers against loss.
    private let protectionRatio: Double

    /// A profile's four bytes, absolute send time and transport-wide sequence number, filled up.
    private static let extensionBytes = 12
    /// Of VP8 with a long picture id and the index of the base layer (RFC 7741 §4.2).
    private static let descriptorBytes = 6
    /// What a full packet of pictures carries.
    private static let fullPayloadBits = 1140.0 * 8
    /// What pictures are taken to come at, for packets that are not full.
    private static let framesPerSecond = 15

    /// - Parameters:
    ///   - path: The bytes around SRTP.
    ///   - cipher: The bytes that SRTP adds.
    ///   - packetsPerSecond: Those of sound; nil for pictures.
    ///   - protectionRatio: How much goes beside so much against loss.
    init(path: Int, cipher: Int, packetsPerSecond: Int?, protectionRatio: Double = 0) {
        let headers = path + RTPHeader.fixedByteCount + Self.extensionBytes + cipher
        bitsPerPacket = 8 * (headers + (packetsPerSecond == nil ? Self.descriptorBytes : 0))
        self.packetsPerSecond = packetsPerSecond
        self.protectionRatio = protectionRatio
    }

    /// What the headers of an encoder's output take.
    private func rate(of encoded: DataRate) -> DataRate {
        if let packetsPerSecond { return .bitsPerSecond(bitsPerPacket * packetsPerSecond) }
        let full = encoded * (Double(bitsPerPacket) / Self.fullPayloadBits)
        return max(full, .bitsPerSecond(bitsPerPacket * Self.framesPerSecond))
    }

    /// An encoder's rate with the headers.
    func wireRate(of encoded: DataRate) -> DataRate {
        let plain = DataRate.bitsPerSecond(encoded.bitsPerSecond.saturatingSum(rate(of: encoded).bitsPerSecond))
        return protectionRatio > 0 ? plain * (1 + protectionRatio) : plain
    }

    /// What is left of a rate on the wire for the encoder: the inverse of ``wireRate(of:)``.
    func encoderRate(of wire: DataRate) -> DataRate {
        let plain = protectionRatio > 0 ? wire * (1 / (1 + protectionRatio)) : wire
        let (wire, perPacket) = (plain.bitsPerSecond, Int64(bitsPerPacket))
        if let packetsPerSecond { return .bitsPerSecond(max(0, wire - perPacket * Int64(packetsPerSecond))) }
        let full = Int64(Double(wire) * Self.fullPayloadBits / (Self.fullPayloadBits + Double(perPacket)))
        return .bitsPerSecond(max(0, min(full, wire - perPacket * Int64(Self.framesPerSecond))))
    }
}

extension Int64 {
    /// The sum, or the greatest number where that is less.
    func saturatingSum(_ other: Int64) -> Int64 {
        let (sum, overflow) = addingReportingOverflow(other)
        return overflow ? .max : sum
    }
}
