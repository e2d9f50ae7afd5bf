internal import FoundationEssentials
internal import Glibc
internal import RTCShareWireFormat

/// The service manager that started this process, where one did: it learns when the work has begun, and how it stands
/// (sd_notify(3)).
enum ServiceManager {
    /// Whether one started this process.
    static var isPresent: Bool { socketPath != nil }

    private static var socketPath: String? { ProcessInfo.processInfo.environment["NOTIFY_SOCKET"] }

    /// The work has begun.
    static func ready() { send("READY=1") }

    /// The work is about to end.
    static func stopping() { send("STOPPING=1") }

    /// Says how things stand, in a line for people.
    static func status(_ line: String) { send("STATUS=" + line.printable) }

    /// Whether what is written to a descriptor goes to the journal: `stream` is what systemd says of it, device and inode
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

    /// Sends one datagram to the socket, whose path begins with `/`, or with `@` in the abstract namespace. That nobody
    /// takes it changes nothing for what is shared; returns whether somebody did.
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
        // An abstract name is as long as the address says (unix(7)).
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
