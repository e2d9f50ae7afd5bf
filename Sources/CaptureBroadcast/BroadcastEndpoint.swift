public import FoundationEssentials
internal import Glibc

/// Where a process that captures (the extension) meets the one that shares (the app).
public enum BroadcastEndpoint: Sendable, Hashable, CustomStringConvertible {
    /// A TCP port of the loopback interface; beside it the app listens at a socket of that number in
    /// ``runtimeFolder(environment:)``, for extensions that share memory with it. 0 has the system pick.
    case port(UInt16)
    /// A Unix domain socket at this path, which need not exist yet.
    case path(String)

    /// The bytes that the path of a socket may have: `sun_path` less its closing zero.
    public static let maximumPath = 107

    /// The path that a port's extensions find shared memory at.
    public static func sharedMemoryPath(
        port: UInt16, environment: [String: String] = ProcessInfo.processInfo.environment
    ) -> String {
        "\(runtimeFolder(environment: environment))/\(sharedMemoryPrefix)\(port).sock"
    }

    private static let sharedMemoryPrefix = "broadcast-"

    /// Whether a socket of this name, without `.sock`, in ``runtimeFolder(environment:)`` is one of ``sharedMemoryPath(port:environment:)``.
    package static func isSharedMemoryName(_ name: String) -> Bool {
        name.hasPrefix(sharedMemoryPrefix) && UInt16(name.dropFirst(sharedMemoryPrefix.count)) != nil
    }

    /// `$XDG_RUNTIME_DIR/rtcshare`, or where there is none, a folder of this user's under `/tmp`.
    public static func runtimeFolder(
        environment: [String: String] = ProcessInfo.processInfo.environment
    ) -> String {
        if let folder = environment["XDG_RUNTIME_DIR"], folder.hasPrefix("/") { return "\(folder)/rtcshare" }
        return "/tmp/rtcshare-\(getuid())"
    }

    /// `5000`, or the path.
    public var description: String {
        switch self {
        case .port(let port): "\(port)"
        case .path(let path): path
        }
    }
}

/// How frames come from the extension.
public enum BroadcastTransport: String, Sendable, Hashable, CaseIterable {
    /// Pixels are sent over the connection, those that changed.
    case tcp
    /// Pixels are written into memory that both sides have mapped, those that changed.
    case sharedMemory = "shared-memory"
}
