internal import ContentShare
internal import Foundation

/// A small file that nobody but its owner may read or change: passwords, tokens.
enum SecretFile {
    private static let maximumBytes = 4096

    /// The file's text. `what` is what it is called in errors, which show nothing of it.
    ///
    /// Links are followed, as managers of secrets lay them: whoever named one meant what it leads to, and that has to be a
    /// file of this user's, which no other may read.
    static func readText(_ path: String, what: String) throws(CommandFailure) -> String {
        let descriptor: Int32
        do throws(PrivateFile.Objection) {
            descriptor = try PrivateFile(path: resolved(path)).open(O_RDONLY)
        } catch {
            throw failure(error, path: path, what: what)
        }
        let handle = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
        guard let data = try? handle.read(upToCount: maximumBytes + 1) ?? Data(), data.count <= maximumBytes,
            let text = String(validating: data, as: UTF8.self)
        else { throw CommandFailure(.badInput, "the \(what) \(path) is no text of at most \(maximumBytes) bytes") }
        return text
    }

    /// Where links lead; the path itself where they lead nowhere.
    private static func resolved(_ path: String) -> String {
        guard let end = realpath(path, nil) else { return path }
        defer { free(end) }
        return String(cString: end)
    }

    private static func failure(_ objection: PrivateFile.Objection, path: String, what: String) -> CommandFailure {
        switch objection {
        case .unavailable(let number):
            CommandFailure(
                number == ENOENT ? .inputMissing : number == EACCES || number == EPERM ? .notPermitted : .inputOutput,
                "can't open the \(what) \(path): \(String(cString: strerror(number)))")
        case .notRegular:
            CommandFailure(
                .badInput,
                "the \(what) \(path) is no file, but a pipe, a folder or the like; name a file of mode 0600, or use the "
                    + "environment's variables")
        case .notOwned:
            CommandFailure(
                .notPermitted,
                "the \(what) \(path) belongs to another user, who knows it; make a file of your own")
        case .accessible:
            CommandFailure(
                .notPermitted,
                "others may read the \(what) \(path), or change it; make the file yours alone: chmod 600 \(path)")
        }
    }
}
