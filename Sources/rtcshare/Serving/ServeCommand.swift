internal import ArgumentParser
internal import Glibc
internal import NIOCore
internal import RTCShareContentShare
internal import RTCShareNetworkRuntime
internal import RTCShareSecureTransport
internal import RTCShareSignaling
internal import RTCShareWireFormat

/// `rtcshare serve`: a share behind a link.
struct ServeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "serve",
        abstract: "Share to whoever opens a link in a browser.",
        discussion: """
            Links go to standard output, one a line. The part behind # is the secret: who has the link sees the share, and \
            nobody else. The share continues without viewers, and costs next to nothing then. Ctrl-C ends it.

            While it runs: rtcshare status lists the viewers; rtcshare kick, lock, unlock, admit, link, pause, source, … \
            change what they see and who they are.

            --source test comes with a beep at each flash, unless --audio says otherwise.

            Players take the same link: rtcshare view LINK, or whep/TOKEN in place of #TOKEN (WHEP).

            With --whip or --janus the share is published at a server as well, from the same encode. What fails there is tried again, and \
            leaves the viewers of the link alone.
            """)

    @OptionGroup(title: "The link") var link: LinkOptions

    @OptionGroup(title: "What to share") var sharing: SharingOptions

    @OptionGroup(title: "A share that runs") var running: ServeRunningOptions

    @OptionGroup(title: "Media") var offering: OfferingOptions

    @OptionGroup(title: "Through servers") var publishing: PublishingOptions

    func validate() throws {
        try link.validate()
        try publishing.validate()
        try sharing.validate()
        try running.validate()
    }

    func run() async throws {
        try await reportingFailure {
            let attendee = try offering.attendeeID()
            let selection = sharing.sources.selection.withTestSound
            try selection.check()
            _ = try selection.standardInputOption()
            var configuration = ViewerServer.Configuration()
            try link.apply(to: &configuration)
            configuration.media = selection.media
            configuration.connection = sharing.connectionConfiguration(for: selection.media)
            try offering.apply(to: &configuration.connection)
            let endpoints = try publishing.endpoints(of: attendee, sharing: selection.media)
            let sources = try sharing.open(selection)
            let film = try sharing.openFilm()
            let room = try await running.options.room(of: attendee, joining: running.subgroup)
            let interruption = Interruption()
            let listening = try await listen(configuration, room: room)
            let inviting = ShareControl.Inviting(
                media: selection.media, configuration: listening.connection,
                policy: offering.ice.iceTransportPolicy)
            let share = Share(
                room: room, sources: sources, options: sharing, running: running.options, inviting: inviting,
                film: film,
                interruption: interruption)
            let hosts = try LinkHosts(
                given: link.address, listening: configuration.addresses, zone: configuration.zone,
                all: link.allAddresses)
            let naming = Task { [servers = listening.connection.iceServers] in
                await ServerNameReport.run(on: servers, reportsFailures: true)
            }
            defer { naming.cancel() }
            do {
                let places = endpoints.places(
                    of: room, membership: try RoomMembership(main: true, subgroups: running.subgroup),
                    configuration: listening.connection)
                try await share.run(behind: listening.server, publishedAt: places) { control in
                    await control.setLinkHosts(hosts.hosts)
                    try tell(listening.server, hosts, configuration)
                    endpoints.tellRisks()
                }
            } catch {
                await listening.mediaPort.close()
                throw error
            }
            await listening.mediaPort.close()
        }
    }

    private struct Listening {
        let server: ViewerServer
        let mediaPort: SharedPort
        let connection: Connection.Configuration
    }

    /// Opens both ports: that of the page, and the one that all media go over.
    private func listen(_ configuration: ViewerServer.Configuration, room: SharingRoom) async throws -> Listening {
        var configuration = configuration
        let addresses = configuration.connection.addresses
        let mediaPort: SharedPort
        if let port = offering.port {
            mediaPort = try await SharedPort(addresses: addresses, port: port)
        } else {
            // One number to remember for a firewall, where it is free.
            do {
                mediaPort = try await SharedPort(addresses: addresses, port: configuration.port)
            } catch {
                mediaPort = try await SharedPort(addresses: addresses)
            }
        }
        configuration.connection.sharedPort = mediaPort
        do {
            let server = try await ViewerServer(room: room, configuration: configuration)
            return Listening(server: server, mediaPort: mediaPort, connection: configuration.connection)
        } catch {
            await mediaPort.close()
            switch error {
            case let error as IOError: throw Self.failure(error, listeningAt: configuration)
            case let error as TLSError:
                throw CommandFailure(
                    .badInput, "HTTPS is not possible: \(error); check --tls-certificate and --tls-key")
            default: throw error
            }
        }
    }

    private static func failure(
        _ error: IOError, listeningAt configuration: ViewerServer.Configuration
    ) -> CommandFailure {
        let zone = configuration.zone.map { "%\($0)" } ?? ""
        let place =
            configuration.addresses.first.map { address in
                address.isV4 ? "\(address):\(configuration.port)" : "[\(address)\(zone)]:\(configuration.port)"
            } ?? "port \(configuration.port)"
        let reason =
            switch error.errnoCode {
            case EADDRNOTAVAIL: "no interface of this machine has the address, or it is not ready yet"
            case EAFNOSUPPORT: "this machine has no IPv6"
            case ENODEV: "this machine has no interface of this name"
            case EINVAL: "a link-local address needs its interface, as in [fe80::1%eth0]:8080"
            default: String(cString: strerror(error.errnoCode))
            }
        return CommandFailure(
            error.errnoCode == EACCES ? .notPermitted : .unavailable,
            "can't listen at \(place): \(reason); name another with --listen")
    }

    /// Prints the links, and what a person should know about them.
    private func tell(_ server: ViewerServer, _ hosts: LinkHosts, _ configuration: ViewerServer.Configuration) throws {
        let links = server.links(hosts: hosts.hosts)
        // What a service prints is kept where others read it, and links are secret.
        if StandardStreams.areKept {
            Terminal.shared.say("Viewers can join now. To print the link, run: rtcshare link")
        } else {
            // At a terminal, the lines that begin with Watch have them.
            if !StandardStreams.areOneTerminal { try StandardStreams.writeLines(links.map(\.url)) }
            if sharing.stats != "-" { StandardStreams.closeOutput() }
            show(links)
            if !hosts.leftOut.isEmpty, configuration.publicURL == nil {
                Terminal.shared.say(
                    "This machine has other addresses: \(hosts.leftOut.joined(separator: ", ")). To print a link for each, "
                        + "add --all-addresses.")
            }
        }
        if let fingerprint = configuration.tls?.fingerprint {
            Terminal.shared.say(
                "Browsers warn of the certificate, because it is self-signed. It is the right one if its SHA-256 is "
                    + fingerprint)
        }
        let isBeyond = links.contains { $0.reach == .network }
        if isBeyond, configuration.tls == nil, configuration.token != nil {
            Terminal.shared.say(
                "Warning: the page uses plain HTTP. Somebody who can monitor this network can read the link and watch. Add "
                    + "--tls-self-signed to encrypt the page. Video and sound are always encrypted.")
        }
        if configuration.token == nil {
            Terminal.shared.say("Warning: the link has no secret. Anyone who can reach this machine can watch.")
        }
    }

    /// Prints each link with the place where it works.
    private func show(_ links: [ViewerLink]) {
        let width = links.map(\.url.count).max() ?? 0
        for (index, link) in links.enumerated() {
            let reach =
                switch link.reach {
                case .everywhere: "(everywhere)"
                case .network: "(this network)"
                case .machine: "(this machine)"
                }
            let label = index == 0 ? "Watch:  " : "        "
            Terminal.shared.say(label + link.url.padded(to: width + 2) + reach)
        }
        // A camera that reads localhost looks for the share on its own machine.
        let link = links.first { $0.reach != .machine } ?? (self.link.qr == true ? links.first : nil)
        if let link, self.link.qr ?? Terminal.shared.isTerminal {
            Terminal.shared.show(qrCodeOf: link.url)
        }
    }
}
