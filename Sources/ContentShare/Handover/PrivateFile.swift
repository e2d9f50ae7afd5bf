public import FoundationEssentials
internal import Glibc
internal import RTCShareLocks

/// A file that nobody but its owner may read, written whole: what one process leaves for another.
public struct PrivateFile: Sendable {
    /// Where it is.
    public let path: String

    /// The file at `path`, which need not exist yet.
    public init(path: String) {
        self.path = path
    }

    /// Writes a new file of mode 0600 in place of whatever is there, so that a reader sees one or the other whole.
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

    /// What is in it; refused where it is a link, or others own it or could have read or changed it.
    public func read() throws -> Data {
        let file: Int32
        do throws(Objection) {
            file = try open(O_RDONLY)
        } catch {
            throw POSIXError(error.code)
        }
        return try OpenFile(file).readToEnd()
    }

    /// Why what is there is not taken for a private file.
    package enum Objection: Error, Equatable {
        /// It can't be opened.
        case unavailable(errorNumber: Int32)
        /// It is a link, a pipe, a device or a folder.
        case notRegular
        /// It belongs to somebody else, who could have written anything into it.
        case notOwned
        /// Others may read or change it.
        case accessible

        fileprivate var code: POSIXErrorCode {
            switch self {
            case .unavailable(let number): POSIXErrorCode(rawValue: number) ?? .EIO
            case .notRegular: .EINVAL
            case .notOwned, .accessible: .EACCES
            }
        }
    }

    /// Opens what is there. It is the opened file that is looked at, and not what lies at the path by then. With
    /// `takesLinks`, a link is followed, and what a pipe brings is taken, too: for what a person names to be read once, as
    /// managers of secrets lay it, and shells pass what a command prints.
    package func open(_ access: Int32, takesLinks: Bool = false) throws(Objection) -> Int32 {
        // A pipe that nobody writes to keeps nobody waiting; with a regular file that changes nothing.
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
            // Whoever writes to a pipe may take its time; where nobody does, it has ended.
            if kind == S_IFIFO { _ = fcntl(file, F_SETFL, access) }
        } catch {
            close(file)
            throw error
        }
        return file
    }

    /// Removes it, which ends whatever hangs on it.
    public func remove() throws {
        guard unlink(path) == 0 else { throw POSIXError.last }
    }

    /// Gives one element when the file, or its folder, is removed or moved away; at once where it is not there. A file
    /// that is written anew is still there.
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
                // Whatever happened in the folder: it counts whether the file is there.
                while access(path, F_OK) == 0, Self.waitForEvents(of: file) {}
                if access(path, F_OK) != 0 { continuation.yield() }
                continuation.finish()
            }
        } catch {
            throw POSIXError(POSIXErrorCode(rawValue: error.errorNumber) ?? .EAGAIN)
        }
        // The system reports the end of the watch to the thread.
        continuation.onTermination = { _ in withExtendedLifetime(file) { _ = inotify_rm_watch(watch, number) } }
        return stream
    }

    /// Returns whether the folder is still watched.
    private static func waitForEvents(of file: OpenFile) -> Bool {
        guard let bytes = try? file.read(atMost: 4096), !bytes.isEmpty else { return false }
        return bytes.withUnsafeBytes { bytes in
            // An event has four numbers, the second what happened, the fourth the length of a name that follows.
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
