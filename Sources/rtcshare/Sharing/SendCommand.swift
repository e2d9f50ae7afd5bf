internal import ArgumentParser
internal import Dispatch
internal import Glibc
internal import RTCShareCapture
internal import RTCShareCaptureBroadcast
internal import RTCShareCongestionControl
internal import RTCShareContentShare
internal import RTCShareMedia
internal import RTCSharePeerConnection
internal import RTCShareSDP
internal import RTCShareTransport
internal import RTCShareVideoCoding
internal import RTCShareWireFormat

struct SendCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "send",
        abstract: "Share to one viewer or server until you stop it.",
        discussion: #"""
            Share with the session that rtcshare offer saved. Each session works once. Sources that you leave out are those that
            you gave rtcshare offer:

                rtcshare send --answer answer.sdp

            Without --answer, send prints an offer, waits for the answer on standard input, and then shares:

                rtcshare send --source window:title=Slides

            Publish to a server, which serves its own viewers. After the first success, a failed connection is retried until you
            stop the share:

                rtcshare send --whip https://server.example/live/whip \
                    --whip-token-file whip.token
                rtcshare send --janus http://server.example:8088/janus \
                    --janus-room 1234

            Press Ctrl-C to stop. Control it from another terminal: rtcshare status, pause, switch, invite, stop.
            """#)

    @OptionGroup(title: "The viewer's answer") var answering: AnsweringOptions

    @OptionGroup(title: "What to share") var sources: SourceOptions

    @OptionGroup(title: "What to share") var output: OutputOptions

    @OptionGroup(title: "Quality") var quality: QualityOptions

    @OptionGroup(title: "Special sources") var special: SpecialSourceOptions

    @OptionGroup(title: "Servers") var publishing: PublishingOptions

    @OptionGroup(title: "Control and subgroups") var running: RunningOptions

    @OptionGroup(title: "Control and subgroups") var place: ViewerMembershipOptions

    @OptionGroup(title: "You and your network, without --answer") var offering: OfferingOptions

    /// The options for the answer to an earlier `offer`, and for its session.
    struct AnsweringOptions: ParsableArguments {
        @Option(
            help: ArgumentHelp("File with the viewer's answer, - for standard input.", valueName: "file"),
            completion: .file())
        var answer: String?

        @Option(
            help: ArgumentHelp(
                "Session file of rtcshare offer. Default: ~/.local/state/rtcshare/session.json.", valueName: "file"),
            completion: .file())
        var session: String?
    }

    func validate() throws {
        try publishing.validate()
        try sharing.validate()
        if answering.answer != nil,
            offering.port.port != nil || offering.network.isGiven || offering.attendee.attendee != nil
        {
            throw ValidationError(
                "--attendee, --port, --bind, --public-ip, --resolve-host-names and --ice-… belong to the offer: give them "
                    + "to rtcshare offer"
            )
        }
        if answering.answer == nil, answering.session != nil {
            throw ValidationError("--session needs --answer: without an answer, send makes its own offer")
        }
        guard publishing.isGiven else { return }
        if offering.network.iceTcp == true {
            throw ValidationError(
                "--ice-tcp can't be combined with --whip or --janus: it is for viewers who connect to you")
        }
        if answering.answer != nil {
            throw ValidationError("--answer can't be combined with --whip or --janus: a server needs no answer file")
        }
        guard !publishing.room.isGiven else { return }
        let media = sources.selection.media
        for (name, own) in [("--camera", SharedMedia.camera), ("--microphone", .microphone)] where media.contains(own) {
            throw ValidationError(
                "\(name): a WHIP server takes one video and one audio track. Share a camera with --source camera, and mix a "
                    + "microphone in by --audio microphone")
        }
    }

    var sharing: SharingOptions {
        SharingOptions(sources: sources, output: output, quality: quality, special: special)
    }

    func run() async throws {
        try await reportingFailure {
            if let answer = answering.answer {
                try await StoredShare(
                    answerPath: answer, sessionPath: answering.session, sharing: sharing, running: running, place: place
                ).run()
            } else if publishing.isGiven {
                try await publish()
            } else {
                try await offerAndSend()
            }
        }
    }

    /// Publishes the share to servers until it is stopped.
    private func publish() async throws {
        let attendee = try offering.attendee.id()
        let selection = sources.selection
        _ = try selection.standardInputOption()
        var configuration = sharing.connectionConfiguration(for: selection.media)
        try offering.apply(to: &configuration)
        let membership = try place.membership
        // Errors in URLs and tokens are found before any source is opened.
        let endpoints = try publishing.endpoints(of: attendee, sharing: selection.media)
        let sources = try sharing.open(selection)
        // All sessions, including those of retries, share one port.
        let port = try await SharedPort(addresses: configuration.addresses, port: offering.port.port ?? 0)
        configuration.sharedPort = port
        let inviting = RunningShare.Inviting(
            media: selection.media, configuration: configuration, policy: offering.network.ice.iceTransportPolicy)
        do {
            let room = try await running.room(of: attendee, joining: place, on: port)
            let share = Share(
                room: room, sources: sources, options: sharing, running: running, inviting: inviting,
                film: try sharing.openFilm(), interruption: Interruption())
            endpoints.warnOfRisks()
            try await share.run(
                publishedAt: endpoints.places(of: room, membership: membership, configuration: configuration))
        } catch {
            await port.close()
            throw error
        }
        await port.close()
    }

    /// Makes the offer and shares to its viewer.
    private func offerAndSend() async throws {
        let attendee = try offering.attendee.id()
        let selection = self.sources.selection
        try selection.checkStandardInput(answer: "-")
        let sources = try sharing.open(selection)
        let membership = try place.membership
        let room = try await running.room(of: attendee, joining: place)
        var configuration = sharing.connectionConfiguration(for: selection.media)
        try offering.apply(to: &configuration)
        let interruption = Interruption()
        let connection = try await offering.openConnection(
            for: attendee, media: selection.media, configuration: configuration
        ).connection
        // Until the share runs, this closes its recording and its connection, whose relayed addresses are released.
        var film: FilmFile?
        let exchange: (offer: SessionDescription, answer: SessionDescription)?
        do {
            film = try sharing.openFilm()
            Terminal.shared.say(sources.introduction)
            exchange = try await exchangeDescriptions(
                on: connection, servers: configuration.iceServers, until: interruption)
        } catch {
            await connection.close()
            _ = try? await film?.close()
            throw error
        }
        guard let (offer, answer) = exchange else {
            await connection.close()
            try await film?.close()
            return
        }
        // Only the first viewer uses the given port.
        configuration.port = 0
        let inviting = RunningShare.Inviting(
            media: selection.media, configuration: configuration, policy: offering.network.ice.iceTransportPolicy)
        let share = Share(
            room: room, sources: sources, options: sharing, running: running, inviting: inviting, film: film,
            interruption: interruption)
        try await share.run(on: connection, membership: membership) {
            try await connection.accept(answer: answer, to: offer)
        } consume: {
        }
    }

    /// Prints the offer and reads the answer. Nil if a signal interrupts this.
    private func exchangeDescriptions(
        on connection: Connection, servers: [ICEServer], until interruption: Interruption
    ) async throws -> (offer: SessionDescription, answer: SessionDescription)? {
        let isOutputFree = sharing.output.stats != "-"
        return try await interruption.result { [offering] in
            try await offering.network.gather(on: connection, servers: servers)
            let offer = try await connection.makeOffer()
            try StandardStreams.writeData(offer.description)
            // A program that reads the offer from a pipe reads to its end before it answers.
            if isOutputFree { StandardStreams.closeOutput() }
            return (offer, try await AnswerFile.readInput { try AnswerFile.check($0, answers: offer, name: $1) })
        }
    }
}
