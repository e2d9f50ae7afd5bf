internal import Dispatch
public import FoundationEssentials
internal import Glibc

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
        let watch = inotify_init1(Int32(IN_CLOEXEC) | Int32(IN_NONBLOCK))
        guard watch >= 0 else { throw POSIXError.last }
        let folder = URL(filePath: path).deletingLastPathComponent().path
        let events = UInt32(IN_DELETE | IN_MOVED_FROM | IN_DELETE_SELF | IN_MOVE_SELF)
        guard inotify_add_watch(watch, folder, events) >= 0 else {
            let error = POSIXError.last
            close(watch)
            throw error
        }
        let (stream, continuation) = AsyncStream.makeStream(of: Void.self)
        let path = path
        // One at a time: nothing is read once the descriptor is closed.
        let queue = DispatchQueue(label: "rtcshare.removals")
        // Dispatch sources are safe to share; the protocol does not say so.
        nonisolated(unsafe) let source = DispatchSource.makeReadSource(fileDescriptor: watch, queue: queue)
        let look: @Sendable () -> Void = {
            // Whatever happened in the folder: it counts whether the file is there.
            var bytes = [UInt8](repeating: 0, count: 4096)
            while Glibc.read(watch, &bytes, bytes.count) > 0 {}
            guard access(path, F_OK) != 0 else { return }
            continuation.yield()
            continuation.finish()
        }
        source.setEventHandler(handler: look)
        source.setCancelHandler { close(watch) }
        continuation.onTermination = { _ in source.cancel() }
        queue.async(execute: look)
        source.activate()
        return stream
    }
}
