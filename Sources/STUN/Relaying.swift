/// The number of a channel (RFC 8656 §12).
package struct ChannelNumber: RawRepresentable, Hashable, Sendable {
    /// 0x4000 to 0x4FFF.
    package let rawValue: UInt16

    /// The channel with this number; nil outside ``range``.
    package init?(rawValue: UInt16) {
        guard Self.range.contains(rawValue) else { return nil }
        self.rawValue = rawValue
    }

    /// What a client may bind; what goes up to 0x7FFF is reserved.
    package static let range: ClosedRange<UInt16> = 0x4000...0x4FFF
}

/// The family of an address, as TURN names it (RFC 8656 §18.6).
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

    /// The protocol with this number.
    package init(rawValue: UInt8) {
        self.rawValue = rawValue
    }

    /// UDP.
    package static let udp = RequestedTransport(rawValue: 17)
    /// TCP (RFC 6062).
    package static let tcp = RequestedTransport(rawValue: 6)
}

/// What a relay heard about a datagram that it sent on (RFC 8656 §18.13).
package struct ICMPError: Hashable, Sendable {
    /// The ICMP type, 0 to 127.
    package let type: UInt8
    /// The ICMP code, 0 to 511.
    package let code: UInt16
    /// The path's packet size in bytes, where that is what the error is about.
    package let data: UInt32

    /// An error; what does not fit the fields is cut off.
    package init(type: UInt8, code: UInt16, data: UInt32 = 0) {
        self.type = type & 0x7F
        self.code = code & 0x1FF
        self.data = data
    }
}
