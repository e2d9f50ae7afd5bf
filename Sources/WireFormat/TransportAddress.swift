#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#endif

/// An IP address, version 4 or 6, as its bytes in network order.
public enum IPAddress: Hashable, Sendable {
    /// An IPv4 address whose first byte is the most significant one.
    case v4(UInt32)
    /// An IPv6 address as its two halves.
    case v6(UInt64, UInt64)

    /// Parses an address such as `192.0.2.1` or `2001:db8::1`, without brackets, port or zone. Returns nil for any
    /// other text, such as a name.
    public init?(_ text: some StringProtocol) {
        let text = String(text)
        var v4 = in_addr()
        var v6 = in6_addr()
        if unsafe inet_pton(AF_INET, text, &v4) == 1 {
            self = .v4(UInt32(bigEndian: v4.s_addr))
        } else if unsafe inet_pton(AF_INET6, text, &v6) == 1 {
            self = unsafe withUnsafeBytes(of: v6) { bytes in
                unsafe .v6(
                    UInt64(bigEndian: bytes.loadUnaligned(as: UInt64.self)),
                    UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self)))
            }
        } else {
            return nil
        }
    }

    /// Whether this is an IPv4 address.
    public var isV4: Bool { if case .v4 = self { true } else { false } }

    /// Whether the address is in `127.0.0.0/8` or is `::1`.
    public var isLoopback: Bool {
        switch self {
        case .v4(let value): value >> 24 == 127
        case .v6(let high, let low): high == 0 && low == 1
        }
    }

    /// Whether the address is in `169.254.0.0/16` or `fe80::/10`.
    public var isLinkLocal: Bool {
        switch self {
        case .v4(let value): value >> 16 == 0xA9FE
        case .v6(let high, _): high >> 54 == 0x3FA
        }
    }

    /// Whether the address is in `224.0.0.0/4` or `ff00::/8`.
    public var isMulticast: Bool {
        switch self {
        case .v4(let value): value >> 28 == 0xE
        case .v6(let high, _): high >> 56 == 0xFF
        }
    }

    /// Whether the address is in `::ffff:0:0/96`: an IPv4 address in the form of an IPv6 address (RFC 4291 §2.5.5.2).
    package var isV4Mapped: Bool {
        if case .v6(0, let low) = self { low >> 32 == 0xFFFF } else { false }
    }

    /// Whether the address is `0.0.0.0` or `::`.
    public var isUnspecified: Bool {
        switch self {
        case .v4(let value): value == 0
        case .v6(let high, let low): high == 0 && low == 0
        }
    }
}

extension IPAddress: CustomStringConvertible {
    /// The address in the format of RFC 5952.
    public var description: String {
        switch self {
        case .v4(let value):
            return "\(value >> 24).\(value >> 16 & 255).\(value >> 8 & 255).\(value & 255)"
        case .v6(let high, let low):
            var address = in6_addr()
            unsafe withUnsafeMutableBytes(of: &address) { bytes in
                unsafe bytes.storeBytes(of: high.bigEndian, as: UInt64.self)
                unsafe bytes.storeBytes(of: low.bigEndian, toByteOffset: 8, as: UInt64.self)
            }
            var text = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
            _ = unsafe inet_ntop(AF_INET6, &address, &text, socklen_t(text.count))
            return String(decoding: text.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
        }
    }
}

/// An IP address and a port: the source or the destination of a datagram.
public struct TransportAddress: Hashable, Sendable {
    /// The IP address.
    public let ip: IPAddress
    /// The UDP port.
    public let port: UInt16

    /// Creates an address from its IP address and its port.
    public init(ip: IPAddress, port: UInt16) {
        self.ip = ip
        self.port = port
    }

    /// Creates an address from the text of an IP address and a port. Returns nil if ``IPAddress/init(_:)`` does.
    public init?(_ ip: some StringProtocol, port: UInt16) {
        guard let ip = IPAddress(ip) else { return nil }
        self.init(ip: ip, port: port)
    }
}

extension TransportAddress: CustomStringConvertible {
    /// The address in a form such as `192.0.2.1:9` or `[2001:db8::1]:9`.
    public var description: String {
        ip.isV4 ? "\(ip):\(port)" : "[\(ip)]:\(port)"
    }
}
