internal import Foundation

/// A server on a loopback port that takes connections, and never answers.
package final class SilentServer: Sendable {
    /// Its name as an X server.
    package let display: String
    private let descriptor: Int32

    package init() throws {
        descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isListening = withUnsafeMutablePointer(to: &address) { [descriptor] pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, length) == 0 && listen(descriptor, 100) == 0
                    && getsockname(descriptor, $0, &length) == 0
            }
        }
        guard isListening else { throw POSIXError(.EADDRINUSE) }
        // A display's port is its number and 6000.
        display = "127.0.0.1:\(Int(UInt16(bigEndian: address.sin_port)) - 6000)"
    }

    deinit { close(descriptor) }

    /// Whether a client has connected.
    package var isReached: Bool {
        var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        return poll(&entry, 1, 0) == 1
    }

    /// Ends the server, and with it all connections.
    package func end() { shutdown(descriptor, Int32(SHUT_RDWR)) }
}
