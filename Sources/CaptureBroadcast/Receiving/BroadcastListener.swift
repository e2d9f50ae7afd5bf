import FoundationEssentials
internal import Glibc
internal import RTCShareMedia
import RTCShareCSharedMemory

/// The sockets at which a sharing process waits for capturing processes.
final class BroadcastListener: Sendable {
    /// The address at which it listens, with the port that the system chose if it was 0.
    let endpoint: BroadcastEndpoint
    let descriptors: [Int32]
    /// The path of the socket, which is removed at the end.
    private let path: String

    /// Listens at the port and its Unix domain socket, or at the socket of a path.
    init(_ endpoint: BroadcastEndpoint, environment: [String: String]) throws(BroadcastError) {
        switch endpoint {
        case .port(let wanted):
            let (descriptor, port) = try Self.listen(port: wanted)
            path = BroadcastEndpoint.sharedMemoryPath(port: port, environment: environment)
            do throws(BroadcastError) {
                try Self.makeFolder(of: path)
                descriptors = [descriptor, try Self.listen(path: path)]
            } catch {
                close(descriptor)
                throw error
            }
            self.endpoint = .port(port)
        case .path(let path):
            self.path = path
            descriptors = [try Self.listen(path: path)]
            self.endpoint = endpoint
        }
    }

    deinit {
        for descriptor in descriptors { close(descriptor) }
        unlink(path)
    }

    /// Accepts the next connection at one of the sockets; nil if none waits. Throws if the system has no descriptor for
    /// it, in which case it still waits.
    static func accept(at descriptor: Int32) throws(BroadcastError) -> BroadcastSocket? {
        let accepted = socket_accept(descriptor)
        if accepted >= 0 { return BroadcastSocket(descriptor: accepted) }
        let reason = errno
        guard [EMFILE, ENFILE, ENOBUFS, ENOMEM].contains(reason) else { return nil }
        throw .internal("accept: \(systemMessage(reason))")
    }

    private static let backlog: Int32 = 8

    private static func listen(port: UInt16) throws(BroadcastError) -> (descriptor: Int32, port: UInt16) {
        let descriptor = try open(AF_INET)
        var on: Int32 = 1
        // Connections of a previous share must not prevent a new one.
        setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &on, socklen_t(MemoryLayout<Int32>.size))
        var address = SocketAddress.loopback(port: port)
        guard address.with({ bind(descriptor, $0, $1) }) == 0, Glibc.listen(descriptor, backlog) == 0 else {
            let reason = errno
            close(descriptor)
            switch reason {
            case EADDRINUSE:
                throw .listen(
                    "another program uses port \(port) of 127.0.0.1", remedy: "choose another port, for both processes")
            case EACCES:
                throw .listen("port \(port) is reserved for the system", remedy: "choose a port above 1023")
            default: throw .listen("port \(port) of 127.0.0.1: \(systemMessage(reason))")
            }
        }
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        address.withMutable { _ = getsockname(descriptor, $0, &length) }
        return (descriptor, address.port)
    }

    private static func listen(path: String) throws(BroadcastError) -> Int32 {
        var address = try SocketAddress.path(path)
        let descriptor = try open(AF_UNIX)
        // The socket's own mode becomes that of its file: no other user can reach it at any time.
        fchmod(descriptor, 0o600)
        var result = address.with { bind(descriptor, $0, $1) }
        if result != 0, errno == EADDRINUSE, isAbandonedSocket(&address, path) {
            unlink(path)
            result = address.with { bind(descriptor, $0, $1) }
        }
        guard result == 0, Glibc.listen(descriptor, backlog) == 0 else {
            let reason = errno
            close(descriptor)
            throw reason == EADDRINUSE
                ? .listen("another share uses \(path), or it is not a socket", remedy: "choose another path")
                : .listen("\(path): \(systemMessage(reason, path: path))")
        }
        return descriptor
    }

    /// Returns whether there is a socket at which nobody listens.
    private static func isAbandonedSocket(_ address: inout SocketAddress, _ path: String) -> Bool {
        var status = stat()
        guard lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFSOCK, let probe = try? open(AF_UNIX) else {
            return false
        }
        defer { close(probe) }
        return address.with { connect(probe, $0, $1) } != 0 && errno == ECONNREFUSED
    }

    private static func open(_ family: Int32) throws(BroadcastError) -> Int32 {
        let descriptor = socket(family, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { throw .internal("socket: \(systemMessage(errno))") }
        _ = fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) | O_NONBLOCK)
        return descriptor
    }

    private static func makeFolder(of path: String) throws(BroadcastError) {
        let folder = URL(filePath: path).deletingLastPathComponent().path
        do {
            try FileManager.default.createDirectory(
                atPath: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        } catch {
            let cause = (error as? CocoaError)?.underlying as? POSIXError
            let reason = cause.map { systemMessage($0.code.rawValue) } ?? "\(error)"
            throw .listen("can't create the directory \(folder): \(reason)")
        }
        guard let isOwn = ownsFolder(of: path), isOwn else {
            throw .listen(
                "the directory \(folder) belongs to another user, or others can write to it",
                remedy: "set XDG_RUNTIME_DIR to a directory of yours")
        }
    }

    /// Returns whether no other user can write to the directory of `path`; nil if it does not exist. Under /tmp,
    /// another user could have created it.
    static func ownsFolder(of path: String) -> Bool? {
        var status = stat()
        guard lstat(URL(filePath: path).deletingLastPathComponent().path, &status) == 0 else { return nil }
        return status.st_mode & S_IFMT == S_IFDIR && status.st_uid == geteuid() && status.st_mode & 0o022 == 0
    }
}
