internal import Glibc
internal import NIOCore
internal import RTCShareCDatagrams
package import RTCShareWireFormat

/// The addresses of this machine that a peer could reach.
package enum NetworkInterfaces {
    /// One address of each usable interface and family in the system's order; those of the loopback interface where
    /// there is nothing else.
    ///
    /// Link-local IPv6 addresses need a zone that no candidate can carry and are left out (RFC 8445 §5.1.1.1).
    package static func usableAddresses() throws -> [IPAddress] {
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
        // Read from where the kernel wrote it: it is asked for with every datagram.
        let name: socket_name? = address.withSockAddr { pointer, byteCount in
            guard byteCount <= MemoryLayout<socket_name>.size else { return nil }
            var name = socket_name()
            withUnsafeMutableBytes(of: &name) {
                $0.copyMemory(from: UnsafeRawBufferPointer(start: pointer, count: byteCount))
            }
            return name
        }
        guard let name else { return nil }
        switch Int32(name.family) {
        case Int32(AF_INET):
            self.init(ip: .v4(UInt32(bigEndian: name.v4)), port: UInt16(bigEndian: name.port))
        case Int32(AF_INET6):
            self.init(
                ip: .v6(UInt64(bigEndian: name.v6_high), UInt64(bigEndian: name.v6_low)),
                port: UInt16(bigEndian: name.port))
        default: return nil
        }
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
