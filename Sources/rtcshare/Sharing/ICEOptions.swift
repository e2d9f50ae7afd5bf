internal import ArgumentParser
internal import FoundationEssentials
internal import Glibc
internal import RTCShareICE
internal import RTCShareTransport
internal import RTCShareWireFormat

/// The options that say which servers help to connect.
struct ICEServerOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            """
            STUN or TURN server: stun:HOST, turn:HOST[?transport=tcp] or turns:HOST, each with an optional :PORT. TURN also \
            needs --ice-credentials. Repeatable.
            """, valueName: "url"), completion: .list(["stun:", "turn:", "turns:"]))
    var iceServer: [String] = []

    @Option(
        help: ArgumentHelp(
            """
            File (mode 0600) with the TURN user name and password, as USER:PASSWORD or on two lines. Default: \
            $RTCSHARE_ICE_USERNAME and $RTCSHARE_ICE_PASSWORD.
            """, valueName: "file"), completion: .file())
    var iceCredentials: String?

    /// The servers, and whose certificates they may have. Passwords on the command line are seen by nobody else after it.
    func resolved() throws -> (servers: [ICEServer], trustRoots: TrustRoots) {
        let environment = ProcessInfo.processInfo.environment
        defer { ProcessArguments.hideCredentials(in: iceServer) }
        return (try servers(environment: environment), Self.trustRoots(environment: environment))
    }

    /// Whose certificates count: those of the system, or of the file that OpenSSL's variable names.
    private static func trustRoots(environment: [String: String]) -> TrustRoots {
        environment["SSL_CERT_FILE"].flatMap { $0.isEmpty ? nil : .file($0) } ?? .system
    }

    /// The servers, with what they ask of their user.
    private func servers(environment: [String: String]) throws -> [ICEServer] {
        var credentials: ICECredentials?
        if let iceCredentials {
            credentials = try ICECredentials(file: iceCredentials)
        } else if let username = environment["RTCSHARE_ICE_USERNAME"],
            let password = environment["RTCSHARE_ICE_PASSWORD"]
        {
            credentials = ICECredentials(username: username, password: password)
        }
        return try iceServer.map { url in
            do {
                return try ICEServer(urls: url, username: credentials?.username, credential: credentials?.password)
            } catch let error as ICEServerError {
                // The option is named, so that one of a file or a variable is placed there.
                let explanation = error.explanation(naming: \.words)
                throw CommandFailure(.usage, "--ice-server: \(explanation.problem)", try: explanation.remedy)
            }
        }
    }
}

/// The options that say which servers help to connect, and which paths may be taken.
struct ICEOptions: ParsableArguments {
    @OptionGroup var servers: ICEServerOptions

    @Option(
        help: ArgumentHelp(
            """
            all: use any route. relay: use only TURN servers, which hides your addresses from viewers. Default: all.
            """, valueName: "policy"))
    var iceTransportPolicy: Policy?

    @Flag(
        help: """
            Resolve host names in the peer's candidates by DNS. Their DNS servers learn of it. Not needed for .local names.
            """)
    var resolveHostNames = false

    enum Policy: String, ExpressibleByArgument, CaseIterable {
        case all, relay
    }

    /// The URLs of the servers, as they were given.
    var iceServer: [String] { servers.iceServer }

    /// Whether anything was said.
    var isGiven: Bool {
        !iceServer.isEmpty || servers.iceCredentials != nil || iceTransportPolicy != nil || resolveHostNames
    }

    /// Puts what they say into a connection's configuration.
    func apply(to configuration: inout Connection.Configuration) throws {
        (configuration.iceServers, configuration.trustRoots) = try servers.resolved()
        configuration.iceTransportPolicy = iceTransportPolicy == .relay ? .relay : .all
        configuration.resolvesHostNames = resolveHostNames
        guard iceTransportPolicy == .relay, !configuration.iceServers.contains(where: { $0.credentials != nil })
        else { return }
        throw CommandFailure(
            .usage, "--ice-transport-policy relay needs a TURN server", try: "--ice-server turn:HOST")
    }
}

/// A user and a password as a file has them.
struct ICECredentials: Equatable {
    let username: String
    let password: String

    init(username: String, password: String) {
        self.username = username
        self.password = password
    }

    /// `USER:PASSWORD`, or user and password on lines of their own, as a user name with a colon needs it.
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

    /// Reads a file that nobody but its owner may.
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

extension String {
    /// A URL as messages quote it: without what servers may take for a secret, and not longer than a line.
    var withoutSecrets: String {
        var bytes = Array(utf8)
        for secret in ProcessArguments.secrets(in: self).reversed() { bytes.replaceSubrange(secret, with: "…".utf8) }
        return String(String(decoding: bytes, as: UTF8.self).prefix(80))
    }
}

/// What others see of this process's arguments.
enum ProcessArguments {
    /// Overwrites the passwords that stand in URLs on the command line: `ps` shows it to everybody on the machine.
    static func hideCredentials(in urls: [String]) {
        for index in 1..<max(1, Int(CommandLine.argc)) {
            guard let argument = CommandLine.unsafeArgv[index] else { continue }
            let bytes = UnsafeMutableRawBufferPointer(start: argument, count: strlen(argument))
            guard let secret = credentials(in: Array(bytes), of: urls) else { continue }
            for offset in secret { bytes[offset] = UInt8(ascii: "*") }
        }
    }

    /// Overwrites what servers may take for a secret in a URL: all of it but scheme, host and port. Stream keys and tokens
    /// stand anywhere behind those.
    static func hideSecrets(of url: String) {
        let secrets = secrets(in: url)
        for index in 1..<max(1, Int(CommandLine.argc)) {
            guard let argument = CommandLine.unsafeArgv[index] else { continue }
            let bytes = UnsafeMutableRawBufferPointer(start: argument, count: strlen(argument))
            // It may be one word with its option.
            guard bytes.reversed().starts(with: url.utf8.reversed()) else { continue }
            let start = bytes.count - url.utf8.count
            for secret in secrets { for offset in secret { bytes[start + offset] = UInt8(ascii: "*") } }
        }
    }

    /// Where in a URL's bytes user and password stand, and path, query and fragment, without the mark before them.
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

    /// Where user and password stand in an argument that ends with one of the URLs. An argument may hold any bytes, of which
    /// the URLs are the text as far as it is one: what is looked for there is looked for as bytes.
    static func credentials(in argument: [UInt8], of urls: [String]) -> Range<Int>? {
        let text = String(decoding: argument, as: UTF8.self).utf8.reversed()
        guard urls.contains(where: { text.starts(with: $0.utf8.reversed()) }),
            let colon = argument.firstIndex(of: UInt8(ascii: ":")),
            let at = argument.lastIndex(of: UInt8(ascii: "@")), colon < at
        else { return nil }
        return colon + 1..<at
    }
}
