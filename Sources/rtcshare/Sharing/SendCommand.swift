internal import ArgumentParser
internal import Dispatch
internal import Glibc
internal import RTCShareCapture
internal import RTCShareCaptureBroadcast
internal import RTCShareCongestionControl
internal import RTCShareContentShare
internal import RTCShareMedia
internal import RTCShareNetworkRuntime
internal import RTCSharePeerConnection
internal import RTCShareSDP
internal import RTCShareVideoCoding
internal import RTCShareWireFormat

struct SendCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "send",
        abstract: "Connect to the viewer that answered, and share until stopped.",
        discussion: """
            With --answer, the session that rtcshare offer left is used, and used up. Without, the offer is made here: it \
            goes to standard output, the answer is read from standard input, and the sockets stay open in between.

            With --whip or --janus a server takes the viewer's place, and hands the share on to its own viewers:

                rtcshare send --whip https://server.example/live/whip --token-file whip.token

                rtcshare send --janus http://server.example:8088/janus --room 1234

            What fails there after it was published once, the way to the server included, is begun anew until the share is \
            stopped. Several servers are sent one encode, and rtcshare serve takes them too. In a room of a Janus you are \
            ID#content, and a camera or a microphone is a second publisher, ID.

            Ctrl-C ends the share and tells the viewer; a second Ctrl-C, a second later, ends the program at once. While it \
            runs, rtcshare status, pause, source, invite and others ask it and change it. With several viewers it ends when \
            the last has left.
            """)

    @Option(
        help: ArgumentHelp("The viewer's answer; - reads it from standard input.", valueName: "file"),
        completion: .file())
    var answer: String?

    @Option(help: ArgumentHelp("The session file that rtcshare offer wrote.", valueName: "file"), completion: .file())
    var session: String?

    @OptionGroup(title: "What to share") var sharing: SharingOptions

    @OptionGroup(title: "A share that runs") var running: SendRunningOptions

    @OptionGroup(title: "Without --answer") var offering: OfferingOptions

    @OptionGroup(title: "Through servers") var publishing: PublishingOptions

    @Option(
        help: ArgumentHelp("The same as --whip-token-file, which serve takes too.", valueName: "file"),
        completion: .file())
    var tokenFile: [String] = []

    /// Where the share is published.
    var places: PublishingOptions {
        var places = publishing
        places.whipTokenFile += tokenFile
        return places
    }

    func validate() throws {
        try sharing.validate()
        try running.validate()
        try places.validate()
        if answer != nil,
            offering.port != nil || !offering.bind.isEmpty || !offering.publicIp.isEmpty || offering.ice.isGiven
                || offering.attendee != nil
        {
            throw ValidationError(
                "--attendee, --port, --bind, --public-ip, --resolve-host-names and --ice-… belong to the offer: give them "
                    + "to rtcshare offer"
            )
        }
        if answer == nil, session != nil {
            throw ValidationError("--session goes with --answer; without an answer, send makes its own offer")
        }
        guard places.isGiven else { return }
        if answer != nil {
            throw ValidationError(
                "--answer goes without --whip and --janus, which need no answer of a person: leave it out")
        }
        guard !places.room.isGiven else { return }
        for (name, value) in [
            ("--camera", sharing.sources.selection.shownCamera), ("--microphone", sharing.sources.selection.microphone),
        ] where value != nil && value != AudioSpecification.none.description {
            throw ValidationError(
                "\(name): a WHIP server takes one picture and one sound; share a camera by --source camera, and mix a "
                    + "microphone in by --audio microphone")
        }
    }

    func run() async throws {
        try await reportingFailure {
            if let answer {
                try await StoredShare(
                    answerPath: answer, sessionPath: session, sharing: sharing, running: running.options,
                    place: running.place
                ).run()
            } else if places.isGiven {
                try await publish()
            } else {
                try await offerAndSend()
            }
        }
    }

    /// Shares to servers, until stopped.
    private func publish() async throws {
        let attendee = try offering.attendeeID()
        let selection = sharing.sources.selection.withTestSound
        try selection.check()
        _ = try selection.standardInputOption()
        var configuration = sharing.connectionConfiguration(for: selection.media)
        try offering.apply(to: &configuration)
        let membership = try running.place.membership
        // What is wrong with URLs and tokens is found before anything is opened.
        let endpoints = try places.endpoints(of: attendee, sharing: selection.media)
        let sources = try sharing.open(selection)
        let film = try sharing.openFilm()
        let room = try await running.room(of: attendee)
        let interruption = Interruption()
        // One port for all sessions, and for those that come after them.
        let port = try await SharedPort(addresses: configuration.addresses, port: offering.port ?? 0)
        configuration.sharedPort = port
        let inviting = ShareControl.Inviting(
            media: selection.media, configuration: configuration, policy: offering.ice.iceTransportPolicy)
        let share = Share(
            room: room, sources: sources, options: sharing, running: running.options, inviting: inviting, film: film,
            interruption: interruption)
        do {
            endpoints.tellRisks()
            try await share.run(
                publishedAt: endpoints.places(of: room, membership: membership, configuration: configuration))
        } catch {
            await port.close()
            throw error
        }
        await port.close()
    }

    /// Does the offer's part too.
    private func offerAndSend() async throws {
        let attendee = try offering.attendeeID()
        let selection = sharing.sources.selection
        try selection.checkStandardInput(answer: "-")
        let sources = try sharing.open(selection)
        let film = try sharing.openFilm()
        let room = try await running.room(of: attendee)
        var configuration = sharing.connectionConfiguration(for: selection.media)
        try offering.apply(to: &configuration)
        let interruption = Interruption()
        let connection = try await offering.openConnection(
            for: attendee, media: selection.media, configuration: configuration
        ).connection
        do {
            Terminal.shared.say(sources.introduction)
            let servers = configuration.iceServers
            let exchange = try await exchangeDescriptions(on: connection, servers: servers, until: interruption)
            guard let (offer, answer) = exchange else { return await connection.close() }
            // The first viewer has the port that was asked for.
            configuration.port = 0
            let inviting = ShareControl.Inviting(
                media: selection.media, configuration: configuration, policy: offering.ice.iceTransportPolicy)
            let share = Share(
                room: room, sources: sources, options: sharing, running: running.options, inviting: inviting,
                film: film,
                interruption: interruption)
            try await share.run(on: connection, membership: running.place.membership) {
                try await connection.accept(answer: answer, to: offer)
            } consume: {
            }
        } catch {
            // What servers relay from is given back.
            await connection.close()
            throw error
        }
    }

    /// Prints the offer and reads the answer; nil where a signal asks for the end.
    private func exchangeDescriptions(
        on connection: Connection, servers: [ICEServer], until interruption: Interruption
    ) async throws -> (offer: SessionDescription, answer: SessionDescription)? {
        let isOutputFree = sharing.stats != "-"
        return try await interruption.result { [offering] in
            try await offering.gather(on: connection, servers: servers)
            let offer = try await connection.makeOffer()
            try StandardStreams.writeData(offer.description)
            // Whoever reads the offer from a pipe waits for its end, and only then answers.
            if isOutputFree { StandardStreams.closeOutput() }
            return (offer, try await AnswerFile.readInput())
        }
    }
}

