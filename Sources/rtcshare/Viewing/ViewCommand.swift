internal import ArgumentParser
internal import FoundationEssentials
internal import Glibc
internal import RTCShareContentShare
internal import RTCShareLocks
internal import RTCSharePeerConnection
internal import RTCSharePlayback
internal import RTCShareSDP
internal import RTCShareSignaling
internal import RTCShareTransport
internal import RTCShareVideoCoding
internal import RTCShareWireFormat

struct ViewCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "view",
        abstract: "Watch or record a share.",
        discussion: #"""
            Open a link of rtcshare serve, or the URL of another WHEP server:

                rtcshare view 'http://192.168.1.23:8080/#mK3v9'
                rtcshare view 'http://192.168.1.23:8080/#mK3v9' --record talk.webm

            Answer an offer. The answer goes to standard output. Pass it back to the presenter:

                rtcshare view --offer offer.sdp > answer.sdp

            Watch what is published in a Janus room:

                rtcshare view --janus http://server.example:8088/janus \
                    --janus-room 1234 --janus-publisher 'alice#content'

            Keys in the window: f full screen, 1 actual size, m mute, s save a frame, q quit.

            Press Ctrl-C to stop. If the server restarts or stops answering, view retries for up to two hours.
            """#)

    @Argument(help: ArgumentHelp("Link of rtcshare serve, or URL of a WHEP server.", valueName: "link"))
    var url: String?

    @OptionGroup(title: "What to do with the share") var watching: WatchingOptions

    @OptionGroup(title: "Your network") var port: MediaPortOption

    @OptionGroup(title: "Your network") var network: NetworkOptions

    @OptionGroup(title: "Janus") var room: JanusOptions

    @OptionGroup(title: "Janus") var publishers: PublisherOptions

    /// The options for the offer, and for the received media.
    struct WatchingOptions: ParsableArguments {
        @Option(
            help: ArgumentHelp("Answer this SDP offer, - for standard input.", valueName: "file"), completion: .file())
        var offer: String?

        @Option(
            help: ArgumentHelp(
                """
                Record all video and audio that arrives, as WebM or Matroska (.mkv). The file must not exist.
                """, valueName: "file.webm"), completion: .file(extensions: ["webm", "mkv"]))
        var record: String?

        @Option(
            help: ArgumentHelp(
                "Save the last frame as a PNG when viewing ends. The file must not exist.", valueName: "file.png"),
            completion: .file(extensions: ["png"]), transform: OptionValue.snapshot)
        var snapshot: String?

        @Flag(
            inversion: .prefixedNo,
            help: """
                Open a window and play the audio. Default: if there is a display, and neither --record nor --snapshot is given.
                """)
        var window: Bool?

        @Option(
            help: ArgumentHelp("Stop this many seconds after the first frame.", valueName: "s"),
            transform: OptionValue.duration)
        var duration: Double?

        @Option(
            help: ArgumentHelp(
                """
                Write statistics to this file every second (JSON Lines, - for standard output, after the answer). See rtcshare \
                report.
                """, valueName: "file"), completion: .file())
        var stats: String?

        @Option(
            help: ArgumentHelp(
                "Token for a WHEP server, unless the link contains it (file, mode 0600). Default: $RTCSHARE_WHEP_TOKEN.",
                valueName: "file"), completion: .file())
        var whepTokenFile: String?
    }

    /// The options for the attendees of a Janus room to watch.
    struct PublisherOptions: ParsableArguments {
        @Option(
            name: .customLong("janus-publisher"),
            help: ArgumentHelp("Name or id of an attendee to watch in the Janus room. Repeatable.", valueName: "name"))
        var publisher: [String] = []
    }

    func validate() throws {
        try FilmFile.validate(watching.record)
        switch [url, watching.offer, room.janus].count(where: { $0 != nil }) {
        case 0: throw ValidationError("give a link, --offer or --janus")
        case 1: break
        default: throw ValidationError("a link, --offer and --janus exclude each other: give one")
        }
        guard room.isGiven == !publishers.publisher.isEmpty else {
            throw ValidationError("--janus and --janus-publisher go together: give both")
        }
        if watching.whepTokenFile != nil, url == nil { throw ValidationError("--whep-token-file needs a link") }
    }

    func run() async throws {
        for url in [url, room.janus].compactMap({ $0 }) { ProcessArguments.hideSecrets(of: url) }
        try await reportingFailure {
            var configuration = Connection.Configuration()
            try network.apply(to: &configuration, port: port.port)
            if let url {
                try await play(url, configuration)
            } else if let janus = room.janus {
                try await subscribe(at: janus, configuration)
            } else if let offer = watching.offer {
                let name = offer == "-" ? "the offer" : offer
                let text = try StandardStreams.readText(offer, what: "offer")
                let description = try PastedDescription(in: text, name: name, expecting: "the presenter's offer")
                    .parsed(as: .offer, name: name)
                try await answer(description, name: name, configuration)
            }
        }
    }

    /// Watches the share of a link.
    private func play(_ url: String, _ configuration: Connection.Configuration) async throws {
        let token = try token()
        guard Self.isLink(url) else {
            let isFile = FileManager.default.fileExists(atPath: url)
            throw CommandFailure(
                .usage, "'\(isFile ? url : url.withoutSecrets)' is not a link",
                try: isFile
                    ? "rtcshare view --offer \(url.asShellWord)" : "a link that begins with http:// or https://")
        }
        try await watch { isRetry in
            try await WHEPPlayer(
                url: url, token: token, as: AttendeeID("viewer"), configuration: configuration, isRetry: isRetry)
        }
    }

    private static func isLink(_ url: String) -> Bool {
        ["http://", "https://"].contains { url.lowercased().hasPrefix($0) && url.count > $0.count }
    }

    /// Watches media that are published in a Janus room.
    private func subscribe(at url: String, _ configuration: Connection.Configuration) async throws {
        let credentials = try room.credentials()
        let room = JanusID(room.room ?? "")
        try await watch { [publishers] isRetry in
            do {
                return try await JanusPlayer(
                    url: url, room: room, publishers: publishers.publisher, credentials: credentials,
                    as: AttendeeID("viewer"), configuration: configuration, isRetry: isRetry)
            } catch JanusError.url {
                throw JanusOptions.notJanus(url)
            }
        }
    }

    /// Watches with players, which connect without an answer from a person.
    private func watch(
        _ makePlayer: @escaping @Sendable (_ isRetry: Bool) async throws -> any SharePlayer
    ) async throws {
        let first = try await makePlayer(false)
        let prepared = Locked<(any SharePlayer)?>(first)
        let viewing = try await viewing(first.session)
        try await viewing.run(duration: watching.duration, interruption: Interruption()) {
            if watching.stats != "-" { StandardStreams.closeOutput() }
        } player: {
            if let player = prepared.withLock({ $0.take() }) { return player }
            return try await makePlayer(true)
        }
    }

    private func token() throws -> AccessToken? {
        let environment = ProcessInfo.processInfo.environment["RTCSHARE_WHEP_TOKEN"]
        guard
            let text = try watching.whepTokenFile.map({ try SecretFile.readText($0, what: "token file") })
                ?? environment
        else {
            return nil
        }
        do {
            return try AccessToken(presenting: text.trimmed)
        } catch {
            let place = watching.whepTokenFile ?? "RTCSHARE_WHEP_TOKEN"
            throw CommandFailure(.badInput, "can't use the token in \(place): \(error.explanation.problem)")
        }
    }

    private func viewing(_ session: AttendeeSession) async throws -> Viewing {
        try Viewing(
            session: session, record: watching.record, snapshot: watching.snapshot,
            statistics: try watching.stats.map { try StatisticsWriter(path: $0, activity: "viewing") },
            window: try await window(session))
    }

    /// Returns the window, if one is wanted. Errors are found before the presenter sees a viewer.
    private func window(_ session: AttendeeSession) async throws -> ViewWindow? {
        let keepsFile = watching.record != nil || watching.snapshot != nil
        let environment = ProcessInfo.processInfo.environment
        guard ViewWindow.isWanted(flag: watching.window, keepsFile: keepsFile, environment: environment) else {
            if watching.window == nil, !keepsFile {
                Terminal.shared.say(
                    "No window opens, because there is no display. To keep the video, add --record or --snapshot.")
            }
            return nil
        }
        do {
            try await VideoWindow.checkDisplay()
        } catch {
            guard watching.window == nil else { throw error }
            Terminal.shared.say(CommandFailure(explaining: error).lines(after: "Warning: "))
            return nil
        }
        return await ViewWindow(session, isRequired: watching.window == true)
    }

    private func answer(
        _ offer: SessionDescription, name: String, _ configuration: Connection.Configuration
    ) async throws {
        var configuration = configuration
        // The sender connects after a person passes the answer on, which can take hours.
        configuration.connectTimeout = .seconds(24 * 3600)
        let servers = configuration.iceServers
        let interruption = Interruption()
        let session = try await AttendeeSession.viewing(
            as: AttendeeID("viewer"), configuration: configuration)
        let viewing = try await viewing(session)
        try await viewing.run(duration: watching.duration, interruption: interruption) {
            let gathered: Void? = try await interruption.result { [connection = session.connection, network] in
                try await network.gather(on: connection, servers: servers)
            }
            // The same signal ends the viewing.
            guard gathered != nil else { return }
            let answer: SessionDescription
            do {
                answer = try await session.connection.answer(offer: offer)
            } catch let error as NegotiationError {
                throw PastedDescription.failure(error, with: offer, .offer, name: name)
            }
            let closes = watching.stats != "-"
            // On a full pipe, only this thread blocks.
            try await WorkerThread.run(named: "standard output") { () throws(CommandFailure) in
                try StandardStreams.writeData(answer.description)
                // A program that reads the answer from a pipe reads to its end before it connects.
                if closes { StandardStreams.closeOutput() }
            }
            Terminal.shared.say("Waiting for the presenter to take the answer.")
        }
    }
}
