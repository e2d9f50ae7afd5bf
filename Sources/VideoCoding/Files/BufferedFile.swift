internal import Glibc
internal import RTCShareMedia

/// The owner of one C stream: what it fails with becomes an error that names the path.
final class BufferedFile {
    let path: String
    private var stream: UnsafeMutablePointer<FILE>?

    /// Makes the file, or empties the one that is there.
    init(writing path: String) throws(MediaFileError) {
        self.path = path
        stream = fopen(path, "wbe")
        if stream == nil { throw .cannotOpen(path: path, reason: systemMessage(errno, path: path)) }
    }

    deinit {
        if let stream { fclose(stream) }
    }

    func write(_ bytes: UnsafeRawBufferPointer) throws(MediaFileError) {
        guard bytes.count > 0 else { return }
        guard let stream else { throw .cannotWrite(path: path, reason: "it is closed") }
        guard fwrite(bytes.baseAddress, 1, bytes.count, stream) == bytes.count else {
            throw .cannotWrite(path: path, reason: systemMessage(errno))
        }
    }

    func write(_ bytes: [UInt8]) throws(MediaFileError) {
        let outcome = bytes.withUnsafeBytes { bytes in
            Result { () throws(MediaFileError) in try write(bytes) }
        }
        try outcome.get()
    }

    func seek(to offset: Int) throws(MediaFileError) {
        guard let stream else { throw .cannotWrite(path: path, reason: "it is closed") }
        guard fseek(stream, offset, SEEK_SET) == 0 else { throw .cannotWrite(path: path, reason: systemMessage(errno)) }
    }

    /// Writes out what is buffered, so that a full disk is noticed, and closes. Does nothing the second time.
    func close() throws(MediaFileError) {
        guard let stream else { return }
        self.stream = nil
        guard fclose(stream) == 0 else { throw .cannotWrite(path: path, reason: systemMessage(errno)) }
    }
}
