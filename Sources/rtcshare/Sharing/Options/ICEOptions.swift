internal import ArgumentParser
internal import FoundationEssentials
internal import RTCShareICE
internal import RTCShareTransport
internal import RTCShareWireFormat

/// The options for STUN and TURN servers and the allowed routes.
struct ICEOptions: ParsableArguments {
    @OptionGroup var servers: ICEServerOptions

    @Option(
        help: ArgumentHelp(
            """
            all: use any route. relay: use only TURN servers, which hides your addresses from viewers. Default: all.
            """, valueName: "policy"))
    var iceTransportPolicy: Policy?

    @Flag(
        help: """
            Resolve host names in the peer's candidates by DNS. Their DNS servers learn of it. Not needed for .local names.
            """)
    var resolveHostNames = false

    enum Policy: String, ExpressibleByArgument, CaseIterable {
        case all, relay
    }

    /// The URLs of the servers, as given.
    var iceServer: [String] { servers.iceServer }

    /// Whether any of these options was given.
    var isGiven: Bool {
        !iceServer.isEmpty || servers.hasCredentials || iceTransportPolicy != nil || resolveHostNames
    }

    /// Applies the options to a connection's configuration.
    func apply(to configuration: inout Connection.Configuration) throws {
        (configuration.iceServers, configuration.trustRoots) = try servers.resolved()
        configuration.iceTransportPolicy = iceTransportPolicy == .relay ? .relay : .all
        configuration.resolvesHostNames = resolveHostNames
        guard iceTransportPolicy == .relay, !configuration.iceServers.contains(where: { $0.isRelay })
        else { return }
        throw CommandFailure(
            .usage, "--ice-transport-policy relay needs a TURN server", try: "--ice-server turn:HOST")
    }
}