/// An answer as the viewer gave it.
enum AnswerFile {
    /// Reads standard input on a thread that may wait.
    static func readInput() async throws -> SessionDescription {
        try await withCheckedThrowingContinuation { continuation in
            DispatchQueue.global().async { continuation.resume(with: Result { try read("-") }) }
        }
    }

    static func read(_ path: String) throws -> SessionDescription {
        let text = try StandardStreams.readText(path, what: "answer")
        guard !text.allSatisfy(\.isWhitespace) else {
            throw CommandFailure(.badInput, "the answer \(path) is empty; save what the viewer gave back, all of it")
        }
        return try SessionDescription.parse(text)
    }
}

/// What is shared, how well and for how long.
struct SharingOptions: ParsableArguments {
    @OptionGroup var sources: SourceOptions

    @Flag(help: "Have a Wayland desktop ask what to share, also where it was told before.")
    var choose = false

    @OptionGroup var broadcastTokens: BroadcastTokenOptions

    @Option(
        help: """
            What gives way when the bitrate is short: frame rate for text and detail, size for motion. By default what the \
            source is: detail for a screen.
            """)
    var hint: Hint?

    @Option(help: ArgumentHelp("The most that the content's pictures take, in kbit/s.", valueName: "kbps"))
    var maxBitrate = 2500

