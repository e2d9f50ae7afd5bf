internal import ArgumentParser
internal import FoundationEssentials
internal import Glibc
internal import RTCShareICE
internal import RTCShareTransport
internal import RTCShareWireFormat

/// The options for STUN and TURN servers.
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

    /// Returns the servers and their trusted certificates. Passwords on the command line are hidden from other users
    /// after this.
    func resolved() throws -> (servers: [ICEServer], trustRoots: TrustRoots) {
        let environment = ProcessInfo.processInfo.environment
        defer { ProcessArguments.hideCredentials(in: iceServer) }
        return (try servers(environment: environment), Self.trustRoots(environment: environment))
    }

    /// Returns the trusted certificates: the system's, or those in the file that OpenSSL's variable names.
    private static func trustRoots(environment: [String: String]) -> TrustRoots {
        environment["SSL_CERT_FILE"].flatMap { $0.isEmpty ? nil : .file($0) } ?? .system
    }

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
                // The message names the option, so that one from a file or a variable can be found.
                let explanation = error.explanation(naming: \.words)
                throw CommandFailure(.usage, "--ice-server: \(explanation.problem)", try: explanation.remedy)
            }
        }
    }
}

/// The options for STUN and TURN servers and the allowed routes.
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

    /// The URLs of the servers, as given.
    var iceServer: [String] { servers.iceServer }

    /// Whether any of these options was given.
    var isGiven: Bool {
        !iceServer.isEmpty || servers.iceCredentials != nil || iceTransportPolicy != nil || resolveHostNames
    }

    /// Applies the options to a connection's configuration.
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

extension String {
    /// The URL for messages, without parts that can be secrets, and shortened to a line.
    var withoutSecrets: String {
        var bytes = Array(utf8)
        for secret in ProcessArguments.secrets(in: self).reversed() { bytes.replaceSubrange(secret, with: "…".utf8) }
        return String(String(decoding: bytes, as: UTF8.self).prefix(80))
    }
}

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
