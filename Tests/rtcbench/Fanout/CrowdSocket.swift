internal import Glibc
internal import RTCShareCDatagrams
internal import RTCShareWireFormat

/// An IPv4 UDP socket for the benchmark's own datagrams.
enum CrowdSocket {
    /// Opens a socket at a port that the system chooses.
    static func open(at address: IPAddress) throws -> (descriptor: Int32, address: TransportAddress) {
        let descriptor = socket(AF_INET, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_NONBLOCK.rawValue), 0)
        guard descriptor >= 0 else {
            throw BenchmarkFailure("no more sockets: \(String(cString: strerror(errno))); raise the limit (ulimit -n)")
        }
        var size: Int32 = 1 << 20
        setsockopt(descriptor, SOL_SOCKET, SO_RCVBUF, &size, socklen_t(MemoryLayout<Int32>.size))
        setsockopt(descriptor, SOL_SOCKET, SO_SNDBUF, &size, socklen_t(MemoryLayout<Int32>.size))
        var name = sockaddr_in(TransportAddress(ip: address, port: 0))
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isBound = withUnsafeMutablePointer(to: &name) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
                bind(descriptor, pointer, length) == 0 && getsockname(descriptor, pointer, &length) == 0
            }
        }
        guard isBound else {
            close(descriptor)
            throw BenchmarkFailure("no socket can be bound to \(address)")
        }
        datagrams_stamp(descriptor)
        return (descriptor, TransportAddress(name))
    }

    static func send(_ bytes: [UInt8], from descriptor: Int32, to address: TransportAddress) {
        var name = sockaddr_in(address)
        withUnsafePointer(to: &name) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
                _ = sendto(descriptor, bytes, bytes.count, 0, pointer, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
    }
}

extension sockaddr_in {
    init(_ address: TransportAddress) {
        self.init()
        sin_family = sa_family_t(AF_INET)
        sin_port = address.port.bigEndian
        if case .v4(let value) = address.ip { sin_addr.s_addr = value.bigEndian }
    }
}

extension TransportAddress {
    init(_ name: sockaddr_in) {
        self.init(ip: .v4(UInt32(bigEndian: name.sin_addr.s_addr)), port: UInt16(bigEndian: name.sin_port))
    }
}
