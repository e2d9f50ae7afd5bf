internal import ArgumentParser
internal import FoundationEssentials
internal import RTCShareICE
internal import RTCShareTransport
internal import RTCShareWireFormat

/// The options for STUN and TURN servers.
struct ICEServerOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            """
            STUN or TURN server: stun:HOST, turn:HOST[?transport=tcp] or turns:HOST, each with an optional :PORT. TURN also \
            needs --ice-credentials or --ice-secret-file. Repeatable.
            """, valueName: "url"), completion: .list(["stun:", "turn:", "turns:"]))
    var iceServer: [String] = []

    @Option(
        help: ArgumentHelp(
            """
            File (mode 0600) with the TURN user name and password, as USER:PASSWORD or on two lines. Default: \
            $RTCSHARE_ICE_USERNAME and $RTCSHARE_ICE_PASSWORD.
            """, valueName: "file"), completion: .file())
    var iceCredentials: String?

    @Option(
        help: ArgumentHelp(
            """
            File (mode 0600) with the secret that the TURN server shares with rtcshare (coturn's static-auth-secret). Each \
            viewer of rtcshare serve gets its own password, valid for a day.
            """, valueName: "file"), completion: .file())
    var iceSecretFile: String?

    /// Whether an option for credentials was given.
    var hasCredentials: Bool { iceCredentials != nil || iceSecretFile != nil }

    func validate() throws {
        guard iceCredentials == nil || iceSecretFile == nil else {
            throw ValidationError("use either --ice-credentials or --ice-secret-file")
        }
    }

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
        let secret = try iceSecretFile.map(Self.secret)
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
                if let secret { return try ICEServer(urls: url, sharedSecret: secret) }
                return try ICEServer(urls: url, username: credentials?.username, credential: credentials?.password)
            } catch let error as ICEServerError {
                // The message names the option, so that one from a file or a variable can be found.
                let explanation = error.explanation(naming: \.words)
                throw CommandFailure(.usage, "--ice-server: \(explanation.problem)", try: explanation.remedy)
            }
        }
    }

    /// Reads the secret, which is one line, from a file that only its owner may read.
    private static func secret(file path: String) throws(CommandFailure) -> String {
        let secret = try SecretFile.readText(path, what: "secret file").trimmed
        guard !secret.isEmpty, !secret.contains(where: \.isNewline) else {
            throw CommandFailure(
                .badInput, "can't use the secret in \(path): it is not one line of text",
                try: "write the value of coturn's static-auth-secret into \(path)")
        }
        return secret
    }
}
