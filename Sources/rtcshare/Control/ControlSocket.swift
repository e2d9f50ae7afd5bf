internal import FoundationEssentials
internal import Glibc
internal import RTCShareCaptureBroadcast
internal import RTCShareContentShare
internal import RTCShareMedia

/// The control socket of a running share: a socket of mode 0600 in a directory of mode 0700.
struct ControlSocket: Sendable {
    let path: String
    /// The name of the share.
    let name: String

    /// The default name of a share.
    static let defaultName = "share"
    private static let suffix = ".sock"
    /// The maximum number of shares with the same name, which get numbers.
    private static let mostShares = 100
    /// The capacity of `sun_path` without the zero at its end (unix(7)).
    private static let maximumPathBytes = 107

    /// The directory `$XDG_RUNTIME_DIR/rtcshare` or, without that variable, the directory of sessions.
    static var folder: String {
        let runtime = ProcessInfo.processInfo.environment["XDG_RUNTIME_DIR"] ?? ""
        guard runtime.hasPrefix("/") else {
            return URL(filePath: SessionFile.defaultPath).deletingLastPathComponent().path
        }
        return runtime + "/rtcshare"
    }

    /// Creates the socket's location for a share of this name.
    init(name: String) throws(CommandFailure) {
        try Self.check(name: name)
        self.init(path: "\(Self.folder)/\(name)\(Self.suffix)", name: name)
    }

    /// Creates a location at a given path.
    init(path: String) {
        self.init(path: path, name: URL(filePath: path).deletingPathExtension().lastPathComponent)
    }

    private init(path: String, name: String) {
        self.path = path
        self.name = name
    }

    /// Rejects an invalid name, which becomes part of a path, and that of a capture's socket in the same directory.
    static func check(name: String) throws(CommandFailure) {
        let isPlain = name.utf8.allSatisfy { byte in
            switch byte {
            case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, UInt8(ascii: "_"), UInt8(ascii: "-"): true
            default: false
            }
        }
        guard isPlain, (1...32).contains(name.utf8.count), !name.hasPrefix("-") else {
            throw CommandFailure(
                .usage, "--name \(name): this can't be the name of a share",
                try: "use up to 32 letters, digits, - and _")
        }
        guard !BroadcastEndpoint.isSharedMemoryName(name) else {
            throw CommandFailure(
                .usage, "--name \(name): the sockets of capturing processes have such names", try: "use another name")
        }
    }

    // MARK: For the share

    /// A listening socket, with a notice for the user about its location.
    struct Listening: Sendable {
        let socket: ControlSocket
        let descriptor: Int32
        let notice: String?
    }

    /// Listens for a share of this name. If another running share has it, appends a number.
    static func listen(name: String) throws(CommandFailure) -> Listening {
        let lock = try PrivateFolder(folder)
        defer { lock.close() }
        for left in sockets where !left.isAnswered { unlink(left.path) }
        for number in 1...mostShares {
            let socket = try ControlSocket(name: number == 1 ? name : "\(name)-\(number)")
            guard let descriptor = try socket.listen() else { continue }
            let notice =
                number == 1
                ? nil
                : "Another share has the name \(name). This share is named \(socket.name). To control it, add "
                    + "--name \(socket.name) to a command."
            return Listening(socket: socket, descriptor: descriptor, notice: notice)
        }
        throw CommandFailure(
            .unavailable, "\(mostShares) shares named \(name) are already running", try: "another --name")
    }

    /// Listens at a path of the user's choice.
    static func listen(path: String) throws(CommandFailure) -> Listening {
        let socket = ControlSocket(path: path)
        guard let descriptor = try socket.listen() else {
            throw CommandFailure(.unavailable, "--control \(path): another share uses this socket", try: "another path")
        }
        return Listening(socket: socket, descriptor: descriptor, notice: nil)
    }

