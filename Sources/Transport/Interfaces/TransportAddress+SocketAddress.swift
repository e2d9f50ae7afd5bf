internal import Glibc
internal import NIOCore
internal import RTCShareCDatagrams
internal import RTCShareWireFormat

extension IPAddress {
    init?(_ address: SocketAddress) {
        guard let text = address.ipAddress else { return nil }
        // The system appends the zone of a scoped address after a percent sign.
        self.init(text.prefix { $0 != "%" })
    }
}

extension TransportAddress {
    init?(_ address: SocketAddress) {
        // Read directly from the kernel's memory, because this happens for every datagram.
        let name: socket_name? = address.withSockAddr { pointer, byteCount in
            guard byteCount <= MemoryLayout<socket_name>.size else { return nil }
            var name = socket_name()
            withUnsafeMutableBytes(of: &name) {
                $0.copyMemory(from: UnsafeRawBufferPointer(start: pointer, count: byteCount))
            }
            return name
        }
        guard let name else { return nil }
        self.init(name)
    }

    /// Creates an address, also of an IPv4 address at an IPv6 socket (RFC 4291 §2.5.5.2).
    init?(unmapping address: SocketAddress) {
        guard let known = TransportAddress(address) else { return nil }
        self = known
        if case .v6(0, let low) = ip, low >> 32 == 0xFFFF {
            self = TransportAddress(ip: .v4(UInt32(truncatingIfNeeded: low)), port: port)
        }
    }

    init?(_ name: socket_name) {
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

    /// This address in SwiftNIO's format, created without a text, because this happens for every packet.
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
