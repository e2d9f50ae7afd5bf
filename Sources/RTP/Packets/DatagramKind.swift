import RTCShareWireFormat

/// The protocol of a datagram on a shared port, by its first bytes (RFC 7983 §7, RFC 5761 §4).
package enum DatagramKind: Hashable, Sendable {
    /// STUN: a first byte of 0 to 3.
    case stun
    /// ZRTP: a first byte of 16 to 19.
    case zrtp
    /// DTLS: a first byte of 20 to 63.
    case dtls
    /// TURN channel data: a first byte of 64 to 79.
    case turnChannel
    /// RTP or SRTP: a first byte of 128 to 191, and a second byte that is not an RTCP packet type.
    case rtp
    /// RTCP or SRTCP: a first byte of 128 to 191, and a second byte of 192 to 223.
    case rtcp
    /// A datagram of another protocol.
    case unknown

    /// Classifies a datagram.
    package init(_ datagram: RawSpan) {
        var reader = ByteReader(datagram)
        do {
            switch try reader.readUInt8() {
            case 0...3: self = .stun
            case 16...19: self = .zrtp
            case 20...63: self = .dtls
            case 64...79: self = .turnChannel
            case 128...191: self = (192...223).contains(try reader.readUInt8()) ? .rtcp : .rtp
            default: self = .unknown
            }
        } catch {
            self = .unknown
        }
    }
}
