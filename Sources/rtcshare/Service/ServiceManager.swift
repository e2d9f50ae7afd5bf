internal import FoundationEssentials
internal import Glibc
internal import RTCShareWireFormat

/// The service manager that started this process, if one did. It is notified of the start of the work, and of its state
/// (sd_notify(3)).
enum ServiceManager {
    /// Whether one started this process.
    static var isPresent: Bool { socketPath != nil }

    private static var socketPath: String? { ProcessInfo.processInfo.environment["NOTIFY_SOCKET"] }

    /// Notifies that the work has started.
    static func ready() { send("READY=1") }

    /// Notifies that the work is about to end.
    static func stopping() { send("STOPPING=1") }

    /// Sends the state, in a line for people.
    static func status(_ line: String) { send("STATUS=" + line.printable) }

    /// Returns whether a descriptor writes to the journal: `stream` is systemd's device and inode of it
    /// (systemd.exec(5)).
    static func keeps(
        _ descriptor: Int32, stream: String? = ProcessInfo.processInfo.environment["JOURNAL_STREAM"]
    ) -> Bool {
        var status = stat()
        guard let stream, fstat(descriptor, &status) == 0 else { return false }
        return stream == "\(status.st_dev):\(status.st_ino)"
    }

    private static func send(_ state: String) {
        if let socketPath { notify(state, at: socketPath) }
    }

    /// Sends one datagram to the socket, whose path begins with `/`, or with `@` in the abstract namespace. A failure
    /// does not affect the share. Returns whether the datagram was accepted.
    @discardableResult
    static func notify(_ state: String, at path: String) -> Bool {
        var bytes = Array(path.utf8)
        var address = sockaddr_un()
        let room = MemoryLayout.size(ofValue: address.sun_path)
        guard let first = bytes.first, bytes.count > 1, bytes.count < room,
            first == UInt8(ascii: "/") || first == UInt8(ascii: "@")
        else { return false }
        if first == UInt8(ascii: "@") { bytes[0] = 0 }
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: bytes) }
        // The length of an abstract name is that of the address (unix(7)).
        let length = socklen_t(MemoryLayout.offset(of: \sockaddr_un.sun_path).map { $0 + bytes.count } ?? 0)
        let descriptor = socket(
            AF_UNIX, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue) | Int32(SOCK_NONBLOCK.rawValue), 0)
        guard descriptor >= 0 else { return false }
        defer { close(descriptor) }
        let text = Array(state.utf8)
        let sent = withUnsafePointer(to: address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                sendto(descriptor, text, text.count, Int32(MSG_NOSIGNAL), $0, length)
            }
        }
        return sent == text.count
    }
}
