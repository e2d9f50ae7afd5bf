internal import ArgumentParser
internal import FoundationEssentials
internal import Glibc
internal import Logging

/// Writes the log's lines to the same stream as all messages for people.
private struct LogStream: TextOutputStream {
    func write(_ line: String) { Terminal.shared.log(line.hasSuffix("\n") ? String(line.dropLast()) : line) }
}

struct RTCShareCommand: AsyncParsableCommand {
    /// Runs the program. The commands print everything that users need; the library's own log is for
    /// `RTCSHARE_LOG=debug`.
    static func main() async {
        ProcessMemory.keepFromOthers()
        let arguments = Array(CommandLine.arguments.dropFirst())
        startLog(warns: arguments.first?.hasPrefix("---") != true)
        var configured: ConfiguredOptions?
        do {
            var command = try parsed(arguments, configured: &configured)
            if !(command is any ControlCommand) { try OpenFiles.checkLimit() }
            if var command = command as? any AsyncParsableCommand {
                try await command.run()
            } else {
                try command.run()
            }
        } catch let failure as CommandFailure {
            let failure = configured?.placing(failure) ?? failure
            Terminal.shared.say(failure.lines(after: "rtcshare: "))
            Glibc.exit(failure.status.rawValue)
        } catch {
            let text = fullMessage(for: error, columns: HelpText.unlimited)
            if let help = HelpText(text) {
                finish { () throws(CommandFailure) in try StandardStreams.writeHelp(help) }
            }
            if exitCode(for: error) == .success {
                finish { () throws(CommandFailure) in try StandardStreams.writeData(text + "\n") }
            }
            exit(withError: error)
        }
    }

    private static func finish(writing body: () throws(CommandFailure) -> Void) -> Never {
        do throws(CommandFailure) {
            try body()
            Glibc.exit(EXIT_SUCCESS)
        } catch let failure {
            Terminal.shared.say(failure.lines(after: "rtcshare: "))
            Glibc.exit(failure.status.rawValue)
        }
    }

    /// Returns the command in the arguments.
    /// - Throws: `CommandFailure` for invalid arguments, or the parser's error to show help.
    static func parsed(
        _ arguments: [String], environment: [String: String] = ProcessInfo.processInfo.environment
    ) throws -> any ParsableCommand {
        var configured: ConfiguredOptions?
        do {
            return try parsed(arguments, environment: environment, configured: &configured)
        } catch let failure as CommandFailure {
            throw configured?.placing(failure) ?? failure
        }
    }

    /// Returns the command, and in `configured` its options from a file or the environment.
    private static func parsed(
        _ arguments: [String], environment: [String: String] = ProcessInfo.processInfo.environment,
        configured: inout ConfiguredOptions?
    ) throws -> any ParsableCommand {
        let arguments = CommandArguments.prepared(arguments)
        let path = try CommandPath(of: arguments)
        let options = try ConfiguredOptions(for: arguments, environment: environment)
        configured = options
        do {
            let command = try parseAsRoot(options.added(to: arguments))
            if let name = (command as? any ConfigurableCommand)?.running.name { try ControlSocket.check(name: name) }
            return command
        } catch  where exitCode(for: error) == .validationFailure {
            let failure = ParserWords(path: path, arguments: arguments).failure(message(for: error))
            throw options.locationOfFault(in: arguments).map { failure.located(at: $0) } ?? failure
        }
    }

    private static func startLog(warns: Bool) {
        let text = ProcessInfo.processInfo.environment["RTCSHARE_LOG"] ?? ""
        let choice = LogChoice(text)
        LoggingSystem.bootstrap { label in
            var handler = StreamLogHandler(label: label, stream: LogStream())
            handler.logLevel = choice.level(ofLabel: label)
            return handler
        }
        guard warns, let unknown = choice.unknown else { return }
        Terminal.shared.say([
            "rtcshare: RTCSHARE_LOG=\(text): '\(unknown)' is neither a log level nor a topic.",
            "Try: one of \(LogChoice.levels.joined(separator: ", ")), or \(LogChoice.topics.joined(separator: " or "))",
        ])
    }

    static let configuration = CommandConfiguration(
        commandName: "rtcshare",
        abstract: "Share your screen with anyone who has a browser.",
        discussion: """
            Share the screen, and send your viewers the link that is printed:

                rtcshare serve

            Check that rtcshare works on this machine, without a display or a network:

                rtcshare demo

            Control a running share from another terminal:

                rtcshare status
                rtcshare pause

            Share without a link. Create an offer, pass it to the viewer (a browser page, a server, rtcshare view), and save the
            answer that the viewer returns:

                rtcshare offer --attendee alice > offer.sdp
                rtcshare send --answer answer.sdp
            """,
        subcommands: [
            ServeCommand.self, OfferCommand.self, SendCommand.self, ViewCommand.self, CaptureCommand.self,
            DemoCommand.self,
        ],
        groupedSubcommands: [
            CommandGroup(
                name: "Running share",
                subcommands: [
                    PresentCommand.self, StatusCommand.self, StopCommand.self, PauseCommand.self, ResumeCommand.self,
                    SwitchCommand.self, MuteCommand.self, UnmuteCommand.self, CameraCommand.self, SetCommand.self,
                    LinkCommand.self, AdmitCommand.self, KickCommand.self, LockCommand.self, UnlockCommand.self,
                    InviteCommand.self, AcceptCommand.self, DestinationCommand.self, SubgroupCommand.self,
                ]),
            CommandGroup(
                name: "Diagnosis and setup",
                subcommands: [
                    SourcesCommand.self, DoctorCommand.self, InspectCommand.self, ReportCommand.self, UnitCommand.self,
                    CompletionsCommand.self,
                ]),
        ])

    @Flag(name: [.customShort("V"), .long], help: "Print the versions of rtcshare and of its libraries.")
    var version = false

    func validate() throws {
        if version { throw CleanExit.message(Version.text) }
    }
}
