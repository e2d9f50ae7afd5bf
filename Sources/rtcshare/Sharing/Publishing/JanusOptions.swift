internal import ArgumentParser
internal import FoundationEssentials
internal import RTCShareContentShare
internal import RTCShareSignaling
internal import RTCShareWireFormat

/// The options for a Janus room and its credentials.
struct JanusOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            """
            URL of a Janus server with the VideoRoom plugin, such as http://server.example:8088/janus or \
            ws://server.example:8188.
            """, valueName: "url"))
    var janus: String?

    @Option(
        name: .customLong("janus-room"),
        help: ArgumentHelp("The Janus room: its number, or its name if rooms have names.", valueName: "n|name"))
    var room: String?

    @Option(
        name: .customLong("janus-pin-file"),
        help: ArgumentHelp("PIN of the Janus room (file, mode 0600).", valueName: "file"), completion: .file())
    var pinFile: String?

    @Option(
        name: .customLong("janus-secret-file"),
        help: ArgumentHelp("API secret of the Janus server (file, mode 0600).", valueName: "file"),
        completion: .file())
    var secretFile: String?

    @Option(
        name: .customLong("janus-token-file"),
        help: ArgumentHelp("Token for the Janus server or room (file, mode 0600).", valueName: "file"),
        completion: .file())
    var tokenFile: String?

    var isGiven: Bool { janus != nil }

    func validate() throws {
        guard janus == nil else {
            guard room != nil else { throw ValidationError("--janus needs --janus-room: give both") }
            return
        }
        for (name, value) in [
            ("--janus-room", room), ("--janus-pin-file", pinFile), ("--janus-secret-file", secretFile),
            ("--janus-token-file", tokenFile),
        ] where value != nil {
            throw ValidationError("\(name) needs --janus: give both")
        }
    }

    /// Returns the credentials for the server and the room.
    func credentials() throws(CommandFailure) -> JanusCredentials {
        JanusCredentials(
            pin: try Self.secret(pinFile, "pin file"), secret: try Self.secret(secretFile, "secret file"),
            token: try Self.secret(tokenFile, "token file"))
    }

    private static func secret(_ path: String?, _ what: String) throws(CommandFailure) -> String? {
        guard let path else { return nil }
        let text = try SecretFile.readText(path, what: what).trimmed
        guard !text.isEmpty else { throw CommandFailure(.badInput, "the \(what) \(path) is empty") }
        return text
    }

    /// Returns the failure for a URL of another server.
    static func notJanus(_ url: String) -> CommandFailure {
        CommandFailure(
            .usage, "--janus \(url.withoutSecrets): this is not the URL of a Janus server",
            try: "--janus http://server.example:8088/janus, or --janus ws://server.example:8188")
    }

    /// Returns the endpoint for the content, and one for the camera and microphone if they are shared. Secrets in the
    /// URL are hidden from the process list after this.
    func endpoints(
        of attendee: AttendeeID, sharing media: Set<SharedMedia>, display: String?
    ) throws -> [JanusEndpoint] {
        guard let janus, let room else { return [] }
        ProcessArguments.hideSecrets(of: janus)
        let content: JanusEndpoint
        do {
            content = try JanusEndpoint(
                url: janus, room: JanusID(room), display: try display ?? attendee.content.label,
                credentials: try credentials())
        } catch JanusError.url {
            throw Self.notJanus(janus)
        }
        guard !media.isDisjoint(with: [.camera, .microphone]) else { return [content] }
        return [content, content.ownMedia(as: attendee.label)]
    }
}
