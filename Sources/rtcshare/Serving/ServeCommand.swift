internal import ArgumentParser
internal import Glibc
internal import NIOCore
internal import RTCShareLocks
internal import RTCShareContentShare
internal import RTCShareMedia
internal import RTCShareSecureTransport
internal import RTCShareSignaling
internal import RTCShareTransport
internal import RTCShareWireFormat

/// `rtcshare serve`: a share behind a link.
struct ServeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "serve",
        abstract: "Share your screen by a link that opens in a browser.",
        discussion: #"""
            Send the printed link to your viewers. The part after # is the secret: only people who have the link can watch. Press
            Ctrl-C to stop.

                rtcshare serve --audio system
                rtcshare serve --source window:title=Slides --ask
                rtcshare serve --record meeting.webm

            Control it on a page in your browser: rtcshare present. From another terminal: rtcshare status, pause, switch, mute,
            admit, kick, lock, stop.

            Viewers without a browser: rtcshare view LINK, or another WHEP player with whep/SECRET instead of #SECRET.
            """#)

    @OptionGroup(title: "What to share") var sources: SourceOptions

    @OptionGroup(title: "What to share") var output: OutputOptions

    @OptionGroup(title: "The link") var link: LinkOptions

    @OptionGroup(title: "Quality") var quality: QualityOptions

    @OptionGroup(title: "Special sources") var special: SpecialSourceOptions

    @OptionGroup(title: "Control and subgroups") var running: RunningOptions

    @OptionGroup(title: "Control and subgroups") var place: ServerMembershipOptions

    @OptionGroup(title: "You and your network") var attendee: AttendeeOption

    @OptionGroup(title: "You and your network") var portOption: ServedMediaPortOption

    @OptionGroup(title: "You and your network") var network: NetworkOptions

    @OptionGroup(title: "Servers") var publishing: PublishingOptions

    /// The media port that all viewers share.
    struct ServedMediaPortOption: ParsableArguments {
        @Option(
            help: ArgumentHelp(
                "UDP port for media of all viewers. Default: the port number of the page if it is free, else any free port.",
                valueName: "n"), transform: OptionValue.listeningPort)
        var port: UInt16?
    }

    var sharing: SharingOptions {
        SharingOptions(sources: sources, output: output, quality: quality, special: special)
    }

    func validate() throws {
        try sharing.validate()
        guard !link.internet || network.bind.isEmpty else {
            throw ValidationError("--internet and --bind exclude each other: give one")
        }
    }

    func run() async throws {
        try await reportingFailure {
            // Before the sources are open, a signal ends the process at once.
            try await run { (try sharing.open($0), Interruption()) }
        }
    }

    /// Shares the sources that `open` returns until the share is stopped. `desk` is that of the presenter who started it on
    /// the page. It ends early if its task is canceled.
    func run(
        on desk: ControlDesk? = nil, opening open: (SourceSelection) async throws -> (OpenedSources, Interruption)
    ) async throws {
        let owner = try attendee.id()
        let selection = sources.selection
        _ = try selection.standardInputOption()
        var configuration = ViewerServer.Configuration()
        try link.apply(to: &configuration)
        configuration.media = selection.media
        configuration.connection = sharing.connectionConfiguration(for: selection.media)
        try network.apply(to: &configuration.connection, port: portOption.port, acceptsTCP: true)
        let endpoints = try publishing.endpoints(of: owner, sharing: selection.media)
        let (opened, interruption) = try await open(selection)
        let mediaPort = try await openMediaPort(configuration)
        configuration.connection.sharedPort = mediaPort
        let internet = link.internet ? await InternetAccess(mediaPort: mediaPort) : nil
        var listening: ViewerServer?
        do {
            let room = try await running.room(of: owner, joining: place, on: mediaPort)
            if let internet { try await encrypt(&configuration, for: internet) }
            let server = try await listen(configuration, room: room)
            listening = server
            try Task.checkCancellation()
            await internet?.openPage(server.port)
            let inviting = RunningShare.Inviting(
                media: selection.media, configuration: configuration.connection,
                policy: network.ice.iceTransportPolicy)
            let hosts = try LinkHosts(
                given: link.address, listening: configuration.addresses, zone: configuration.zone,
                all: link.allAddresses)
            let share = Share(
                room: room, sources: opened, options: sharing, running: running, inviting: inviting,
                film: try sharing.openFilm(), interruption: interruption, desk: desk)
            let asking = Task { [connection = configuration.connection] in
                await ServerNameReport.run(askedBy: connection)
            }
            defer { asking.cancel() }
            // Servers accept TCP connections themselves.
            var publishing = configuration.connection
            publishing.acceptsTCP = false
            let places = endpoints.places(
                of: room, membership: try place.membership, configuration: publishing)
            try await share.run(behind: server, publishedAt: places) { [configuration] running in
                running.linkHosts = hosts.hosts
                running.outsideAddress = internet?.pageAddress
                try await tell(server, hosts, running, configuration, isPresented: desk != nil)
                endpoints.warnOfRisks()
                if let internet { await follow(internet, server, running, configuration) }
            }
        } catch {
            await Self.close(listening, internet, mediaPort)
            throw error
        }
        await Self.close(nil, internet, mediaPort)
    }

    /// Closes everything, in a task of its own: a canceled one would not wait for the router.
    private static func close(
        _ server: ViewerServer?, _ internet: InternetAccess?, _ mediaPort: SharedPort
    ) async {
        await Task {
            await server?.close()
            await internet?.close()
            await mediaPort.close()
        }.value
    }

    /// Opens the media port from outside, and creates the certificate for the outside address.
    private func encrypt(
        _ configuration: inout ViewerServer.Configuration, for internet: InternetAccess
    ) async throws {
        await internet.openMedia()
        guard configuration.tls == nil else { return }
        configuration.tls = try link.selfSignedCertificate(
            listening: configuration.addresses, outside: await internet.outsideAddress)
    }

    /// Reports the ports that are open from outside, and prints the link again when its address changes.
    @SharingActor private func follow(
        _ internet: InternetAccess, _ server: ViewerServer, _ share: RunningShare,
        _ configuration: ViewerServer.Configuration
    ) async {
        share.tell(await internet.report(acceptsTCP: configuration.connection.acceptsTCP))
        // It ends when the ports are closed.
        Task {
            await internet.follow(acceptsTCP: configuration.connection.acceptsTCP, tell: share.tell) {
                outside, isOther in
                share.outsideAddress = outside
                guard let outside, isOther else { return }
                share.tell(["The internet link has a new address."])
                if StandardStreams.areKept {
                    Terminal.shared.say("To print it, run: \(share.command("link"))")
                } else {
                    show(server.links(hosts: share.linkHosts, outside: outside))
                }
            }
        }
    }

    /// Opens the port of all media.
    private func openMediaPort(_ configuration: ViewerServer.Configuration) async throws -> SharedPort {
        let addresses = configuration.connection.addresses
        if let port = portOption.port { return try await SharedPort(addresses: addresses, port: port) }
        // A single port number to remember for a firewall, if it is free.
        do {
            return try await SharedPort(addresses: addresses, port: configuration.port)
        } catch {
            return try await SharedPort(addresses: addresses)
        }
    }

    /// Opens the port of the page.
    private func listen(_ configuration: ViewerServer.Configuration, room: SharingRoom) async throws -> ViewerServer {
        do {
            return try await ViewerServer(room: room, configuration: configuration)
        } catch {
            switch error {
            case let error as IOError: throw Self.failure(error, listeningAt: configuration)
            case is TLSError: throw certificateFailure
            default: throw error
            }
        }
    }

    private var certificateFailure: CommandFailure {
        let (certificate, key) = (link.tlsCertificate ?? "the certificate", link.tlsKey ?? "its key")
        return CommandFailure(
            .badInput,
            "can't use HTTPS: \(certificate) is not a certificate in PEM form, or \(key) is not its unencrypted key",
            try: "--tls-self-signed, or other files with --tls-certificate and --tls-key")
    }

    private static func failure(
        _ error: IOError, listeningAt configuration: ViewerServer.Configuration
    ) -> CommandFailure {
        let zone = configuration.zone.map { "%\($0)" } ?? ""
        let host = configuration.addresses.first.map { $0.isV4 ? "\($0)" : "[\($0)\(zone)]" }
        let place = host.map { "\($0):\(configuration.port)" } ?? "port \(configuration.port)"
        // Without the address, the page would be open to other machines.
        let free = error.errnoCode == EADDRINUSE ? host.map { "\($0):0" } ?? "0" : "0"
        let reason =
            switch error.errnoCode {
            case EADDRINUSE: "another program uses it"
            case EADDRNOTAVAIL: "no interface of this machine has the address, or it is not ready yet"
            case EAFNOSUPPORT: "this machine has no IPv6"
            case ENODEV: "this machine has no interface of this name"
            case EINVAL: "a link-local address needs its interface, as in [fe80::1%eth0]:8080"
            default: systemMessage(error.errnoCode)
            }
        return CommandFailure(
            error.errnoCode == EACCES ? .notPermitted : .unavailable,
            "can't listen on \(place): \(reason)", try: "rtcshare serve --listen \(free)")
    }

    /// Prints the links, which a presenter sees on the page, and notices about them.
    @SharingActor private func tell(
        _ server: ViewerServer, _ hosts: LinkHosts, _ share: RunningShare,
        _ configuration: ViewerServer.Configuration, isPresented: Bool
    ) async throws {
        let links = server.links(hosts: hosts.hosts, outside: share.outsideAddress)
        if isPresented {
            Terminal.shared.say("Viewers can join now.")
        } else if StandardStreams.areKept {
            // The output of a service is stored where others read it, and links are secret.
            Terminal.shared.say("Viewers can join now. To print the link, run: rtcshare link")
        } else {
            // On a terminal, the lines that begin with Watch have them.
            if !StandardStreams.areOneTerminal {
                let urls = links.map(\.url)
                // A full pipe delays nothing else.
                try await WorkerThread.run(named: "standard output") { () throws(CommandFailure) in
                    try StandardStreams.writeLines(urls)
                }
                try Task.checkCancellation()
            }
            if sharing.output.stats != "-" { StandardStreams.closeOutput() }
            show(links)
            if !hosts.leftOut.isEmpty, configuration.publicURL == nil {
                Terminal.shared.say(
                    "This machine has other addresses: \(hosts.leftOut.joined(separator: ", ")). To print their links, add "
                        + "--all-addresses.")
            }
        }
        if let fingerprint = configuration.tls?.fingerprint {
            share.tell([
                "Browsers warn about the self-signed certificate. Compare its SHA-256 fingerprint before you accept it: "
                    + fingerprint
            ])
        }
        let isBeyond = links.contains { $0.reach == .network }
        if isBeyond, configuration.tls == nil, configuration.token != nil {
            let cure =
                isPresented
                ? "Admit each person yourself, if that matters."
                : "To encrypt the page, add --tls-self-signed. Video and audio are always encrypted."
            share.tell([
                "Warning: the page for viewers is not encrypted. Other people on this network can read the link and watch. "
                    + cure
            ])
        }
        if configuration.token == nil {
            share.tell(["Warning: the link has no secret. Anyone who can reach this machine can watch."])
        }
    }

    /// Prints each link with the place where it works.
    private func show(_ links: [ViewerLink]) {
        let width = links.map(\.url.count).max() ?? 0
        for (index, link) in links.enumerated() {
            let reach =
                switch link.reach {
                case .everywhere: self.link.internet ? "(internet)" : "(public URL)"
                case .network: "(this network)"
                case .machine: "(this machine)"
                }
            let label = index == 0 ? "Watch:  " : "        "
            Terminal.shared.show(secret: label + link.url.padded(to: width + 2) + reach)
        }
        // A phone that reads localhost would search for the share on itself.
        let link = links.first { $0.reach != .machine } ?? (self.link.qr == true ? links.first : nil)
        if let link, self.link.qr ?? Terminal.shared.isTerminal {
            Terminal.shared.show(qrCodeOf: link.url)
        }
    }
}
