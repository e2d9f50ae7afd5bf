internal import ArgumentParser
internal import FoundationEssentials
internal import Glibc

/// `rtcshare unit`: a systemd user unit for a command that runs by itself.
struct UnitCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "unit",
        abstract: "Print a systemd unit that runs serve, send or capture.",
        usage: "rtcshare unit [--restart <when>] [--environment-file <file>] serve|send|capture [options]",
        discussion: #"""
            Give the command and its options as you would run it in this directory. The options and the files with tokens are
            checked, and relative paths keep their meaning. The unit contains no secrets: keep tokens in files, or in the variables of --environment-file.

            Install the unit, then start it now and at each login:

                rtcshare unit serve --link-token-file link.token \
                    > ~/.config/systemd/user/rtcshare-serve.service
                systemctl --user daemon-reload
                systemctl --user enable --now rtcshare-serve

            A unit with tokens in variables:

                rtcshare unit --environment-file tokens.env capture --port 5000 \
                    > ~/.config/systemd/user/rtcshare-capture.service

            With --link-token-file, the link stays the same after a restart. To print the link, run rtcshare link.

            If the command fails, systemd restarts it five seconds later. It does not restart a command that would fail in the
            same way again (exit statuses 64, 65, 66, 73 and 77).
            """#)

    @Option(
        help: ArgumentHelp("When systemd restarts the command. Default: on-failure.", valueName: "when"))
    var restart: Restart?

    @Option(
        help: ArgumentHelp(
            "File of VARIABLE=VALUE lines for the service, such as RTCSHARE_ICE_PASSWORD (mode 0600).",
            valueName: "file"), completion: .file())
    var environmentFile: String?

    @Argument(
        parsing: .captureForPassthrough,
        help: ArgumentHelp("serve, send or capture, with its options.", valueName: "command"),
        completion: .list(["capture", "send", "serve"]))
    var command: [String]

    enum Restart: String, ExpressibleByArgument, CaseIterable {
        case onFailure = "on-failure"
        case always
    }

    func run() async throws {
        try await reportingFailure {
            let unit = try unit(
                executable: try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe"),
                folder: FileManager.default.currentDirectoryPath)
            try checkSecretFiles()
            try StandardStreams.writeData(unit.text)
        }
    }

    /// The options that name files with secrets, with the names of these files in errors.
    private static let secretFiles = [
        "--link-token-file": "token file", "--whip-token-file": "token file", "--janus-token-file": "token file",
        "--my-token-file": "token file", "--peer-token-file": "token file", "--janus-pin-file": "pin file",
        "--janus-secret-file": "secret file", "--ice-credentials": "credentials",
        "--ice-secret-file": "secret file",
    ]

    /// Checks that the service can read its files with secrets, and that no other user can.
    private func checkSecretFiles() throws {
        if let environmentFile { _ = try SecretFile.readText(environmentFile, what: "environment file") }
        let command = CommandArguments.prepared(command)
        let environment = ProcessInfo.processInfo.environment
        let arguments = try ConfiguredOptions(for: command, environment: environment).added(to: command)
        for (argument, next) in zip(arguments, arguments.dropFirst() + [""]) {
            let parts = argument.split(separator: "=", maxSplits: 1).map(String.init)
            guard let option = parts.first, let what = Self.secretFiles[option] else { continue }
            let path = parts.count > 1 ? parts[1] : next
            if path != PublishingOptions.noToken { _ = try SecretFile.readText(path, what: what) }
        }
    }

    /// Returns the unit of `arguments`, those after `rtcshare unit`.
    static func unit(of arguments: [String], executable: String, folder: String) throws -> SystemdUnit {
        try parse(arguments).unit(executable: executable, folder: folder)
    }

    /// Returns the unit of this program, for a command that would be run in `folder`.
    func unit(executable: String, folder: String) throws -> SystemdUnit {
        let environmentFile = environmentFile.map { $0.hasPrefix("/") ? $0 : "\(folder)/\($0)" }
        for path in [folder, environmentFile ?? folder] where !SystemdUnit.canHold(path) {
            throw CommandFailure(.usage, "a unit can't name \(path): its path has characters that systemd interprets")
        }
        // The arguments for the command begin with the service's name.
        if ["-h", "--help"].contains(command.first) { throw CleanExit.helpRequest(Self.self) }
        let command = CommandArguments.prepared(command)
        guard let name = command.first, let service = Self.services.first(where: { $0.isNamed(name) }) else {
            throw notAService
        }
        if command.prefix(while: { $0 != "--" }).contains(where: { ["-h", "--help"].contains($0) }) {
            throw CleanExit.helpRequest(service)
        }
        let needsScreen: Bool
        switch try RTCShareCommand.parsed(command) {
        case let capture as CaptureCommand:
            let selection = capture.captured.selection
            needsScreen = Self.needsScreen(selection)
            if capture.destination.answer == "-" { throw Self.needsInput("--answer -") }
            try Self.check(selection)
            if capture.destination.session == nil { try check(capture.destination.tokens) }
        case let send as SendCommand:
            needsScreen = Self.needsScreen(send.sources.selection)
            if !send.publishing.isGiven {
                guard let answer = send.answering.answer, answer != "-" else {
                    throw Self.needsInput("send without --answer FILE, --whip URL or --janus URL")
                }
            }
            try check(send.sharing)
            try check(send.publishing)
        case let serve as ServeCommand:
            needsScreen = Self.needsScreen(serve.sources.selection)
            try check(serve.sharing)
            try check(serve.publishing)
        default: throw notAService
        }
        return SystemdUnit(
            name: "rtcshare-\(command[0])", executable: executable, arguments: command, folder: folder,
            environmentFile: environmentFile, restart: restart ?? .onFailure, needsScreen: needsScreen)
    }

    /// The commands that run as services.
    private static let services: [any ParsableCommand.Type] = [
        ServeCommand.self, SendCommand.self, CaptureCommand.self,
    ]

    private var notAService: CommandFailure {
        let names = Self.services.map { $0._commandName }
        let list = names.dropLast().joined(separator: ", ") + " and \(names[names.count - 1])"
        let word = command.first ?? ""
        if let meant = Suggestion.nearest(to: word, among: names) {
            return CommandFailure(
                .usage, "unknown command '\(word)'. Did you mean '\(meant)'?", try: "rtcshare unit \(meant)")
        }
        return CommandFailure(
            .usage, "\(word) does not run as a service: only \(list) do", try: "rtcshare help unit")
    }

    private static func needsScreen(_ selection: SourceSelection) -> Bool {
        switch selection.source {
        case nil, .display, .portal, .region, .window: true
        case .test, .camera, .file, .standardInput, .broadcast: false
        }
    }

    private static func check(_ selection: SourceSelection) throws(CommandFailure) {
        for source in [selection.source, selection.camera?.source] where source == .standardInput {
            throw needsInput("\(SourceSpecification.standardInput)")
        }
    }

    private static func needsInput(_ what: String) -> CommandFailure {
        CommandFailure(.usage, "\(what) reads standard input, which a service does not have", try: "name a file")
    }

    private func check(_ sharing: SharingOptions) throws {
        let selection = sharing.sources.selection
        try Self.check(selection)
        if case .broadcast? = selection.source { try check(sharing.special.tokens) }
    }

    private func check(_ places: PublishingOptions) throws(CommandFailure) {
        let variable = PublishingOptions.tokenVariable
        guard !places.whip.isEmpty, places.whipTokenFile.isEmpty, environmentFile == nil,
            ProcessInfo.processInfo.environment[variable] != nil
        else { return }
        throw CommandFailure(
            .usage,
            "a service does not have this shell's \(variable)",
            try: "--whip-token-file FILE, or rtcshare unit --environment-file FILE")
    }

    private func check(_ tokens: BroadcastTokenOptions) throws(CommandFailure) {
        guard environmentFile == nil, tokens.myTokenFile == nil || tokens.peerTokenFile == nil else { return }
        throw CommandFailure(
            .usage,
            "a service does not have this shell's variables, and capture in another process needs both tokens",
            try: "--my-token-file FILE --peer-token-file FILE, or rtcshare unit --environment-file FILE")
    }
}

extension ParsableCommand {
    /// Returns whether the command has this name on the command line.
    fileprivate static func isNamed(_ name: String) -> Bool { ([_commandName] + configuration.aliases).contains(name) }
}
