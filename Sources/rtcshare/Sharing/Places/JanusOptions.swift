internal import ArgumentParser
internal import FoundationEssentials
internal import RTCShareContentShare
internal import RTCShareSignaling
internal import RTCShareWireFormat

/// A room of a Janus, and what it wants to be shown.
struct JanusOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            """
            The URL of a Janus with the VideoRoom plugin: of its HTTP API, as http://server.example:8088/janus, or of its \
            WebSocket, as ws://server.example:8188.
            """, valueName: "url"))
    var janus: String?

    @Option(help: ArgumentHelp("The room there: its number, or its name where rooms have names.", valueName: "n|name"))
    var room: String?

    @Option(
        help: ArgumentHelp("A file with the room's pin, that only you can read.", valueName: "file"),
        completion: .file())
    var pinFile: String?

    @Option(
        help: ArgumentHelp("A file with the secret of the server's API, that only you can read.", valueName: "file"),
        completion: .file())
    var secretFile: String?

    @Option(
        help: ArgumentHelp(
            "A file with the token that the server or the room wants, that only you can read.", valueName: "file"),
        completion: .file())
    var janusTokenFile: String?

    /// Whether there is one.
    var isGiven: Bool { janus != nil }

    func validate() throws {
        guard janus == nil else {
            guard room != nil else { throw ValidationError("--janus goes with --room: name the room there too") }
            return
        }
        for (name, value) in [
            ("--room", room), ("--pin-file", pinFile), ("--secret-file", secretFile),
            ("--janus-token-file", janusTokenFile),
        ] where value != nil {
            throw ValidationError("\(name) goes with --janus: give that too")
        }
    }

    /// What is shown to the server and the room.
    func credentials() throws(CommandFailure) -> JanusCredentials {
        JanusCredentials(
            pin: try Self.secret(pinFile, "pin file"), secret: try Self.secret(secretFile, "secret file"),
            token: try Self.secret(janusTokenFile, "token file"))
    }

    private static func secret(_ path: String?, _ what: String) throws(CommandFailure) -> String? {
        guard let path else { return nil }
        let text = try SecretFile.readText(path, what: what).trimmed
        guard !text.isEmpty else { throw CommandFailure(.badInput, "\(path): there is nothing in the \(what)") }
        return text
    }

    /// The room's place for who shares these, and one for an own picture and voice where they are among them. What in the
    /// URL may be secret is seen by nobody else in the list of processes from then on.
    func endpoints(
        of attendee: AttendeeID, sharing media: Set<SharedMedia>, display: String?
    ) throws -> [JanusEndpoint] {
        guard let janus, let room else { return [] }
        ProcessArguments.hideSecrets(of: janus)
        let content = try JanusEndpoint(
            url: janus, room: JanusID(room), display: try display ?? attendee.content.rawValue,
            credentials: try credentials())
        guard !media.isDisjoint(with: [.camera, .microphone]) else { return [content] }
        return [content, content.ownMedia(as: attendee.rawValue)]
    }
}
