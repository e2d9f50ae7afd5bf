/// The number of a channel (RFC 8656 §12).
package struct ChannelNumber: RawRepresentable, Hashable, Sendable {
    /// The number, from 0x4000 to 0x4FFF.
    package let rawValue: UInt16

    /// Creates the channel with this number; nil outside ``range``.
    package init?(rawValue: UInt16) {
        guard Self.range.contains(rawValue) else { return nil }
        self.rawValue = rawValue
    }

    /// The numbers that a client can bind. Higher numbers up to 0x7FFF are reserved.
    package static let range: ClosedRange<UInt16> = 0x4000...0x4FFF
}

/// The family of an address, by its number in TURN (RFC 8656 §18.6).
package enum AddressFamily: UInt8, Hashable, Sendable {
    /// IPv4.
    case v4 = 1
    /// IPv6.
    case v6 = 2
}

/// A protocol between a relay and its peers, by its number in IP headers (RFC 8656 §18.8).
package struct RequestedTransport: RawRepresentable, Hashable, Sendable {
    /// The number in IP headers.
    package let rawValue: UInt8

    /// Creates the protocol with this number.
    package init(rawValue: UInt8) {
        self.rawValue = rawValue
    }

    /// UDP.
    package static let udp = RequestedTransport(rawValue: 17)
    /// TCP (RFC 6062).
    package static let tcp = RequestedTransport(rawValue: 6)
}

/// An ICMP error that a relay received for a datagram that it forwarded (RFC 8656 §18.13).
package struct ICMPError: Hashable, Sendable {
    /// The ICMP type, 0 to 127.
    package let type: UInt8
    /// The ICMP code, 0 to 511.
    package let code: UInt16
    /// The path's maximum packet size in bytes, if the error is about it.
    package let data: UInt32

    /// Creates an error. Values that don't fit their fields are truncated.
    package init(type: UInt8, code: UInt16, data: UInt32 = 0) {
        self.type = type & 0x7F
        self.code = code & 0x1FF
        self.data = data
    }
}
