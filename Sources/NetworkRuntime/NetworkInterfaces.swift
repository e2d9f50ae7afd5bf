internal import NIOCore
public import WireFormat

/// The addresses of this machine that a peer could reach.
public enum NetworkInterfaces {
    /// One address of each usable interface and family in the system's order; those of the loopback interface where
    /// there is nothing else.
    ///
    /// Link-local IPv6 addresses need a zone that no candidate can carry and are left out (RFC 8445 §5.1.1.1).
    public static func usableAddresses() throws -> [IPAddress] {
        let addresses = try System.enumerateDevices().compactMap { $0.address.flatMap(IPAddress.init) }
        let usable = addresses.filter { !$0.isLoopback && !$0.isUnspecified && !($0.isLinkLocal && !$0.isV4) }
        return uniqued(usable.isEmpty ? addresses.filter(\.isLoopback) : usable)
    }

    /// Every address that an interface has.
    static func allAddresses() throws -> Set<IPAddress> {
        Set(try System.enumerateDevices().compactMap { $0.address.flatMap(IPAddress.init) })
    }

    private static func uniqued(_ addresses: [IPAddress]) -> [IPAddress] {
        var seen: Set<IPAddress> = []
        return addresses.filter { seen.insert($0).inserted }
    }
}

extension IPAddress {
    init?(_ address: SocketAddress) {
        guard let text = address.ipAddress else { return nil }
        // The system writes the zone of a scoped address behind a percent sign.
        self.init(text.prefix { $0 != "%" })
    }
}

extension TransportAddress {
    init?(_ address: SocketAddress) {
        guard let ip = IPAddress(address), let port = address.port.flatMap(UInt16.init(exactly:)) else { return nil }
        self.init(ip: ip, port: port)
    }

    /// This address as SwiftNIO has it, made without going through text: it is made for every packet.
    var socketAddress: SocketAddress {
        get throws {
            try SocketAddress(packedIPAddress: ip.packed, port: Int(port))
        }
    }
}

extension IPAddress {
    fileprivate var packed: ByteBuffer {
        switch self {
        case .v4(let value): ByteBuffer(integer: value)
        case .v6(let high, let low):
            ByteBuffer(bytes: withUnsafeBytes(of: (high.bigEndian, low.bigEndian)) { [UInt8]($0) })
        }
    }
}
