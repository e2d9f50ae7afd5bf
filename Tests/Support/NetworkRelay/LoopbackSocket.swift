internal import Glibc

/// A UDP socket on an address of this machine, by default 127.0.0.1, at a port that the system chooses.
struct LoopbackSocket: ~Copyable {
    /// The address of a destination or a source.
    struct Address: Hashable, Sendable {
        var host: UInt32
        var port: UInt16
    }

    let descriptor: Int32
    let port: UInt16

    init(on host: UInt32 = INADDR_LOOPBACK) throws {
        descriptor = Glibc.socket(AF_INET, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_NONBLOCK.rawValue), 0)
        var address = Self.systemAddress(Address(host: host, port: 0))
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let descriptor = descriptor
        let isBound = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, length) == 0 && getsockname(descriptor, $0, &length) == 0
            }
        }
        guard descriptor >= 0, isBound else { throw RelayFailure("no UDP socket: error \(errno)") }
        port = UInt16(bigEndian: address.sin_port)
    }

    deinit { close(descriptor) }

    /// Returns the next waiting datagram, or nil.
    func receive(into memory: UnsafeMutableRawBufferPointer) -> (bytes: [UInt8], source: Address)? {
        var address = sockaddr_in()
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let count = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                recvfrom(descriptor, memory.baseAddress, memory.count, 0, $0, &length)
            }
        }
        guard count >= 0 else { return nil }
        let source = Address(
            host: UInt32(bigEndian: address.sin_addr.s_addr), port: UInt16(bigEndian: address.sin_port))
        return ([UInt8](UnsafeRawBufferPointer(memory)[..<count]), source)
    }

    /// Sends a datagram. One that the system does not accept is lost, as on any network.
    func send(_ bytes: [UInt8], to destination: Address) {
        let address = Self.systemAddress(destination)
        _ = withUnsafePointer(to: address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                sendto(descriptor, bytes, bytes.count, 0, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
    }

    private static func systemAddress(_ address: Address) -> sockaddr_in {
        var system = sockaddr_in()
        system.sin_family = sa_family_t(AF_INET)
        system.sin_port = address.port.bigEndian
        system.sin_addr.s_addr = address.host.bigEndian
        return system
    }
}

/// The reason why the relay could not start.
struct RelayFailure: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}
