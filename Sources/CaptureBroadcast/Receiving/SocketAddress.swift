internal import Glibc
import RTCShareCSharedMemory

/// A socket address in the system's format.
struct SocketAddress {
    private var storage = sockaddr_storage()
    private var length: socklen_t

    private init(length: Int) {
        self.length = socklen_t(length)
    }

    /// Creates the address of a port of 127.0.0.1.
    static func loopback(port: UInt16) -> SocketAddress {
        var address = SocketAddress(length: MemoryLayout<sockaddr_in>.size)
        withUnsafeMutableBytes(of: &address.storage) { bytes in
            var name = sockaddr_in()
            name.sin_family = sa_family_t(AF_INET)
            name.sin_port = port.bigEndian
            name.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
            bytes.storeBytes(of: name, as: sockaddr_in.self)
        }
        return address
    }

    /// Creates the address of a path. Throws if the path is too long.
    static func path(_ path: String) throws(BroadcastError) -> SocketAddress {
        let bytes = Array(path.utf8)
        guard !bytes.isEmpty, !bytes.contains(0), bytes.count <= BroadcastEndpoint.maximumPath else {
            throw .listen(
                "the path \(path.prefix(40))… has \(bytes.count) bytes, and a socket's path has 1 to "
                    + "\(BroadcastEndpoint.maximumPath) bytes", remedy: "choose a shorter path")
        }
        let start = MemoryLayout<sockaddr_un>.offset(of: \.sun_path) ?? 2
        var address = SocketAddress(length: start + bytes.count + 1)
        withUnsafeMutableBytes(of: &address.storage) { storage in
            storage.storeBytes(of: sa_family_t(AF_UNIX), as: sa_family_t.self)
            storage[start..<start + bytes.count].copyBytes(from: bytes)
        }
        return address
    }

    var port: UInt16 { withUnsafeBytes(of: storage) { UInt16(bigEndian: $0.load(as: sockaddr_in.self).sin_port) } }

    mutating func with<Result>(_ body: (UnsafePointer<sockaddr>, socklen_t) -> Result) -> Result {
        withUnsafePointer(to: &storage) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, length) }
        }
    }

    mutating func withMutable(_ body: (UnsafeMutablePointer<sockaddr>) -> Void) {
        withUnsafeMutablePointer(to: &storage) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0) }
        }
    }
}
