internal import ArgumentParser
internal import FoundationEssentials
internal import Glibc
internal import Logging

/// Takes the log's lines to where everything for people goes.
private struct LogStream: TextOutputStream {
    func write(_ line: String) { Terminal.shared.log(line.hasSuffix("\n") ? String(line.dropLast()) : line) }
}

struct RTCShareCommand: AsyncParsableCommand {
    /// What a person needs to know is said by the commands; the library's own log is for `RTCSHARE_LOG=debug`.
    static func main() async {
        ProcessMemory.keepFromOthers()
        let arguments = Array(CommandLine.arguments.dropFirst())
        startLog(isAsked: arguments.first?.hasPrefix("---") != true)
        do {
            var command = try parsed(arguments)
            if var command = command as? any AsyncParsableCommand {
                try await command.run()
            } else {
                try command.run()
            }
        } catch let failure as CommandFailure {
            Terminal.shared.say(failure.lines(after: "rtcshare: "))
            Glibc.exit(failure.status.rawValue)
        } catch {
            exit(withError: error)
        }
    }

    /// The command that the arguments ask for.
    /// - Throws: `CommandFailure` for what is wrong with the arguments; what the parser throws to show help.
    static func parsed(
        _ arguments: [String], environment: [String: String] = ProcessInfo.processInfo.environment
    ) throws -> any ParsableCommand {
        let path = try CommandPath(of: arguments)
        let configured = try ConfiguredOptions(for: arguments, environment: environment)
        do {
            return try parseAsRoot(configured.added(to: arguments))
        } catch  where exitCode(for: error) == .validationFailure {
            let message = message(for: error)
            let problem = message.prefix(1).lowercased() + message.dropFirst()
            if let place = configured.placeOfFault(in: arguments) {
                throw CommandFailure(.badInput, "\(place): \(problem)", try: path.help)
            }
            throw CommandFailure(.usage, problem, try: path.help)
        }
    }

    private static func startLog(isAsked: Bool) {
        let text = ProcessInfo.processInfo.environment["RTCSHARE_LOG"]
        let level = text.flatMap { Logger.Level(rawValue: $0.lowercased()) }
        LoggingSystem.bootstrap { label in
            var handler = StreamLogHandler(label: label, stream: LogStream())
            handler.logLevel = level ?? .warning
            return handler
        }
        guard isAsked, level == nil, let text, !text.isEmpty else { return }
        let levels = Logger.Level.allCases.map(\.rawValue).joined(separator: ", ")
        Terminal.shared.say("RTCSHARE_LOG=\(text): unknown log level, using warning. Levels: \(levels).")
    }

    static let configuration = CommandConfiguration(
        commandName: "rtcshare",
        abstract: "Share a screen with any WebRTC viewer.",
        discussion: """
            Share, and give the link to who is to see it:

                rtcshare serve

            Without a link, sharing takes three steps. Make an offer and give it to the viewer, by any means that carries text:

                rtcshare offer --attendee alice > offer.sdp

            The viewer (a browser page, a conference server, rtcshare view) gives back an answer. Then share:

                rtcshare send --answer answer.sdp

            A share that runs is asked and changed from another terminal: rtcshare status, pause, source, stop, …

            Try it without a viewer, a display or a network: rtcshare demo
            """,
        version: Version.text,
        subcommands: [
            ServeCommand.self, OfferCommand.self, SendCommand.self, ViewCommand.self, BroadcastCommand.self,
            DemoCommand.self,
            DoctorCommand.self, SourcesCommand.self, InspectCommand.self, ReportCommand.self, UnitCommand.self,
            CompletionsCommand.self,
        ],
        groupedSubcommands: [
            CommandGroup(
                name: "Running share",
                subcommands: [
                    StatusCommand.self, StopCommand.self, PauseCommand.self, ResumeCommand.self, SourceCommand.self,
                    CameraCommand.self, SetCommand.self, MuteCommand.self, UnmuteCommand.self, InviteCommand.self,
                    AdmitCommand.self,
                    KickCommand.self, LockCommand.self, UnlockCommand.self, LinkCommand.self,
                    DestinationCommand.self, SubgroupCommand.self,
                ])
        ])
}
