#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#endif

/// An IP address, version 4 or 6, as its bytes in network order.
public enum IPAddress: Hashable, Sendable {
    /// An IPv4 address; the most significant byte is its first.
    case v4(UInt32)
    /// An IPv6 address as its two halves.
    case v6(UInt64, UInt64)

    /// Parses `192.0.2.1` or `2001:db8::1`, without brackets, port or zone; nil for anything else, names included.
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

    /// `127.0.0.0/8` or `::1`.
    public var isLoopback: Bool {
        switch self {
        case .v4(let value): value >> 24 == 127
        case .v6(let high, let low): high == 0 && low == 1
        }
    }

    /// `169.254.0.0/16` or `fe80::/10`.
    public var isLinkLocal: Bool {
        switch self {
        case .v4(let value): value >> 16 == 0xA9FE
        case .v6(let high, _): high >> 54 == 0x3FA
        }
    }

    /// `224.0.0.0/4` or `ff00::/8`.
    public var isMulticast: Bool {
        switch self {
        case .v4(let value): value >> 28 == 0xE
        case .v6(let high, _): high >> 56 == 0xFF
        }
    }

    /// `::ffff:0:0/96`: an IPv4 address that is written as IPv6, and reached over IPv4 (RFC 4291 §2.5.5.2).
    package var isV4Mapped: Bool {
        if case .v6(0, let low) = self { low >> 32 == 0xFFFF } else { false }
    }

    /// `0.0.0.0` or `::`.
    public var isUnspecified: Bool {
        switch self {
        case .v4(let value): value == 0
        case .v6(let high, let low): high == 0 && low == 0
        }
    }
}

extension IPAddress: CustomStringConvertible {
    /// The address as RFC 5952 writes it.
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

/// An IP address and a port: where a datagram comes from or goes to.
public struct TransportAddress: Hashable, Sendable {
    /// The address.
    public let ip: IPAddress
    /// The UDP port.
    public let port: UInt16

    /// The port of an address.
    public init(ip: IPAddress, port: UInt16) {
        self.ip = ip
        self.port = port
    }

    /// The port of an address that is given as text; nil where ``IPAddress/init(_:)`` is.
    public init?(_ ip: some StringProtocol, port: UInt16) {
        guard let ip = IPAddress(ip) else { return nil }
        self.init(ip: ip, port: port)
    }
}

extension TransportAddress: CustomStringConvertible {
    /// `192.0.2.1:9` or `[2001:db8::1]:9`.
    public var description: String {
        ip.isV4 ? "\(ip):\(port)" : "[\(ip)]:\(port)"
    }
}
