internal import Glibc
internal import RTCShareMedia
internal import RTCShareVideoCoding

/// The owner of a new file that grows, and parts of which are overwritten. Written bytes belong to the system: they
/// survive the end of this process.
final class GrowingFile {
    let path: String
    private var descriptor: Int32
    /// The file's length in bytes.
    private(set) var length = 0

    /// Creates the file, which must not exist yet.
    init(creating path: String) throws(MediaFileError) {
        self.path = path
        descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o666)
        guard descriptor < 0 else { return }
        if errno == EEXIST { throw .alreadyExists(path: path) }
        throw .cannotOpen(path: path, reason: systemMessage(errno, path: path))
    }

    deinit {
        if descriptor >= 0 { Glibc.close(descriptor) }
    }

    /// Writes at the end. On failure, the file keeps its length.
    func append(_ bytes: [UInt8]) throws(MediaFileError) {
        do throws(MediaFileError) {
            try write(bytes, at: length)
        } catch {
            ftruncate(descriptor, off_t(length))
            throw error
        }
        length += bytes.count
    }

    /// Overwrites bytes at an offset. If that is behind the end, a hole fills the space between.
    func overwrite(_ bytes: [UInt8], at offset: Int) throws(MediaFileError) {
        try write(bytes, at: offset)
        length = max(length, offset + bytes.count)
    }

    private func write(_ bytes: [UInt8], at offset: Int) throws(MediaFileError) {
        guard descriptor >= 0 else { throw .cannotWrite(path: path, reason: "it is closed") }
        var written = 0
        while written < bytes.count {
            let count = bytes.withUnsafeBytes { bytes in
                pwrite(
                    descriptor, bytes.baseAddress?.advanced(by: written), bytes.count - written,
                    off_t(offset + written))
            }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { throw .cannotWrite(path: path, reason: systemMessage(errno)) }
            written += count
        }
    }

    /// Closes the file. Does nothing the second time.
    func close() throws(MediaFileError) {
        guard descriptor >= 0 else { return }
        defer { descriptor = -1 }
        guard Glibc.close(descriptor) == 0 else { throw .cannotWrite(path: path, reason: systemMessage(errno)) }
    }

    /// Closes the file and removes it. Does nothing the second time.
    func discard() {
        guard descriptor >= 0 else { return }
        Glibc.close(descriptor)
        descriptor = -1
        unlink(path)
    }
}