    @Option(
        help: ArgumentHelp(
            "The most that the content's sound takes, in kbit/s. By default 128.", valueName: "kbps"))
    var audioBitrate: Int?

    @Option(help: ArgumentHelp("The most frames a second.", valueName: "n"))
    var maxFramerate: Double = 30

    @Option(
        help: ArgumentHelp(
            "The picture's largest size; a larger one is made smaller, whole. By default 3840x2160.", valueName: "WxH"))
    var size: FrameSize?

    @OptionGroup var encoding: EncodingOptions

    @Option(help: ArgumentHelp("End after this many seconds.", valueName: "s"))
    var duration: Double?

    // For `rtcbench path`, which measures what each of them is worth.
    @Option(help: .hidden)
    var congestionWithout: [String] = []

    @Option(
        help: ArgumentHelp(
            "Write a statistics report a second as JSON Lines; - is standard output.", valueName: "file"),
        completion: .file())
    var stats: String?

    @Option(
        help: ArgumentHelp(
            """
            Record what is sent as a film, without encoding it again: the content and its sound, your own picture and voice. \
            The file must not be there yet; a service that is started again continues with FILE-2.webm.
            """, valueName: "file.webm"), completion: .file(extensions: ["webm"]))
    var record: String?

    enum Hint: String, ExpressibleByArgument, CaseIterable, Codable, Sendable {
        case text, detail, motion

        init?(_ hint: ContentHint) {
            guard let known = Self.allCases.first(where: { $0.contentHint == hint }) else { return nil }
            self = known
        }

        var contentHint: ContentHint {
            switch self {
            case .text: .text
            case .detail: .detail
            case .motion: .motion
            }
        }
    }

    func validate() throws {
        try Kilobits.validate(maxBitrate, "--max-bitrate", in: LocalVideoConfiguration.bitrates)
        if let audioBitrate {
            try Kilobits.validate(audioBitrate, "--audio-bitrate", in: LocalAudioConfiguration.bitrates)
        }
        guard CaptureFormat.frameRates.contains(maxFramerate) else {
            throw ValidationError("--max-framerate \(maxFramerate): give 0.1 to 240 frames a second")
        }
        try ShareDuration.validate(duration)
        try FilmFile.validate(record)
        guard Deviations(without: congestionWithout) != nil else {
            throw ValidationError("--congestion-without: use the names that rtcbench network --without has")
        }
    }

    /// What the connection goes by that carries these media: `--max-bitrate` is the content's, the others come on top.
    func connectionConfiguration(for media: Set<SharedMedia>) -> Connection.Configuration {
        var configuration = Connection.Configuration()
        configuration.maxBitrate = maximumBitrate(for: media, content: .kilobitsPerSecond(maxBitrate))
        configuration.peer.congestionDeviations = Deviations(without: congestionWithout) ?? .all
        // A room may have many viewers.
        configuration.releasesHandshake = true
        return configuration
    }

    /// What a connection may take on which the content takes `content`.
    func maximumBitrate(for media: Set<SharedMedia>, content: DataRate) -> DataRate {
        media.subtracting([.content]).reduce(content) { sum, media in
            let own = media == .contentAudio ? audioBitrate.map(DataRate.kilobitsPerSecond) : nil
            return sum + (own ?? media.defaultBitrate)
        }
    }

    /// Opens what is shared; see ``OpenedSources``.
    func open(_ selection: SourceSelection, audioRemedy: String = "add AUDIO") throws -> OpenedSources {
        let content = try selection.source.map { try SourceSpecification($0) }
        return try OpenedSources(
            selection, maximumFrameRate: maxFramerate, broadcastTokens: try content.flatMap(tokens),
            choosesAnew: choose,
            audioRemedy: audioRemedy)
    }

