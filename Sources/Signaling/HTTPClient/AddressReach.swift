internal import Glibc
internal import RTCShareCCURL
internal import RTCShareWireFormat

/// The scope from which an address can be reached: the greater, the smaller. A server may redirect only to addresses
/// that can be reached from its own scope.
enum AddressReach: Int, Comparable, Sendable {
    /// The internet.
    case internet
    /// A private network (RFC 1918, RFC 4193), or that of a provider (RFC 6598).
    case network
    /// The same link (RFC 3927, RFC 4291 §2.5.6).
    case link
    /// This machine.
    case machine

    init(_ address: IPAddress) {
        let address = address.v4Mapped ?? address
        self =
            switch address {
            case _ where address.isLoopback: .machine
            case _ where address.isLinkLocal: .link
            // Linux connects to itself for the unspecified address.
            case .v4(let value) where value >> 24 == 0: .machine
            case .v6(0, 0): .machine
            case .v4(let value) where value >> 24 == 10 || value >> 20 == 0xAC1 || value >> 16 == 0xC0A8: .network
            case .v4(let value) where value >> 22 == 0x191: .network
            case .v6(let high, _) where high >> 57 == 0x7E: .network
            default: .internet
            }
    }

    static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
}

extension IPAddress {
    /// The IPv4 address in an IPv4-mapped one (RFC 4291 §2.5.5.2).
    fileprivate var v4Mapped: IPAddress? {
        if isV4Mapped, case .v6(_, let low) = self { .v4(UInt32(truncatingIfNeeded: low)) } else { nil }
    }

    /// Creates the address to which libcurl is about to connect; nil for another address family.
    init?(_ address: UnsafePointer<curl_sockaddr>) {
        guard let offset = MemoryLayout<curl_sockaddr>.offset(of: \.addr) else { return nil }
        let length = Int(address.pointee.addrlen)
        let bytes = UnsafeRawPointer(address).advanced(by: offset)
        // `sockaddr_in` is family, port and address; `sockaddr_in6` has the flow information before the address.
        switch address.pointee.family {
        case AF_INET where length >= 8:
            self = .v4(UInt32(bigEndian: bytes.loadUnaligned(fromByteOffset: 4, as: UInt32.self)))
        case AF_INET6 where length >= 24:
            self = .v6(
                UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self)),
                UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: 16, as: UInt64.self)))
        default: return nil
        }
    }
}
