internal import Glibc

/// The arguments of this process, which other users can read.
enum ProcessArguments {
    /// Overwrites the passwords in URLs on the command line, because `ps` shows them to all users of the machine.
    static func hideCredentials(in urls: [String]) {
        for index in 1..<max(1, Int(CommandLine.argc)) {
            guard let argument = CommandLine.unsafeArgv[index] else { continue }
            let bytes = UnsafeMutableRawBufferPointer(start: argument, count: strlen(argument))
            guard let secret = credentials(in: Array(bytes), of: urls) else { continue }
            for offset in secret { bytes[offset] = UInt8(ascii: "*") }
        }
    }

    /// Overwrites everything in a URL but scheme, host and port, because stream keys and tokens can be anywhere in the
    /// rest.
    static func hideSecrets(of url: String) {
        let secrets = secrets(in: url)
        for index in 1..<max(1, Int(CommandLine.argc)) {
            guard let argument = CommandLine.unsafeArgv[index] else { continue }
            let bytes = UnsafeMutableRawBufferPointer(start: argument, count: strlen(argument))
            // The option and its value can be one argument.
            guard bytes.reversed().starts(with: url.utf8.reversed()) else { continue }
            let start = bytes.count - url.utf8.count
            for secret in secrets { for offset in secret { bytes[start + offset] = UInt8(ascii: "*") } }
        }
    }

    /// Returns the parts of a URL's bytes that can be secrets: user and password, path, query and fragment, without the
    /// character before each.
    static func secrets(in url: String) -> [Range<Int>] {
        let bytes = Array(url.utf8)
        let scheme = bytes.indices.first { bytes[$0...].starts(with: "://".utf8) }
        let authority = scheme.map { $0 + 3 } ?? 0
        let end = bytes[authority...].firstIndex { "/?#".utf8.contains($0) } ?? bytes.endIndex
        var secrets: [Range<Int>] = []
        if let at = bytes[authority..<end].lastIndex(of: UInt8(ascii: "@")) { secrets.append(authority..<at) }
        if end + 1 < bytes.endIndex { secrets.append(end + 1..<bytes.endIndex) }
        return secrets
    }

    /// Returns the range of user and password in an argument that ends with one of the URLs. The search compares bytes,
    /// because an argument can have bytes that are not text.
    static func credentials(in argument: [UInt8], of urls: [String]) -> Range<Int>? {
        let text = String(decoding: argument, as: UTF8.self).utf8.reversed()
        guard urls.contains(where: { text.starts(with: $0.utf8.reversed()) }),
            let colon = argument.firstIndex(of: UInt8(ascii: ":")),
            let at = argument.lastIndex(of: UInt8(ascii: "@")), colon < at
        else { return nil }
        return colon + 1..<at
    }
}

extension String {
    /// The URL for messages, without parts that can be secrets, and shortened to a line.
    var withoutSecrets: String {
        var bytes = Array(utf8)
        for secret in ProcessArguments.secrets(in: self).reversed() { bytes.replaceSubrange(secret, with: "…".utf8) }
        return String(String(decoding: bytes, as: UTF8.self).prefix(80))
    }
}
