internal import FoundationEssentials
internal import Glibc
internal import RTCShareContentShare

/// A small file that nobody but its owner may read or change: passwords, tokens.
enum SecretFile {
    /// The file's text. `what` is what it is called in errors, which show nothing of it.
    ///
    /// Whoever named a link meant what it leads to; that, or a pipe such as `<(pass show turn)`, has to be this user's, and
    /// no other may read it.
    static func readText(
        _ path: String, what: String, maximumBytes: Int = 4096
    ) throws(CommandFailure) -> String {
        let descriptor: Int32
        do throws(PrivateFile.Objection) {
            descriptor = try PrivateFile(path: path).open(O_RDONLY, takesLinks: true)
        } catch {
            throw failure(error, path: path, what: what)
        }
        guard let data = try? OpenFile(descriptor).readToEnd(atMost: maximumBytes), data.count <= maximumBytes,
            let text = String(validating: data, as: UTF8.self)
        else { throw CommandFailure(.badInput, "the \(what) \(path) is no text of at most \(maximumBytes) bytes") }
        return text
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
                "the \(what) \(path) is neither file nor pipe; name a file of mode 0600, or use the environment's variables"
            )
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
