internal import Glibc
internal import RTCShareCSndFile
internal import RTCShareMedia

/// The owner of a libsndfile handle and its file descriptor.
final class SoundFile {
    let path: String
    let info: SF_INFO
    private let descriptor: Int32
    private let handle: OpaquePointer

    init(reading path: String) throws(AudioFileError) {
        // Nonblocking mode makes a named pipe an error instead of a wait. It has no effect on files.
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { throw .cannotOpen(path: path, reason: systemMessage(errno, path: path)) }
        if let reason = Self.unseekable(descriptor) {
            Glibc.close(descriptor)
            throw .cannotOpen(path: path, reason: reason)
        }
        var info = SF_INFO()
        guard let handle = sf_open_fd(descriptor, Int32(SFM_READ), &info, Int32(SF_FALSE)) else {
            let code = sf_error(nil)
            let reason = String(cString: sf_strerror(nil))
            Glibc.close(descriptor)
            throw code == Int32(SF_ERR_UNRECOGNISED_FORMAT)
                ? .notWAVE(path: path, found: nil) : .unreadable(path: path, reason: Self.tidy(reason))
        }
        self.path = path
        self.descriptor = descriptor
        self.handle = handle
        self.info = info
    }

    deinit {
        sf_close(handle)
        Glibc.close(descriptor)
    }

    /// Reads at most `frames` samples per channel, interleaved.
    func read(frames: Int) throws(AudioFileError) -> [Float] {
        let channels = Int(info.channels)
        let samples = [Float](unsafeUninitializedCapacity: frames * channels) { output, initialized in
            initialized =
                min(max(Int(sf_readf_float(handle, output.baseAddress, sf_count_t(frames))), 0), frames) * channels
        }
        if samples.isEmpty, sf_error(handle) != Int32(SF_ERR_NO_ERROR) {
            throw .cannotRead(path: path, reason: reason(handle))
        }
        return samples
    }

    func rewind() throws(AudioFileError) {
        guard sf_seek(handle, 0, SEEK_SET) == 0 else { throw .cannotRead(path: path, reason: reason(handle)) }
    }

    private func reason(_ handle: OpaquePointer) -> String {
        Self.tidy(sf_strerror(handle).map { String(cString: $0) } ?? "libsndfile gives no reason")
    }

    /// Returns a reason of libsndfile without its period, to be used within a sentence.
    private static func tidy(_ reason: String) -> String {
        reason.hasSuffix(".") ? String(reason.dropLast()) : reason
    }

    /// Returns the reason why a file is not seekable; nil for one that is.
    private static func unseekable(_ descriptor: Int32) -> String? {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { return systemMessage(errno) }
        switch status.st_mode & S_IFMT {
        case S_IFREG: return nil
        case S_IFDIR: return "it is a directory"
        default: return "it is not a regular file"
        }
    }
}
