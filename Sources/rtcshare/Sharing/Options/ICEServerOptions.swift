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
