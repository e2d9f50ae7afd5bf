public import FoundationEssentials
internal import Glibc

/// The address at which a capturing process and the process that shares its video meet.
public enum BroadcastEndpoint: Sendable, Hashable, CustomStringConvertible {
    /// A TCP port of the loopback interface. In addition, the sharing process listens at a socket of that number in
    /// ``runtimeFolder(environment:)``, for capturing processes that share memory with it. With 0 the system chooses
    /// the port.
    case port(UInt16)
    /// A Unix domain socket at this path, which need not exist yet.
    case path(String)

    /// The maximum length of a socket's path in bytes: `sun_path` without its final zero.
    public static let maximumPath = 107

    /// Returns the path of the socket at which capturing processes of a port share memory.
    public static func sharedMemoryPath(
        port: UInt16, environment: [String: String] = ProcessInfo.processInfo.environment
    ) -> String {
        "\(runtimeFolder(environment: environment))/\(sharedMemoryPrefix)\(port).sock"
    }

    private static let sharedMemoryPrefix = "broadcast-"

    /// Returns whether a socket with this name, without `.sock`, in ``runtimeFolder(environment:)`` is one of
    /// ``sharedMemoryPath(port:environment:)``.
    package static func isSharedMemoryName(_ name: String) -> Bool {
        name.hasPrefix(sharedMemoryPrefix) && UInt16(name.dropFirst(sharedMemoryPrefix.count)) != nil
    }

    /// Returns `$XDG_RUNTIME_DIR/rtcshare` or, without that variable, a directory of this user under `/tmp`.
    public static func runtimeFolder(
        environment: [String: String] = ProcessInfo.processInfo.environment
    ) -> String {
        if let folder = environment["XDG_RUNTIME_DIR"], folder.hasPrefix("/") { return "\(folder)/rtcshare" }
        return "/tmp/rtcshare-\(getuid())"
    }

    /// The text `5000`, or the path.
    public var description: String {
        switch self {
        case .port(let port): "\(port)"
        case .path(let path): path
        }
    }
}

/// The transport of frames from the capturing process.
public enum BroadcastTransport: String, Sendable, Hashable, CaseIterable {
    /// Changed pixels are sent over the connection.
    case tcp
    /// Changed pixels are written into memory that both processes have mapped.
    case sharedMemory = "shared-memory"
}
