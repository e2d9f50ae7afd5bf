internal import ArgumentParser
internal import FoundationEssentials
internal import Glibc
internal import RTCShareSignaling
internal import RTCShareTransport
internal import RTCShareWireFormat

struct DoctorCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "doctor",
        abstract: "Check the network, screens, audio and cameras for problems.",
        discussion: #"""
            Shows the addresses that viewers would see, the answers of the servers, the kind of NAT, whether the router forwards
            a port for rtcshare serve --internet, whether .local names work, the screens of X11 or Wayland, audio, cameras, video
            codecs, the window of rtcshare view, the port of the viewer page and the configuration. Nothing is shared.
            With a link, shows the routes to that share from this machine, and whom to ask for what if there is none. It joins
            the share several times, for some seconds each.
            Exit status 69: other machines or the share can't be reached, or none of the servers can be used.

                rtcshare doctor
                rtcshare doctor 'http://192.168.1.23:8080/#mK3v9'
                rtcshare doctor --ice-server stun:stun.example.org
                rtcshare doctor --ice-server turn:turn.example.org \
                    --ice-credentials turn.secret
            """#)

    @Argument(help: ArgumentHelp("Link of rtcshare serve, or URL of a WHEP server.", valueName: "link"))
    var url: String?

    @OptionGroup var servers: ICEServerOptions

    @Flag(help: "Print JSON.")
    var json = false

    func run() async throws {
        if let url { ProcessArguments.hideSecrets(of: url) }
        try await reportingFailure {
            let (asked, trustRoots) = try servers.resolved()
            if let url { return try await examine(url, servers: asked, trustRoots: trustRoots) }
            let diagnosis = try await NetworkDiagnosis.examine(servers: asked, trustRoots: trustRoots)
            let machine = MachineDiagnosis(environment: ProcessInfo.processInfo.environment)
            if json {
                try StandardStreams.writeJSON(DiagnosisReport(diagnosis: diagnosis, machine: machine))
            } else {
                try StandardStreams.writeLines(Self.lines(diagnosis, machine))
            }
            try Self.checkWayOut(diagnosis)
        }
    }

    /// Examines the routes to a share.
    private func examine(_ url: String, servers: [ICEServer], trustRoots: TrustRoots) async throws {
        var configuration = Connection.Configuration()
        (configuration.iceServers, configuration.trustRoots) = (servers, trustRoots)
        let examiner = try LinkExaminer(url: url, configuration: configuration)
        let interruption = Interruption()
        let examination = Task {
            try await examiner.examine { kind in Terminal.shared.say("Trying \(kind.words).") }
        }
        let watcher = Task { for await _ in interruption.requested { examination.cancel() } }
        defer { watcher.cancel() }
        let result = await examination.result
        guard !examination.isCancelled else { throw ExitCode(128 + SIGINT) }
        let diagnosis = try result.get()
        if json {
            try StandardStreams.writeJSON(LinkReport(diagnosis: diagnosis))
        } else {
            try StandardStreams.writeLines(LinkReport(diagnosis: diagnosis).lines)
        }
        guard diagnosis.works else {
            throw CommandFailure(.unavailable, "no video can arrive from this share", try: "follow the advice")
        }
    }

    static func checkWayOut(_ diagnosis: NetworkDiagnosis) throws(CommandFailure) {
        guard diagnosis.hasAddress else {
            throw CommandFailure(
                .unavailable, "this machine has no network connection to others", try: "connect it to a network")
        }
        guard diagnosis.hasWayOut else {
            let urls = Set(diagnosis.servers.map(\.url))
            let reason = diagnosis.servers.lazy.compactMap(\.error).first.map { ": \($0)" } ?? ""
            throw CommandFailure(
                .unavailable,
                urls.count == 1 ? "can't use the server \(urls.first ?? "")\(reason)" : "can't use any of the servers",
                try: "check --ice-server: the host, the port and, for TURN, the credentials")
        }
    }

    private static func lines(_ diagnosis: NetworkDiagnosis, _ machine: MachineDiagnosis) -> [String] {
        var lines = ["Addresses"]
        lines += diagnosis.interfaces.map { interface in
            "  \(interface.name) \(interface.address): "
                + (interface.unusedBecause.map { "not used (\($0))" } ?? "used")
        }
        lines += ["Candidates"] + diagnosis.candidates.map { "  \($0.type) \($0.address)" }
        if !diagnosis.servers.isEmpty {
            lines += ["Servers"] + diagnosis.servers.map { "  " + line(for: $0) }
            lines += [
                "NAT", "  mapping: \(name(diagnosis.mapping))", "  filtering: \(name(diagnosis.filtering))",
            ]
        }
        lines += ["Router", "  " + diagnosis.router.line]
        lines += ["Multicast DNS", "  " + (diagnosis.multicastWorks ? "works" : "does not work")]
        for (name, part) in [
            ("Screens", machine.lines(\.screens, "screens")), ("Audio", machine.lines(\.sound, "sound")),
            ("Cameras", machine.lines(\.cameras, "cameras")),
            ("Video codecs", machine.lines(\.codecs, "codecs")),
            ("Window of rtcshare view", machine.lines(\.window, "window")), ("Viewer page", machine.page),
            ("Configuration", machine.configuration),
            ("Advice", diagnosis.adviceLines + machine.advice),
        ] { lines += [name] + part.map { "  " + $0 } }
        return lines
    }

    private static func line(for server: NetworkDiagnosis.Server) -> String {
        let parts = [
            server.mappedAddress.map { "public address \($0)" },
            server.relayedAddress.map { "relay address \($0)" },
            server.milliseconds.map { String(printing: "%.0f ms", $0) }, server.error,
        ].compactMap { $0 }
        return server.url + (server.base.map { " from \($0)" } ?? "") + ": " + parts.joined(separator: ", ")
    }

    private static func name(_ mapping: NATMapping) -> String {
        switch mapping {
        case .none: "none (no NAT)"
        case .unknown: "unknown"
        case .addressAndPortDependent: "\(mapping.rawValue) (symmetric)"
        case .endpointIndependent, .addressDependent: mapping.rawValue
        }
    }

    private static func name(_ filtering: NATFiltering) -> String {
        filtering == .unknown ? "unknown (no server could test it)" : filtering.rawValue
    }
}

/// The output for programs: the diagnosis, with its advice in the words of the command line.
struct DiagnosisReport: Encodable {
    let diagnosis: NetworkDiagnosis
    let machine: MachineDiagnosis

    private enum CodingKeys: String, CodingKey {
        case router, advice, screens, sound, cameras, codecs, window, page, configuration, problems
    }

    func encode(to encoder: any Encoder) throws {
        try diagnosis.encode(to: encoder)
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(RouterReport(diagnosis.router), forKey: .router)
        try container.encode(diagnosis.adviceLines + machine.advice, forKey: .advice)
        try container.encode(machine.screens, forKey: .screens)
        try container.encode(machine.sound, forKey: .sound)
        try container.encode(machine.cameras, forKey: .cameras)
        try container.encode(machine.codecs, forKey: .codecs)
        try container.encode(machine.window, forKey: .window)
        try container.encode(machine.page, forKey: .page)
        try container.encode(machine.configuration, forKey: .configuration)
        try container.encode(machine.problems, forKey: .problems)
    }
}

extension NetworkDiagnosis {
    /// The advice, with options and commands.
    fileprivate var adviceLines: [String] { advice.map { $0.words(naming: \.words) } + router.advice }
}

/// The router's port forwarding, for programs.
private struct RouterReport: Encodable {
    let address: String?
    let `protocol`: PortMappingProtocol?
    let outsideAddress: String?
    let reach: OutsideReach?
    let problem: String?

    init(_ diagnosis: RouterDiagnosis) {
        let outside = diagnosis.outside
        address = diagnosis.router?.description
        `protocol` = diagnosis.method
        outsideAddress = outside?.description
        reach = outside.map(OutsideReach.init)
        problem = diagnosis.explanation?.problem
    }
}

extension RouterDiagnosis {
    fileprivate var outside: IPAddress? {
        if let own { return own }
        return if case .success(let outside) = outcome { outside.ip } else { nil }
    }

    /// The reason why viewers on the internet can't join, with a remedy; nil if they can.
    var explanation: Explanation? {
        if let outside { return OutsideReach(outside).explanation(of: outside, router: router) }
        return if case .failure(let error) = outcome { error.explanation() } else { nil }
    }

    fileprivate var line: String {
        if let own { return "none: this machine has the public address \(own)" }
        guard let router else { return "none" }
        guard let outside, let method else { return "\(router): does not forward ports" }
        return "\(router): forwards ports (\(method.rawValue)), outside address \(outside)"
    }

    fileprivate var advice: [String] {
        guard router != nil else { return [] }
        guard let explanation else {
            return ["For a link that works on the internet: rtcshare serve --internet"]
        }
        let remedy = explanation.remedy.map { " Try: \($0)." } ?? ""
        return ["Viewers on the internet can't join with rtcshare serve --internet: \(explanation.problem).\(remedy)"]
    }
}
