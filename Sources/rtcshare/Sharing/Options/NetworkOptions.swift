internal import ArgumentParser
internal import RTCShareICE
internal import RTCShareTransport
internal import RTCShareWireFormat

/// The options for this machine's addresses, and for STUN and TURN servers.
struct NetworkOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Local address to use for media. Default: the addresses of all interfaces. Repeatable.", valueName: "addr"))
    var bind: [String] = []

    @Option(
        help: ArgumentHelp(
            """
            Public address of a router that forwards the UDP port to this machine. Use it with --port. Repeatable.
            """, valueName: "addr"))
    var publicIp: [String] = []

    @Flag(
        inversion: .prefixedNo,
        help: """
            Let viewers connect by TCP where UDP is blocked: to the port of the page, or to the TCP port with the number of \
            the media port. Default: yes for serve, else no.
            """)
    var iceTcp: Bool?

    @OptionGroup var ice: ICEOptions

    /// Whether any of these options was given.
    var isGiven: Bool { !bind.isEmpty || !publicIp.isEmpty || iceTcp != nil || ice.isGiven }

    /// Applies the options to a connection's configuration. `acceptsTCP` is the default of `--ice-tcp`.
    func apply(to configuration: inout Connection.Configuration, port: UInt16?, acceptsTCP: Bool = false) throws {
        configuration.acceptsTCP = iceTcp ?? acceptsTCP
        configuration.port = port ?? 0
        configuration.addresses = try BindAddress.parse(bind)
        configuration.publicAddresses = try PublicAddress.parse(publicIp)
        try ice.apply(to: &configuration)
    }

    /// Gathers candidates until each server has answered or failed.
    func gather(on connection: Connection, servers: [ICEServer]) async throws {
        try await Gathering.run(on: connection, servers: servers, policy: ice.iceTransportPolicy)
    }
}

/// The values of `--bind`.
enum BindAddress {
    static func parse(_ texts: [String]) throws(CommandFailure) -> [IPAddress] {
        var addresses: [IPAddress] = []
        for text in texts {
            guard let address = IPAddress(text) else {
                throw CommandFailure(
                    .usage, "--bind \(text): this is not an IP address",
                    try: "--bind with an address of this machine, such as 127.0.0.1")
            }
            guard !address.isUnspecified else {
                throw CommandFailure(
                    .usage,
                    "--bind \(text): no peer can send to this address",
                    try: "leave --bind out for every interface, or give an address of this machine")
            }
            if !addresses.contains(address) { addresses.append(address) }
        }
        return addresses
    }
}

/// The values of `--public-ip`.
enum PublicAddress {
    static func parse(_ texts: [String]) throws(CommandFailure) -> [IPAddress] {
        var addresses: [IPAddress] = []
        for text in texts {
            guard let address = IPAddress(text), !address.isUnspecified, !address.isMulticast, !address.isLoopback
            else {
                throw CommandFailure(
                    .usage, "--public-ip \(text): this is not an IP address that viewers outside can send to",
                    try: "--public-ip with the router's public address")
            }
            if !addresses.contains(address) { addresses.append(address) }
        }
        return addresses
    }
}
