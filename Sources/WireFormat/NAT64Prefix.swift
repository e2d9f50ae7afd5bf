/// The prefix that a network puts before IPv4 addresses, so that machines without such an address reach them (NAT64,
/// RFC 6052).
package struct NAT64Prefix: Hashable, Sendable {
    /// The name whose IPv6 addresses show the prefix (RFC 7050 §3).
    package static let discoveryName = "ipv4only.arpa"

    /// The IPv4 addresses of ``discoveryName`` (RFC 7050 §8.2).
    private static let wellKnown: [UInt32] = [0xC000_00AA, 0xC000_00AB]

    /// The permitted lengths of a prefix in bits, each with the bytes of the address after it (RFC 6052 §2.2). Byte 8 is
    /// always zero.
    private static let layouts: [(length: Int, bytes: [Int])] = [
        (32, [4, 5, 6, 7]), (40, [5, 6, 7, 9]), (48, [6, 7, 9, 10]), (56, [7, 9, 10, 11]), (64, [9, 10, 11, 12]),
        (96, [12, 13, 14, 15]),
    ]

    /// The bytes of an address with the prefix, zero after it.
    private let bytes: [UInt8]
    private let places: [Int]

    /// Creates the prefix of an address of ``discoveryName``. Nil if it contains neither of the well-known IPv4 addresses
    /// at exactly one place.
    package init?(discoveredIn address: IPAddress) {
        guard case .v6(let high, let low) = address else { return nil }
        let bytes = (0..<16).map { UInt8(truncatingIfNeeded: ($0 < 8 ? high : low) >> (56 - 8 * UInt64($0 % 8))) }
        let found = Self.layouts.filter { layout in
            Self.wellKnown.contains(layout.bytes.reduce(0) { $0 << 8 | UInt32(bytes[$1]) })
        }
        guard found.count == 1, let layout = found.first else { return nil }
        self.bytes = bytes.prefix(layout.length / 8) + [UInt8](repeating: 0, count: 16 - layout.length / 8)
        places = layout.bytes
    }

    /// Returns the IPv6 address of an IPv4 address. Nil for an IPv6 address, and for one of no use beyond this machine or
    /// its link.
    package func translate(_ address: IPAddress) -> IPAddress? {
        guard case .v4(let value) = address, !address.isLoopback, !address.isLinkLocal, !address.isMulticast,
            !address.isUnspecified
        else { return nil }
        var bytes = bytes
        for (index, place) in places.enumerated() {
            bytes[place] = UInt8(truncatingIfNeeded: value >> (24 - 8 * index))
        }
        func half(_ bytes: ArraySlice<UInt8>) -> UInt64 { bytes.reduce(0) { $0 << 8 | UInt64($1) } }
        return .v6(half(bytes[..<8]), half(bytes[8...]))
    }
}
