internal import Glibc

/// An open file, pipe or terminal, closed with its last owner.
final class FileInput: ByteInput {
    private let descriptor: Int32
    private let closesDescriptor: Bool
    private let path: String

    /// Opens a file for reading.
    init(path: String) throws(CaptureError) {
        descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw .fileUnavailable(path: path, errorNumber: errno) }
        var status = stat()
        if fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFDIR {
            close(descriptor)
            throw .fileUnavailable(path: path, errorNumber: EISDIR)
        }
        self.path = path
        closesDescriptor = true
    }

    /// Uses a descriptor that the caller owns and keeps open.
    init(borrowing descriptor: Int32, path: String) {
        self.descriptor = descriptor
        self.path = path
        closesDescriptor = false
    }

    deinit {
        if closesDescriptor { close(descriptor) }
    }

    func read(
        into buffer: UnsafeMutableRawBufferPointer, signal: StopSignal?, whileSilent: () -> Void
    ) throws(CaptureError) -> Int {
        while true {
            // A pipe may stay silent forever: wait for input and the signal, not in read.
            if let signal {
                switch signal.wait(readable: descriptor, until: monotonicNow() + NewestPicture.interval) {
                case .ready: break
                case .stopped: return 0
                case .timedOut:
                    whileSilent()
                    continue
                }
            }
            let count = Glibc.read(descriptor, buffer.baseAddress, buffer.count)
            if count >= 0 { return count }
            switch errno {
            case EINTR: continue
            case EAGAIN:
                // A non-blocking descriptor behaves like a blocking one.
                var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
                poll(&entry, 1, -1)
            case let number: throw .fileUnavailable(path: path, errorNumber: number)
            }
        }
    }

    func rewind() -> Bool {
        lseek(descriptor, 0, SEEK_SET) == 0
    }
}
