internal import FoundationEssentials
internal import Glibc
internal import RTCShareContentShare
internal import RTCShareMedia

/// A small file that only its owner may read or change: passwords, tokens.
enum SecretFile {
    /// Returns the file's text. `what` is its name in errors, which do not show its content.
    ///
    /// A symbolic link is followed. Its target, or a pipe such as `<(pass show turn)`, must belong to this user and
    /// must not be readable by others.
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
        else {
            throw CommandFailure(
                .badInput, "can't use the \(what) \(path): it is not text of at most \(maximumBytes) bytes",
                try: "choose another file")
        }
        return text
    }

    private static func failure(_ objection: PrivateFile.Objection, path: String, what: String) -> CommandFailure {
        switch objection {
        case .unavailable(let number):
            CommandFailure(
                number == ENOENT ? .inputMissing : number == EACCES || number == EPERM ? .notPermitted : .inputOutput,
                "can't open the \(what) \(path): \(systemMessage(number, path: path))",
                try: number == ENOENT ? "check the path of the file" : "check the path and the owner of the file")
        case .notRegular:
            CommandFailure(
                .badInput,
                "the \(what) \(path) is neither a file nor a pipe", try: "name a file of mode 0600")
        case .notOwned:
            CommandFailure(
                .notPermitted,
                "the \(what) \(path) belongs to another user", try: "use a file of your own")
        case .accessible:
            CommandFailure(
                .notPermitted,
                "other users can read or change the \(what) \(path)", try: "chmod 600 \(path)")
        }
    }
}