    /// Returns a socket that listens at the path, or nil if another process does. Removes the socket of a share that
    /// has ended.
    private func listen() throws(CommandFailure) -> Int32? {
        var status = stat()
        if lstat(path, &status) == 0 {
            guard status.st_mode & S_IFMT == S_IFSOCK else {
                throw CommandFailure(
                    .cannotCreate, "--control \(path): this file exists and is not a socket", try: "another path")
            }
            guard !isAnswered else { return nil }
            unlink(path)
        }
        let descriptor = try Self.open()
        do throws(CommandFailure) {
            guard try Self.with(path, { Glibc.bind(descriptor, $0, $1) }) == 0 else {
                throw CommandFailure(
                    .cannotCreate, "can't create the socket \(path): \(systemMessage(errno, path: path))",
                    try: "another path with --control")
            }
            // Nobody can connect before it listens, and then the mode is set.
            guard chmod(path, 0o600) == 0, Glibc.listen(descriptor, 16) == 0 else {
                let reason = Self.reason
                unlink(path)
                throw CommandFailure(.cannotCreate, "can't listen at the socket \(path): \(reason)")
            }
        } catch {
            close(descriptor)
            throw error
        }
        return descriptor
    }

    /// Removes the socket at the end of a share.
    func remove() { unlink(path) }

    // MARK: For commands

    /// Returns a connection to the share; nil if none runs there.
    func connect() throws(CommandFailure) -> Int32? {
        let descriptor = try Self.open()
        do throws(CommandFailure) {
            if try Self.with(path, { Glibc.connect(descriptor, $0, $1) }) == 0 {
                guard SocketPeer(of: descriptor).isTrusted(by: geteuid()) else {
                    throw CommandFailure(
                        .notPermitted, "the share at \(path) belongs to another user",
                        try: "the command as that user, or the socket of your own share")
                }
                return descriptor
            }
        } catch {
            close(descriptor)
            throw error
        }
        let (number, reason) = (errno, Self.reason)
        close(descriptor)
        if [ENOENT, ECONNREFUSED, ENOTDIR].contains(number) { return nil }
        throw CommandFailure(
            number == EACCES || number == EPERM ? .notPermitted : .inputOutput,
            "can't reach the share at \(path): \(reason)")
    }

    /// Whether a share listens there; also true if that is unknown.
    var isAnswered: Bool {
        do {
            guard let descriptor = try connect() else { return false }
            close(descriptor)
            return true
        } catch {
            return true
        }
    }

    /// Returns the running shares of this user, by name.
    static func running() -> [ControlSocket] { sockets.filter(\.isAnswered) }

    /// The sockets in the directory: of running shares, and of some that have crashed.
    private static var sockets: [ControlSocket] {
        let files = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        return files.filter { $0.hasSuffix(suffix) }.map { String($0.dropLast(suffix.count)) }.sorted().compactMap {
            try? ControlSocket(name: $0)
        }
    }

    // MARK: System calls

    private static var reason: String { systemMessage(errno) }

    private static func open() throws(CommandFailure) -> Int32 {
        let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { throw CommandFailure(.inputOutput, "can't create a socket: \(reason)") }
        // A share that hangs accepts nobody, and must not block commands.
        var time = timeval(tv_sec: 5, tv_usec: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &time, socklen_t(MemoryLayout<timeval>.size))
        return descriptor
    }

    /// Lends `path` in the system's format.
    private static func with(
        _ path: String, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32
    ) throws(CommandFailure) -> Int32 {
        let bytes = Array(path.utf8)
        guard bytes.count <= maximumPathBytes, !bytes.contains(0) else {
            throw CommandFailure(
                .cannotCreate,
                "the path \(path) is too long for a socket: it has \(bytes.count) bytes, and \(maximumPathBytes) are allowed",
                try: "a shorter path with --control, or set XDG_RUNTIME_DIR")
        }
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: bytes) }
        return withUnsafePointer(to: address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                body($0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
    }
}

/// This user's directory of the sockets, locked while a socket in it is searched and created.
private struct PrivateFolder {
    private let descriptor: Int32

    init(_ path: String) throws(CommandFailure) {
        do {
            try FileManager.default.createDirectory(
                atPath: path, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        } catch {
            throw CommandFailure(
                .cannotCreate, "can't create the directory \(path): \(StandardStreams.reason(of: error))")
        }
        descriptor = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW)
        guard descriptor >= 0 else {
            throw CommandFailure(.cannotCreate, "can't open the directory \(path): \(systemMessage(errno))")
        }
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_uid == geteuid(), status.st_mode & 0o022 == 0 else {
            Glibc.close(descriptor)
            throw CommandFailure(
                .notPermitted, "other users can change the directory \(path)", try: "chmod 700 \(path)")
        }
        _ = flock(descriptor, LOCK_EX)
    }

    func close() { Glibc.close(descriptor) }
}
