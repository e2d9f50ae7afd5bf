internal import ArgumentParser
internal import FoundationEssentials
internal import Glibc
internal import RTCShareContentShare
internal import RTCShareSignaling
internal import RTCShareWireFormat

extension ListenAddress: ExpressibleByArgument {
    init?(argument: String) { self.init(argument) }
}

/// Options of `rtcshare serve` for the running share.
struct ServeRunningOptions: ParsableArguments {
    @OptionGroup var options: RunningOptions

    @Option(
        help: ArgumentHelp(
            "Join this subgroup, so that you can share to it. Repeatable. rtcshare link prints a link for its viewers.",
            valueName: "name"))
    var subgroup: [String] = []

    func validate() throws { try options.validate() }
}

/// Where viewers find a share, and who gets in.
struct LinkOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Where the page is served. By default port 8080 of all addresses, or the next free one. A link-local address has "
                + "its interface: [fe80::1%eth0]:8080.",
            valueName: "[addr:]port"))
    var listen: ListenAddress?

    @Option(
        help: ArgumentHelp(
            "An address or a name of this machine to put into links. Repeatable. Default: the address of the default route; "
                + "without one, or where it is a tunnel's, one of each network.", valueName: "addr|name"))
    var address: [String] = []

    @Flag(help: "Print a link for each address of this machine.") var allAddresses = false

    @Option(
        name: .customLong("public-url"),
        help: ArgumentHelp(
            "Where viewers elsewhere find the page, through a router, a proxy or a tunnel: links begin with it.",
            valueName: "url"),
        transform: { text in
            guard let url = PublicURL(text) else {
                throw ValidationError("\(text) is no URL; give one such as https://share.example/office")
            }
            return url
        })
    var publicURL: PublicURL?

    @Option(help: ArgumentHelp("The path under which the page lies, such as /office.", valueName: "/path"))
    var basePath: String?

    @Flag(
        help:
            "A proxy on this machine passes requests on: count viewers and wrong tokens by its X-Forwarded-For."
    ) var behindProxy = false

    @Option(
        help: ArgumentHelp(
            "A file with the link's secret, that only you can read: the link stays the same from start to start.",
            valueName: "file"), completion: .file())
    var tokenFile: String?

    @Flag(help: "Let everybody in who reaches this machine.") var noToken = false

    @Flag(help: "Have each viewer wait until rtcshare admit N.") var ask = false

    @Option(help: ArgumentHelp("The most viewers at a time.", valueName: "n")) var maxViewers = 100

    @Option(
        help: ArgumentHelp(
            "The certificate for HTTPS, in PEM, with those that it is signed by.", valueName: "file"),
        completion: .file())
    var tlsCertificate: String?

    @Option(help: ArgumentHelp("The certificate's key, in PEM.", valueName: "file"), completion: .file())
    var tlsKey: String?

    @Flag(help: "HTTPS with a certificate of its own, of which browsers warn once.") var tlsSelfSigned = false

    @Flag(inversion: .prefixedNo, help: "A QR code of the first link. By default at a terminal.") var qr: Bool?

    func validate() throws {
        guard tokenFile == nil || !noToken else {
            throw ValidationError("--token-file and --no-token exclude each other: give one")
        }
        guard (tlsCertificate == nil) == (tlsKey == nil) else {
            throw ValidationError("--tls-certificate and --tls-key go together: give both")
        }
        guard !tlsSelfSigned || tlsCertificate == nil else {
            throw ValidationError("--tls-self-signed and --tls-certificate exclude each other: give one")
        }
        guard (1...SharingRoom.maximumViewers).contains(maxViewers) else {
            throw ValidationError("--max-viewers \(maxViewers): give 1 to \(SharingRoom.maximumViewers)")
        }
        for host in address where IPAddress(host)?.isUnspecified ?? !Self.isName(host) {
            throw ValidationError(
                "--address \(host): not an address or a name of a machine; leave it out for the default")
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

    /// Puts what they say into a server's configuration.
    func apply(to configuration: inout ViewerServer.Configuration, now: Date = Date()) throws {
        configuration.port = listen?.port ?? 8080
        configuration.addresses = listen?.address.map { [$0] } ?? []
        configuration.zone = listen?.zone
        // What was asked for is not silently something else.
        configuration.otherPorts = listen == nil ? 20 : 0
        configuration.names = address + [ProcessInfo.processInfo.hostName, ProcessInfo.processInfo.hostName + ".local"]
        configuration.publicURL = publicURL
        configuration.basePath = basePath.flatMap(path) ?? publicURL?.path ?? []
        configuration.isBehindProxy = behindProxy
        configuration.token = try token()
        configuration.maximumViewers = maxViewers
        configuration.asksBeforeAdmitting = ask
        if let tlsCertificate, let tlsKey {
            configuration.tls = ServerCertificate(certificateFile: tlsCertificate, keyFile: tlsKey)
        } else if tlsSelfSigned {
            configuration.tls = try OwnCertificate.certificate(
                for: try LinkHosts(given: address, listening: configuration.addresses, all: true).hosts, now: now)
        }
    }

    private func token() throws -> AccessToken? {
        if noToken { return nil }
        guard let tokenFile else { return AccessToken() }
        let text = try SecretFile.readText(tokenFile, what: "token file")
        do {
            return try AccessToken(text.trimmed)
        } catch {
            throw CommandFailure(.badInput, "\(tokenFile): \(error)")
        }
    }
}

/// The certificate of `--tls-self-signed`: the same from start to start, so that browsers ask once.
enum OwnCertificate {
    private struct Stored: Codable {
        let hosts: [String]
        let certificate: String
        let key: String
    }

    /// `$XDG_STATE_HOME/rtcshare/certificate.json`, of mode 0600.
    private static var path: String {
        URL(filePath: SessionFile.defaultPath).deletingLastPathComponent().appending(path: "certificate.json").path
    }

    static func certificate(for hosts: [String], now: Date) throws -> ServerCertificate {
        let time = Int64(now.timeIntervalSince1970)
        if let text = try? SecretFile.readText(path, what: "certificate", maximumBytes: 64 * 1024),
            let stored = try? JSONDecoder().decode(Stored.self, from: Data(text.utf8)),
            Set(stored.hosts).isSuperset(of: hosts),
            let known = try? ServerCertificate(pem: (stored.certificate, stored.key)),
            known.isValid(at: time + 7 * 86_400)
        {
            return known
        }
        let made = try ServerCertificate(selfSignedFor: hosts, unixTime: time)
        guard let pem = made.pem else { return made }
        let stored = Stored(hosts: hosts, certificate: pem.certificate, key: pem.key)
        do {
            try FileManager.default.createDirectory(
                at: URL(filePath: path).deletingLastPathComponent(), withIntermediateDirectories: true,
                attributes: [.posixPermissions: 0o700])
            try PrivateFile(path: path).write(try JSONEncoder().encode(stored))
        } catch {
            Terminal.shared.say(
                "The certificate can't be kept for the next start: \(StandardStreams.reason(of: error))")
        }
        return made
    }
}
