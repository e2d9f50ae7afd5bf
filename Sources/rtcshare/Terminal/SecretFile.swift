internal import Foundation

/// A small file that nobody but its owner may read or change: passwords, tokens.
enum SecretFile {
    private static let maximumBytes = 4096

    /// The file's text. `what` is what it is called in errors, which show nothing of it.
    static func readText(_ path: String, what: String) throws(CommandFailure) -> String {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else {
            let status: CommandFailure.Status =
                errno == ENOENT ? .inputMissing : errno == EACCES || errno == EPERM ? .notPermitted : .inputOutput
            throw CommandFailure(status, "can't open the \(what) \(path): \(String(cString: strerror(errno)))")
        }
        let handle = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
        var attributes = stat()
        guard fstat(descriptor, &attributes) == 0, attributes.st_mode & 0o077 == 0 else {
            throw CommandFailure(
                .notPermitted,
                "others may read the \(what) \(path), or change it; make the file yours alone: chmod 600 \(path)")
        }
        guard let data = try? handle.read(upToCount: maximumBytes + 1), data.count <= maximumBytes,
            let text = String(validating: data, as: UTF8.self)
        else { throw CommandFailure(.badInput, "the \(what) \(path) is no text of at most \(maximumBytes) bytes") }
        return text
    }
}
