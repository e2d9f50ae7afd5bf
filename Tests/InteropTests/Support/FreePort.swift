import Glibc
import Testing

/// A port that nobody has, for TCP and UDP, for a program that can't be told to take any.
///
/// The system hands out ports from 32768 on. One of those can belong to a connection of another program before the test
/// uses it, so that this one is lower.
func freePort() throws -> UInt16 {
    let free = (0..<100).lazy.map { _ in UInt16.random(in: 20_000..<32_000) }.first { port in
        [SOCK_STREAM, SOCK_DGRAM].allSatisfy { type in
            let descriptor = socket(AF_INET, Int32(type.rawValue), 0)
            defer { close(descriptor) }
            var address = sockaddr_in()
            address.sin_family = sa_family_t(AF_INET)
            address.sin_port = port.bigEndian
            return withUnsafePointer(to: &address) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
                }
            }
        }
    }
    return try #require(free)
}
