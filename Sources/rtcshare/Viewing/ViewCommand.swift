internal import ArgumentParser
internal import FoundationEssentials
internal import Glibc
internal import RTCShareContentShare
internal import RTCShareLocks
internal import RTCShareNetworkRuntime
internal import RTCSharePeerConnection
internal import RTCSharePlayback
internal import RTCShareSDP
internal import RTCShareSignaling
internal import RTCShareVideoCoding
internal import RTCShareWireFormat

struct ViewCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "view",
        abstract: "View a share: open a link or answer an offer, see and hear it, record it.",
        discussion: """
            A link of rtcshare serve, or the URL of another WHEP server, needs nothing else:

                rtcshare view 'http://192.168.1.23:8080/#…'
                rtcshare view 'http://192.168.1.23:8080/#…' --record share.webm

            If the server is restarted, or stops answering for a while, the link is opened again for up to five minutes.

            With --janus what others publish in a room of a Janus is viewed, each by the name that it has there:

                rtcshare view --janus http://server.example:8088/janus --room 1234 --publisher 'alice#content'

            Where there is a display, a window shows the share, with its sound. Its keys: f has it fill the screen, 1 shows the \
            picture's own size, m switches the sound off and on, s keeps the picture as a PNG file in this folder, q ends viewing.

            With --offer the answer goes to standard output at once; give it to whoever made the offer. Tiles are reported on standard \
            error as they appear and go. Ctrl-C ends viewing.

                rtcshare view --offer offer.sdp --record share.webm > answer.sdp
            """)

    @Argument(help: ArgumentHelp("The link.", valueName: "url")) var url: String?

    @Option(help: ArgumentHelp("The offer; - reads it from standard input.", valueName: "file"), completion: .file())
    var offer: String?

    @Option(
        help: ArgumentHelp(
            "A file with the token that the server wants, that only you can read. Not needed where it is in the link. Or set "
                + "RTCSHARE_WHEP_TOKEN.", valueName: "file"), completion: .file())
    var tokenFile: String?

    @Option(
        help: ArgumentHelp(
            """
            Record what is received. FILE.webm is one film with all pictures and sounds as they came, which must not be there \
            yet. FILE.ivf holds the content as VP8, with its sound beside it as WAV; an attendee's own picture and voice go to \
            files with the attendee's id in the name.
            """, valueName: "file.webm"), completion: .file(extensions: ["webm", "ivf"]))
    var record: String?

    @Option(
        help: ArgumentHelp(
            "Keep the content's newest picture in this PNG file; written at the end.", valueName: "file.png"),
        completion: .file())
    var snapshot: String?

    @Flag(
        inversion: .prefixedNo,
        help: ArgumentHelp(
            """
            Show a window, and play the sound, or don't. By default there is a window where there is a display, unless \
            --record or --snapshot is given.
            """))
    var window: Bool?

    @Option(help: ArgumentHelp("End this many seconds after the first picture.", valueName: "s"))
    var duration: Double?

    @Option(
        help: ArgumentHelp(
            "Write a statistics report a second as JSON Lines; - is standard output, behind the answer.",
            valueName: "file"), completion: .file())
    var stats: String?

    @Option(
        help: ArgumentHelp("The UDP port to listen at, on each address. By default the system picks.", valueName: "n"))
    var port: UInt16 = 0

    @Option(
        help: ArgumentHelp(
            "An address to listen at, again for each. By default those of every interface.", valueName: "addr"))
    var bind: [String] = []

    @Option(
        help: ArgumentHelp(
            "An address under which this machine is known outside, where a router forwards to it port for port.",
            valueName: "addr"))
    var publicIp: [String] = []

    @OptionGroup var ice: ICEOptions

    @OptionGroup(title: "Through servers") var room: JanusOptions

    @Option(
        help: ArgumentHelp(
            "Whose picture and sound are viewed in the room of a Janus, again for each; a name or an id.",
            valueName: "name"))
    var publisher: [String] = []

    func validate() throws {
        try ShareDuration.validate(duration)
        try FilmFile.validate(record, orEndings: ["", "ivf", "wav"])
        try room.validate()
        switch [url, offer, room.janus].count(where: { $0 != nil }) {
        case 0: throw ValidationError("give a link, an offer with --offer, or a room with --janus")
        case 1: break
        default: throw ValidationError("a link, --offer and --janus exclude each other: give one")
        }
        guard room.isGiven == !publisher.isEmpty else {
            throw ValidationError(
                room.isGiven
                    ? "--janus goes with --publisher: name who is to be viewed" : "--publisher goes with --janus")
        }
        if tokenFile != nil, url == nil { throw ValidationError("--token-file goes with a link") }
    }

    func run() async throws {
        for url in [url, room.janus].compactMap({ $0 }) { ProcessArguments.hideSecrets(of: url) }
        try await reportingFailure {
            var configuration = Connection.Configuration()
            configuration.port = port
            configuration.addresses = try BindAddress.parse(bind)
            configuration.publicAddresses = try PublicAddress.parse(publicIp)
            try ice.apply(to: &configuration)
            if let url {
                try await play(url, configuration)
            } else if let janus = room.janus {
                try await subscribe(at: janus, configuration)
            } else if let offer {
                try await answer(
                    SessionDescription.parse(StandardStreams.readText(offer, what: "offer")), configuration)
            }
        }
    }

    /// Watches what a link leads to.
    private func play(_ url: String, _ configuration: Connection.Configuration) async throws {
        let token = try token()
        try await watch {
            try await WHEPPlayer(url: url, token: token, as: AttendeeID("viewer"), configuration: configuration)
        }
    }

    /// Watches what is published in a room.
    private func subscribe(at url: String, _ configuration: Connection.Configuration) async throws {
        let credentials = try room.credentials()
        let room = JanusID(room.room ?? "")
        try await watch { [publisher] in
            try await JanusPlayer(
                url: url, room: room, publishers: publisher, credentials: credentials, as: AttendeeID("viewer"),
                configuration: configuration)
        }
    }

    /// Watches what comes over sessions that need nobody's answer.
    private func watch(_ makePlayer: @escaping @Sendable () async throws -> any SharePlayer) async throws {
        let first = try await makePlayer()
        let prepared = Locked<(any SharePlayer)?>(first)
        let viewing = try viewing(first.session)
        try await viewing.run(duration: duration, interruption: Interruption()) {
            if stats != "-" { StandardStreams.closeOutput() }
        } player: {
            if let player = prepared.withLock({ $0.take() }) { return player }
            return try await makePlayer()
        }
    }

    private func token() throws -> AccessToken? {
        let environment = ProcessInfo.processInfo.environment["RTCSHARE_WHEP_TOKEN"]
        guard let text = try tokenFile.map({ try SecretFile.readText($0, what: "token file") }) ?? environment else {
            return nil
        }
        do {
            return try AccessToken(presenting: text.trimmed)
        } catch {
            throw CommandFailure(.badInput, "\(tokenFile ?? "RTCSHARE_WHEP_TOKEN"): \(error)")
        }
    }

    private func viewing(_ session: AttendeeSession) throws -> Viewing {
        try Viewing(
            session: session, record: record, snapshot: snapshot,
            statistics: try stats.map { try StatisticsWriter(path: $0, activity: "viewing") },
            window: try window(session))
    }

    /// The window, where one is wanted. Better said now than with the first picture that there can be none.
    private func window(_ session: AttendeeSession) throws -> ViewWindow? {
        let isWanted = ViewWindow.isWanted(
            flag: window, keepsFile: record != nil || snapshot != nil,
            environment: ProcessInfo.processInfo.environment)
        guard isWanted else { return nil }
        do {
            try VideoWindow.checkAvailable()
        } catch {
            guard window == nil else { throw error }
            Terminal.shared.say("No window: \(error)")
            return nil
        }
        return ViewWindow(session, isRequired: window == true)
    }

    private func answer(_ offer: SessionDescription, _ configuration: Connection.Configuration) async throws {
        var configuration = configuration
        // The sender connects when its person has the answer: that can take them a while.
        configuration.connectTimeout = .seconds(24 * 3600)
        let servers = configuration.iceServers
        let interruption = Interruption()
        let session = try await AttendeeSession.viewing(
            as: AttendeeID("viewer"), configuration: configuration)
        let viewing = try viewing(session)
        try await viewing.run(duration: duration, interruption: interruption) {
            let gathered: Void? = try await interruption.result { [connection = session.connection, ice] in
                try await Gathering.run(on: connection, servers: servers, policy: ice.iceTransportPolicy)
            }
            // The viewing ends by the same signal.
            guard gathered != nil else { return }
            let answer = try await session.connection.answer(offer: offer)
            try StandardStreams.writeData(answer.description)
            // Whoever reads the answer from a pipe waits for its end, and only then connects.
            if stats != "-" { StandardStreams.closeOutput() }
        }
    }
}