    /// Makes the film that is asked for. A service that is started again can ask nobody for another name, and what it
    /// recorded before is kept.
    func openFilm() throws(CommandFailure) -> FilmFile? {
        guard let record else { return nil }
        return try FilmFile(path: record, activity: "the share", isNumbered: ServiceManager.isPresent)
    }

    /// The tokens that a source takes; nil where it takes none.
    func tokens(for source: SourceSpecification) throws -> BroadcastTokens? {
        if case .broadcast = source { try broadcastTokens.tokens() } else { nil }
    }

    /// How the content is sent.
    var configuration: LocalVideoConfiguration {
        var configuration = LocalVideoConfiguration(
            maxBitrate: .kilobitsPerSecond(maxBitrate), maxFramerate: maxFramerate, maxSize: size?.size,
            contentHint: hint?.contentHint)
        encoding.apply(to: &configuration)
        return configuration
    }
}

/// How pictures are encoded, wherever they are sent.
struct EncodingOptions: ParsableArguments {
    @Flag(help: "Have libvpx encode everything, also what was typed or scrolled, at several times the effort.")
    var noPartialUpdates = false

    func apply(to configuration: inout LocalVideoConfiguration) {
        configuration.usesPartialUpdates = !noPartialUpdates
    }
}

/// Where a share can be asked while it runs, and where in the room it goes.
struct RunningOptions: ParsableArguments {
    /// Read by ``ConfiguredOptions`` before the rest of the command line is.
    @Option(
        help: ArgumentHelp(
            "Read options from this TOML file. Default: $XDG_CONFIG_HOME/rtcshare/config.toml, if it exists.",
            valueName: "file.toml"), completion: .file(extensions: ["toml"]))
    var config: String?

    @Option(
        help: ArgumentHelp("What rtcshare status and the like call this share. By default share.", valueName: "name"))
    var name: String?

    @Option(
        help: ArgumentHelp(
            "The socket where it is asked. By default one in $XDG_RUNTIME_DIR/rtcshare, or where sessions are.",
            valueName: "path"), completion: .file())
    var control: String?

    @Flag(help: "Let nobody ask or change this share while it runs.") var noControl = false

    @Option(
        help: ArgumentHelp(
            "Where the share goes: main for the main room, or a subgroup, which you join by this.",
            valueName: "name|main"), completion: .list(["main"]))
    var destination: String?

    func validate() throws {
        guard [name != nil, control != nil, noControl].count(where: { $0 }) < 2 else {
            throw ValidationError("--name, --control and --no-control say three different things: give one")
        }
    }

    /// The room of a share that joins these subgroups, without viewers.
    func room(of owner: AttendeeID, joining subgroups: [String]) async throws -> SharingRoom {
        if let name { try ControlSocket.check(name: name) }
        let room = try SharingRoom(owner: owner)
        for subgroup in subgroups { await room.join(try Subgroup(subgroup)) }
        guard let destination else { return room }
        let place = try ShareDestination(destination)
        if case .subgroup(let subgroup) = place { await room.join(subgroup) }
        try await room.changeDestination(to: place)
        return room
    }
}

/// Options of `rtcshare send` for the running share and its first viewer.
struct SendRunningOptions: ParsableArguments {
    @OptionGroup var options: RunningOptions

    @OptionGroup var place: ViewerPlace

    func validate() throws {
        try options.validate()
        try place.validate()
    }

    /// The room of a share, without viewers. It joins the first viewer's subgroups.
    func room(of owner: AttendeeID) async throws -> SharingRoom {
        _ = try place.membership
        return try await options.room(of: owner, joining: place.subgroup)
    }
}

/// `1280x720` on the command line.
struct FrameSize: ExpressibleByArgument {
    let size: PixelSize

    init(width: Int, height: Int) {
        size = PixelSize(width: width, height: height)
    }

    init?(argument: String) {
        let sides = argument.split(separator: "x", omittingEmptySubsequences: false).map { Int($0) }
        guard sides.count == 2, let width = sides[0], let height = sides[1],
            (16...16383).contains(width), (16...16383).contains(height)
        else { return nil }
        self.init(width: width, height: height)
    }

    var defaultValueDescription: String { size.description }
}
