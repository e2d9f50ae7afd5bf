public import FoundationEssentials
internal import Glibc
internal import RTCShareLocks

/// A file that only its owner can read, which is always written as a whole. It passes secrets from one process to
/// another.
public struct PrivateFile: Sendable {
    /// The path of the file.
    public let path: String

    /// Names the file at `path`, which need not exist.
    public init(path: String) {
        self.path = path
    }

    /// Replaces the file at the path by a new one of mode 0600, in one step, so that a reader gets either file as a
    /// whole.
    public func write(_ data: Data) throws {
        let temporary = "\(path).\(ProcessInfo.processInfo.processIdentifier)"
        let file = Glibc.open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard file >= 0 else { throw POSIXError.last }
        do {
            try OpenFile(file).write(data)
            guard rename(temporary, path) == 0 else { throw POSIXError.last }
        } catch {
            unlink(temporary)
            throw error
        }
    }

    /// Returns the content of the file.
    ///
    /// - Throws: An error if it is a link, or if other users own it or can read or change it.
    public func read() throws -> Data {
        let file: Int32
        do throws(Objection) {
            file = try open(O_RDONLY)
        } catch {
            throw POSIXError(error.code)
        }
        return try OpenFile(file).readToEnd()
    }

    /// The reason why a file is not accepted as private.
    package enum Objection: Error, Equatable {
        /// The file can't be opened.
        case unavailable(errorNumber: Int32)
        /// The file is a link, a pipe, a device or a directory.
        case notRegular
        /// The file belongs to another user, who could have written anything to it.
        case notOwned
        /// Other users can read or change the file.
        case accessible

        fileprivate var code: POSIXErrorCode {
            switch self {
            case .unavailable(let number): POSIXErrorCode(rawValue: number) ?? .EIO
            case .notRegular: .EINVAL
            case .notOwned, .accessible: .EACCES
            }
        }
    }

    /// Opens the file and checks the opened file, because the path can name another one by then. If `takesLinks`, links
    /// are followed and pipes are accepted. That is for files that a person names and that are read once: secret
    /// managers use links, and shells pass a command's output in a pipe.
    package func open(_ access: Int32, takesLinks: Bool = false) throws(Objection) -> Int32 {
        // The opening of a pipe without a writer does not block. A regular file is not affected.
        let file = Glibc.open(path, access | (takesLinks ? 0 : O_NOFOLLOW) | O_NONBLOCK | O_CLOEXEC)
        guard file >= 0 else {
            throw errno == ELOOP || errno == EISDIR ? .notRegular : .unavailable(errorNumber: errno)
        }
        do throws(Objection) {
            var status = stat()
            guard fstat(file, &status) == 0 else { throw .unavailable(errorNumber: errno) }
            let kind = status.st_mode & S_IFMT
            guard kind == S_IFREG || takesLinks && kind == S_IFIFO else { throw .notRegular }
            guard status.st_uid == geteuid() else { throw .notOwned }
            guard status.st_mode & 0o077 == 0 else { throw .accessible }
            // A read from the pipe waits for a writer that is slow. Without a writer, the pipe is at its end.
            if kind == S_IFIFO { _ = fcntl(file, F_SETFL, access) }
        } catch {
            close(file)
            throw error
        }
        return file
    }

    /// Removes the file, which ends everything that watches its ``removals()``.
    public func remove() throws {
        guard unlink(path) == 0 else { throw POSIXError.last }
    }

    /// Returns a sequence with one element, for the time at which the file or its directory is removed or moved away.
    /// If the file does not exist, that is at once. A file that is replaced by ``write(_:)`` is not removed.
    public func removals() throws -> AsyncStream<Void> {
        let watch = inotify_init1(Int32(IN_CLOEXEC))
        guard watch >= 0 else { throw POSIXError.last }
        let file = OpenFile(watch)
        let folder = URL(filePath: path).deletingLastPathComponent().path
        let events = UInt32(IN_DELETE | IN_MOVED_FROM | IN_DELETE_SELF | IN_MOVE_SELF)
        let number = inotify_add_watch(watch, folder, events)
        guard number >= 0 else { throw POSIXError.last }
        let (stream, continuation) = AsyncStream.makeStream(of: Void.self)
        do throws(WorkerThreadError) {
            _ = try WorkerThread(named: "file watch") { [path] in
                // For any event in the directory, only the existence of the file counts.
                while access(path, F_OK) == 0, Self.waitForEvents(of: file) {}
                if access(path, F_OK) != 0 { continuation.yield() }
                continuation.finish()
            }
        } catch {
            throw POSIXError(POSIXErrorCode(rawValue: error.errorNumber) ?? .EAGAIN)
        }
        // The removal of the watch ends the thread's read.
        continuation.onTermination = { _ in withExtendedLifetime(file) { _ = inotify_rm_watch(watch, number) } }
        return stream
    }

    /// Waits for events, and returns whether the directory is still watched.
    private static func waitForEvents(of file: OpenFile) -> Bool {
        guard let bytes = try? file.read(atMost: 4096), !bytes.isEmpty else { return false }
        return bytes.withUnsafeBytes { bytes in
            // An event has four numbers. The second one is the event's kind, the fourth one the length of the name that
            // follows.
            var offset = 0
            while offset + 16 <= bytes.count {
                let mask = bytes.loadUnaligned(fromByteOffset: offset + 4, as: UInt32.self)
                if mask & UInt32(IN_IGNORED) != 0 { return false }
                offset += 16 + Int(bytes.loadUnaligned(fromByteOffset: offset + 12, as: UInt32.self))
            }
            return true
        }
    }
}
