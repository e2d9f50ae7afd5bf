internal import ArgumentParser
internal import FoundationEssentials
internal import RTCShareNetworkRuntime

struct DoctorCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "doctor",
        abstract: "Say how this machine's network and screens look to a share, and what to do about it.",
        discussion: """
            Shows the addresses that a viewer would be told, what each server answers, what kind of NAT stands in between, \
            whether names under .local can be asked for, and which screens there are, by X11 or by a Wayland desktop's \
            portal. Nothing is shared. Ends with 69 where no way out was found.

            Example: rtcshare doctor --ice-server stun:stun.example.org --ice-server turn:turn.example.org \
            --ice-credentials turn.secret
            """)

    @OptionGroup var servers: ICEServerOptions

    @Flag(help: "Print it as JSON.")
    var json = false

    func run() async throws {
        try await reportingFailure {
            let (asked, trustRoots) = try servers.resolved()
            let diagnosis = try await NetworkDiagnosis.examine(servers: asked, trustRoots: trustRoots)
            if json {
                try StandardStreams.writeJSON(DiagnosisReport(diagnosis: diagnosis))
            } else {
                try StandardStreams.writeLines(Self.lines(diagnosis))
            }
            guard diagnosis.hasWayOut else {
                throw CommandFailure(.unavailable, "no way out of this machine was found")
            }
        }
    }

    private static func lines(_ diagnosis: NetworkDiagnosis) -> [String] {
        var lines = ["Addresses"]
        lines += diagnosis.interfaces.map { interface in
            "  \(interface.name) \(interface.address): "
                + (interface.unusedBecause.map { "not used, \($0)" } ?? "used")
        }
        lines += ["Candidates"] + diagnosis.candidates.map { "  \($0.type) \($0.address)" }
        if !diagnosis.servers.isEmpty {
            lines += ["Servers"] + diagnosis.servers.map { "  " + line(for: $0) }
            lines += [
                "NAT", "  mapping: \(name(diagnosis.mapping))", "  filtering: \(name(diagnosis.filtering))",
            ]
        }
        lines += ["Multicast DNS", "  " + (diagnosis.multicastWorks ? "works" : "does not work")]
        lines += ["Screens"] + ScreenDiagnosis(environment: ProcessInfo.processInfo.environment).lines.map { "  " + $0 }
        lines += ["Advice"] + diagnosis.adviceLines.map { "  " + $0 }
        return lines
    }

    private static func line(for server: NetworkDiagnosis.Server) -> String {
        let parts = [
            server.mappedAddress.map { "sees \($0)" }, server.relayedAddress.map { "relays from \($0)" },
            server.milliseconds.map { String(printing: "%.0f ms", $0) }, server.error,
        ].compactMap { $0 }
        return server.url + (server.base.map { " from \($0)" } ?? "") + ": " + parts.joined(separator: ", ")
    }

    private static func name(_ mapping: NATMapping) -> String {
        switch mapping {
        case .none: "none, there is no NAT"
        case .unknown: "can't tell"
        case .addressAndPortDependent: "\(mapping.rawValue) (symmetric)"
        case .endpointIndependent, .addressDependent: mapping.rawValue
        }
    }

    private static func name(_ filtering: NATFiltering) -> String {
        filtering == .unknown ? "can't tell: no server offers RFC 5780" : filtering.rawValue
    }
}

/// What a program reads: the diagnosis, with its advice in the words of the command line.
struct DiagnosisReport: Encodable {
    let diagnosis: NetworkDiagnosis

    private enum CodingKeys: String, CodingKey {
        case advice, screens
    }

    func encode(to encoder: any Encoder) throws {
        try diagnosis.encode(to: encoder)
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(diagnosis.adviceLines, forKey: .advice)
        try container.encode(
            ScreenDiagnosis(environment: ProcessInfo.processInfo.environment).lines, forKey: .screens)
    }
}

extension NetworkDiagnosis {
    /// What to do, with options and commands.
    fileprivate var adviceLines: [String] { advice.map { $0.words(naming: \.words) } }
}
