/// The user name and password in a file.
struct ICECredentials: Equatable {
    let username: String
    let password: String

    init(username: String, password: String) {
        self.username = username
        self.password = password
    }

    /// Parses `USER:PASSWORD`, or two lines with the user name and the password, for user names with a colon.
    init?(text: String) {
        let lines = text.split(whereSeparator: \.isNewline).map(String.init)
        switch lines.count {
        case 1:
            let parts = lines[0].split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
            guard parts.count == 2 else { return nil }
            (username, password) = (String(parts[0]), String(parts[1]))
        case 2: (username, password) = (lines[0], lines[1])
        default: return nil
        }
        guard !username.isEmpty, !password.isEmpty else { return nil }
    }

    /// Reads a file that only its owner may read.
    init(file path: String) throws(CommandFailure) {
        let text = try SecretFile.readText(path, what: "credentials")
        guard let credentials = ICECredentials(text: text)
        else {
            throw CommandFailure(
                .badInput,
                "can't use the credentials in \(path): this is neither USER:PASSWORD nor two lines with both",
                try: "write USER:PASSWORD into \(path)")
        }
        self = credentials
    }
}
