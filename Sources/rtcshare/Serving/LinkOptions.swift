internal import ArgumentParser
internal import FoundationEssentials
internal import Glibc
internal import RTCShareContentShare
internal import RTCShareSignaling
internal import RTCShareWireFormat

/// The options for the link of a share, and for admission.
struct LinkOptions: ParsableArguments {
    @Flag(help: "Make each viewer wait until you admit them, on the page of rtcshare present or with rtcshare admit N.")
    var ask = false

    @Option(
        help: ArgumentHelp(
            """
            Address and TCP port of the viewer page. Default: port 8080 on all addresses, or the next free port. A link-local \
            address needs its interface: [fe80::1%eth0]:8080.
            """, valueName: "[addr:]port"), transform: OptionValue.listenAddress)
    var listen: ListenAddress?

    @Flag(
        help: """
            Make the router forward the ports (PCP, NAT-PMP or UPnP), and print a link that works on the internet. The page \
            is encrypted as with --tls-self-signed, unless there is a certificate.
            """)
    var internet = false

    @Flag(help: "Use HTTPS with a self-signed certificate. Browsers show a warning once.") var tlsSelfSigned = false

    @Option(
        help: ArgumentHelp("Certificate chain for HTTPS (PEM). Needs --tls-key.", valueName: "file"),
        completion: .file())
    var tlsCertificate: String?

    @Option(
        help: ArgumentHelp("Private key of the certificate (PEM). Needs --tls-certificate.", valueName: "file"),
        completion: .file())
    var tlsKey: String?

    @Option(
        name: .customLong("public-url"),
        help: ArgumentHelp(
            "URL of the page as seen from outside (router, proxy, tunnel). Links start with it.", valueName: "url"),
        transform: { text in
            // A single word is more likely a mistake than a host without a domain.
            guard let url = PublicURL(text), text.contains("://") || url.host.contains(where: { ".:".contains($0) })
            else {
                throw ValidationError("use a URL such as https://share.example/office")
            }
            return url
        })
    var publicURL: PublicURL?

    @Option(
        help: ArgumentHelp(
            """
            Address or host name to use in links. Default: the address of the default route, or one of each network if there is \
            none or it belongs to a tunnel. Repeatable.
            """, valueName: "addr|name"))
    var address: [String] = []

    @Flag(help: "Print a link for each address of this machine.") var allAddresses = false

    @Option(
        help: ArgumentHelp("Maximum number of viewers at a time. Default: 100.", valueName: "n"),
        transform: OptionValue.viewerCount)
    var maxViewers = 100

    @Option(
        help: ArgumentHelp(
            "Read the link's secret from this file (mode 0600), so that the link stays the same after a restart.",
            valueName: "file"), completion: .file())
    var linkTokenFile: String?

    @Flag(help: "Use a link without a secret: anyone who can reach this machine can watch.") var noToken = false

    @Option(help: ArgumentHelp("URL path of the page, for example /office.", valueName: "/path"))
    var basePath: String?

    @Flag(help: "Take the addresses of viewers from the X-Forwarded-For header of a proxy on this machine.")
    var behindProxy = false

    @Flag(inversion: .prefixedNo, help: "Show the first link as a QR code. Default: on a terminal.") var qr: Bool?

    func validate() throws {
        guard linkTokenFile == nil || !noToken else {
            throw ValidationError("--link-token-file and --no-token exclude each other: give one")
        }
        guard (tlsCertificate == nil) == (tlsKey == nil) else {
            throw ValidationError("--tls-certificate and --tls-key go together: give both")
        }
        guard !tlsSelfSigned || tlsCertificate == nil else {
            throw ValidationError("--tls-self-signed and --tls-certificate exclude each other: give one")
        }
        if internet {
            let excluded = [
                ("--no-token", noToken), ("--public-url", publicURL != nil), ("--behind-proxy", behindProxy),
            ].first(where: \.1)
            if let (option, _) = excluded {
                throw ValidationError("--internet and \(option) exclude each other: give one")
            }
            guard listen?.address?.isUnspecified ?? true else {
                throw ValidationError("--internet needs the page on all addresses: give only a port with --listen")
            }
        }
        for host in address where IPAddress(host)?.isUnspecified ?? !Self.isName(host) {
            throw ValidationError(
                "--address \(host): not an address or a name of a machine. Leave it out for the default")
        }
        if let basePath, path(of: basePath) == nil {
            throw ValidationError("--base-path \(basePath): give a path such as /office")
        }
    }

