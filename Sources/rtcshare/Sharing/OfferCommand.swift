internal import ArgumentParser
internal import FoundationEssentials
internal import Glibc
internal import RTCShareCapture
internal import RTCShareContentShare
internal import RTCShareICE
internal import RTCSharePeerConnection
internal import RTCShareSDP
internal import RTCShareTransport
internal import RTCShareWireFormat

struct OfferCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "offer",
        abstract: "Create an SDP offer and save its session for rtcshare send.",
        discussion: #"""
            The offer goes to standard output. Pass it to the viewer, save the viewer's answer, and share on this machine within
            a day. The session file holds what the answer belongs to: certificate, credentials and ports. Only you can read it.

                rtcshare offer --attendee alice > offer.sdp
                rtcshare send --answer answer.sdp

            For a viewer in another network:

                rtcshare offer --ice-server stun:stun.example.org > offer.sdp
                rtcshare offer --ice-server turn:turn.example.org \
                    --ice-credentials turn.secret > offer.sdp

            Relayed addresses of TURN servers stay reserved until you run rtcshare send, or until they expire.
            """#)

    @OptionGroup(title: "What to share (rtcshare send can change it)") var sources: SourceOptions

    @OptionGroup(title: "Session") var saving: SavingOptions

    @OptionGroup(title: "You and your network") var offering: OfferingOptions

    /// The option for the session file.
    struct SavingOptions: ParsableArguments {
        @Option(
            help: ArgumentHelp(
                "Session file. Default: ~/.local/state/rtcshare/session.json.",
                valueName: "file"), completion: .file())
        var session: String?
    }

    func run() async throws {
        try await reportingFailure {
            let sources = sources.selection.withAbsolutePaths
            _ = try sources.standardInputOption()
            let attendee = try offering.attendee.id()
            var configuration = Connection.Configuration()
            try offering.apply(to: &configuration)
            if let notice = try StoredRelays.prepare(&configuration) { Terminal.shared.say(notice) }
            let interruption = Interruption()
            defer { withExtendedLifetime(interruption) {} }
            let (connection, identity) = try await openConnection(
                for: attendee, media: sources.media, configuration: configuration)
            do {
                let servers = configuration.iceServers
                let policy = offering.network.ice.iceTransportPolicy
                let gathered: Void? = try await interruption.result {
                    try await Gathering.run(on: connection, servers: servers, policy: policy)
                }
                guard gathered != nil else { throw ExitCode(128 + SIGINT) }
                // There is no suspension after this, so a signal leaves a whole offer or none.
                try await offer(on: connection, servers: servers, by: attendee, identity, sources)
            } catch {
                // The relayed addresses of an offer that failed are released.
                await connection.close()
                throw error
            }
        }
    }

    /// Opens the connection at a port that is probably free until `send` continues the session.
    private func openConnection(
        for attendee: AttendeeID, media: Set<SharedMedia>, configuration: Connection.Configuration
    ) async throws -> (connection: Connection, identity: LocalIdentity) {
        for port in configuration.port == 0 ? LastingPort.candidates() : [] {
            var configuration = configuration
            configuration.port = port
            do {
                return try await offering.openConnection(for: attendee, media: media, configuration: configuration)
            } catch ConnectionError.portTaken {
                continue
            }
        }
        return try await offering.openConnection(for: attendee, media: media, configuration: configuration)
    }

    private func offer(
        on connection: Connection, servers: [ICEServer], by attendee: AttendeeID, _ identity: LocalIdentity,
        _ sources: SourceSelection
    ) async throws {
        let offer = try await connection.makeOffer().description
        let now = Date()
        let kept = await connection.relayStates()
        let relays = kept.map { StoredRelay($0, now: now) }
        // Passwords are stored only for servers that the next process needs.
        let useful = servers.filter { server in
            !server.isRelay || relays.contains { $0.url == server.description }
        }
        let file = SessionFile(path: saving.session)
        let keepsPrevious = saving.session == nil && file.keepPrevious(now: now)
        let replacesUsable = saving.session != nil && (try? file.take(now: now)) != nil
        try file.store(
            SharingSession(
                createdAt: now, host: SharingSession.thisHost,
                session: StoredSession(
                    attendee: attendee, identity: identity, addresses: await connection.localAddresses, offer: offer),
                sources: sources,
                transportPolicy: (offering.network.ice.iceTransportPolicy ?? .all).rawValue,
                resolvesHostNames: offering.network.ice.resolveHostNames,
                acceptsTCP: offering.network.iceTcp ?? false,
                servers: useful.map(\.source), relays: relays))
        do {
            try StandardStreams.writeData(offer)
        } catch {
            // Nobody received this offer.
            unlink(file.path)
            throw error
        }
        connection.setKeepsRelays(true)
        await connection.close()
        Terminal.shared.say(
            "Session written to \(file.path). When you have the answer: rtcshare send --answer FILE"
                + (saving.session.map { " --session \($0)" } ?? ""))
        if keepsPrevious {
            Terminal.shared.say(
                "Earlier offers stay usable: rtcshare send finds the session that the answer belongs to.")
        }
        if replacesUsable {
            Terminal.shared.say(
                "\(file.path) held the unused session of an earlier offer, which can't be used any more.")
        }
        if let expiry = relays.map(\.expiresAt).min() {
            let isTranslated = kept.contains { $0.allocation.reflexive != $0.base }
            Terminal.shared.say(
                "The relayed address holds until \(expiry.timeOfDay). Run rtcshare send before then"
                    + (isTranslated ? ", and soon: the router on the way may forget the port sooner." : "."))
        }
    }
}

/// The option for the presenter's name.
struct AttendeeOption: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Your name, which viewers see. Default: $USER, or rtcshare if it is not set.", valueName: "name"))
    var attendee: String?

    func id() throws(AttendeeIDError) -> AttendeeID {
        if let attendee {
            let id = try AttendeeID(named: attendee)
            guard id.modality == .attendee else { throw .content(attendee) }
            return id
        }
        let user = ProcessInfo.processInfo.environment["USER"] ?? ""
        if let attendee = try? AttendeeID(named: user), attendee.modality == .attendee { return attendee }
        return try AttendeeID("rtcshare")
    }
}

/// The option for the port of one connection.
struct MediaPortOption: ParsableArguments {
    @Option(
        help: ArgumentHelp("UDP port for media. Default: any free port.", valueName: "n"),
        transform: OptionValue.listeningPort)
    var port: UInt16?
}

/// The options of an offer, for `offer`, and for `send` if it makes its own offer.
struct OfferingOptions: ParsableArguments {
    @OptionGroup var attendee: AttendeeOption

    @OptionGroup var port: MediaPortOption

    @OptionGroup var network: NetworkOptions

    /// Applies the local addresses and servers to a connection's configuration.
    func apply(to configuration: inout Connection.Configuration) throws {
        try network.apply(to: &configuration, port: port.port)
    }

    /// Opens the sockets and creates the identity.
    func openConnection(
        for attendee: AttendeeID, media: Set<SharedMedia>, configuration: Connection.Configuration
    ) async throws -> (connection: Connection, identity: LocalIdentity) {
        var random = SystemRandomNumberGenerator()
        let identity = try LocalIdentity(
            media: try SharedMedia.kinds(media, of: attendee),
            unixTime: Int64(Date().timeIntervalSince1970), random: &random)
        return (
            try await Connection(as: .offerer, identity: identity, configuration: configuration.withCodecs()), identity
        )
    }
}