    private static func isName(_ text: String) -> Bool {
        !text.isEmpty && text.utf8.count < 254 && text.first != "." && text.first != "-"
            && text.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "-" || $0 == ".") }
    }

    private func path(of text: String) -> [String]? {
        let parts = text.split(separator: "/").map(String.init)
        let isPlain = parts.allSatisfy { part in
            part != ".." && part != "."
                && part.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || "-._~".contains($0)) }
        }
        return text.hasPrefix("/") && isPlain ? parts : nil
    }

    /// Applies the options to a server's configuration.
    func apply(to configuration: inout ViewerServer.Configuration, now: Date = Date()) throws {
        configuration.port = listen?.port ?? 8080
        configuration.addresses = listen?.address.map { [$0] } ?? []
        configuration.zone = listen?.zone
        // A requested port is not silently replaced by another.
        configuration.otherPorts = listen == nil ? 20 : 0
        configuration.names = address + [ProcessInfo.processInfo.hostName, ProcessInfo.processInfo.hostName + ".local"]
        configuration.publicURL = publicURL
        configuration.basePath = basePath.flatMap(path) ?? publicURL?.path ?? []
        configuration.isBehindProxy = behindProxy
        configuration.token = try token()
        configuration.maximumViewers = maxViewers
        configuration.requiresApproval = ask
        if let tlsCertificate, let tlsKey {
            try Self.checkReadable(tlsCertificate, "TLS certificate", "--tls-certificate")
            try Self.checkReadable(tlsKey, "TLS key", "--tls-key")
            var status = stat()
            if stat(tlsKey, &status) == 0, status.st_mode & 0o007 != 0 {
                Terminal.shared.say("Warning: every user of this machine can read or change the TLS key \(tlsKey).")
            }
            configuration.tls = ServerCertificate(certificateFile: tlsCertificate, keyFile: tlsKey)
        } else if tlsSelfSigned, !internet {
            configuration.tls = try selfSignedCertificate(listening: configuration.addresses, now: now)
        }
    }

    /// Returns a certificate for this machine's addresses and names, and for a router's outside address.
    func selfSignedCertificate(
        listening: [IPAddress], outside: IPAddress? = nil, now: Date = Date()
    ) throws -> ServerCertificate {
        let hosts = try LinkHosts(given: address, listening: listening, all: true).hosts
        return try OwnCertificate.certificate(for: hosts + [outside].compactMap { $0?.description }, now: now)
    }

    private static func checkReadable(_ path: String, _ what: String, _ option: String) throws(CommandFailure) {
        do {
            _ = try OpenFile(reading: path).read(atMost: 1)
        } catch {
            throw CommandFailure(
                error.code == .EACCES ? .notPermitted : .inputMissing,
                "can't read the \(what) \(path): \(StandardStreams.reason(of: error, path: path))",
                try: "another file with \(option), or --tls-self-signed")
        }
    }

    private func token() throws -> AccessToken? {
        if noToken { return nil }
        guard let linkTokenFile else { return AccessToken() }
        let text = try SecretFile.readText(linkTokenFile, what: "token file")
        do {
            return try AccessToken(text.trimmed)
        } catch {
            throw CommandFailure(
                .badInput, "can't use the token in \(linkTokenFile): \(error.explanation.problem)",
                try: "openssl rand -hex 16 > \(linkTokenFile)")
        }
    }
}
