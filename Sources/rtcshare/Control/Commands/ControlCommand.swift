internal import ArgumentParser
internal import FoundationEssentials
internal import Glibc
internal import RTCShareCapture
internal import RTCShareContentShare
internal import RTCShareMedia
internal import RTCShareSDP
internal import RTCShareSignaling
internal import RTCShareWireFormat

/// A command for a running share.
protocol ControlCommand: AsyncParsableCommand {
    var share: ControlOptions { get }
}

extension ControlCommand {
    /// Requests a change, and prints what changed.
    func perform(_ request: @autoclosure () throws -> ControlRequest) async throws {
        try await reportingFailure {
            if let notice = try await share.connect().ask(request(), ControlNotice.self).notice {
                Terminal.shared.say(notice)
            }
        }
    }
}

struct StatusCommand: ControlCommand {
    static let configuration = CommandConfiguration(
        commandName: "status", abstract: "Show the state of a running share.")

    @Flag(help: "Print JSON.") var json = false

    @Flag(help: "Show each change, until the share ends or you press Ctrl-C.") var watch = false

    @OptionGroup var share: ControlOptions

    func run() async throws {
        try await reportingFailure {
            if watch { return try await StatusWatch(await share.connect(), asJSON: json).run() }
            let status = try await share.connect().ask(.status, ControlledShare.self)
            if json { try StandardStreams.writeJSON(status) } else { try StandardStreams.writeLines(status.lines) }
        }
    }
}

struct StopCommand: ControlCommand {
    static let configuration = CommandConfiguration(
        commandName: "stop", abstract: "Stop a running share.", discussion: "Returns when the share has ended.")

    @OptionGroup var share: ControlOptions

    func run() async throws {
        try await reportingFailure {
            if let notice = try await share.connect().stop() { Terminal.shared.say(notice) }
        }
    }
}

struct PauseCommand: ControlCommand {
    static let configuration = CommandConfiguration(
        commandName: "pause", abstract: "Pause a running share. Viewers stay connected.",
        discussion: """
            Viewers see the last frame, or a "Paused" slate with --slate, and get no audio. Viewers who join later see the same.
            """)

    @Flag(help: "Show a slate instead of the last frame.") var slate = false

    @OptionGroup var share: ControlOptions

    func run() async throws { try await perform(.pause(slate: slate)) }
}

struct ResumeCommand: ControlCommand {
    static let configuration = CommandConfiguration(commandName: "resume", abstract: "Resume a paused share.")

    @OptionGroup var share: ControlOptions

    func run() async throws { try await perform(.resume) }
}

/// The audio of a share that is muted or unmuted.
struct SoundFlags: ParsableArguments {
    @Flag(help: "Only the shared audio.") var audio = false
    @Flag(help: "Only your microphone.") var microphone = false

    var sounds: ControlledSounds {
        switch (microphone, audio) {
        case (true, false): .microphone
        case (false, true): .audio
        case (true, true), (false, false): .all
        }
    }
}

struct MuteCommand: ControlCommand {
    static let configuration = CommandConfiguration(
        commandName: "mute", abstract: "Mute the shared audio, your microphone or both.",
        discussion: "Without an option, both are muted.")

    @OptionGroup var flags: SoundFlags
    @OptionGroup var share: ControlOptions

    func run() async throws { try await perform(.mute(flags.sounds)) }
}

struct UnmuteCommand: ControlCommand {
    static let configuration = CommandConfiguration(
        commandName: "unmute", abstract: "Unmute the shared audio, your microphone or both.",
        discussion: "Without an option, both are unmuted.")

    @OptionGroup var flags: SoundFlags
    @OptionGroup var share: ControlOptions

    func run() async throws { try await perform(.unmute(flags.sounds)) }
}

struct DestinationCommand: ControlCommand {
    static let configuration = CommandConfiguration(
        commandName: "destination", abstract: "Move a running share to a subgroup or the main room.",
        discussion: """
            The share disappears for viewers outside the destination and appears for those in it. Join a subgroup before you
            share to it:

                rtcshare subgroup join design
                rtcshare destination design
                rtcshare destination main
            """)

    @Argument(
        help: ArgumentHelp("A subgroup, or main for the main room.", valueName: "subgroup|main"),
        completion: .list(["main"]))
    var destination: String

    @OptionGroup var share: ControlOptions

    func run() async throws { try await perform(.destination(name: destination)) }
}

struct SubgroupCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "subgroup", abstract: "Join or leave a subgroup of a running share.",
        subcommands: [Join.self, Leave.self])

    struct Join: ControlCommand {
        static let configuration = CommandConfiguration(abstract: "Join a subgroup, so that you can share to it.")

        @Argument(help: ArgumentHelp("Name of the subgroup.", valueName: "subgroup")) var subgroup: String
        @OptionGroup var share: ControlOptions

        func run() async throws { try await perform(.join(subgroup: subgroup)) }
    }

    struct Leave: ControlCommand {
        static let configuration = CommandConfiguration(abstract: "Leave a subgroup that you are not sharing to.")

        @Argument(help: ArgumentHelp("Name of the subgroup.", valueName: "subgroup")) var subgroup: String
        @OptionGroup var share: ControlOptions

        func run() async throws { try await perform(.leave(subgroup: subgroup)) }
    }
}

struct KickCommand: ControlCommand {
    static let configuration = CommandConfiguration(
        commandName: "kick", abstract: "Disconnect a viewer.",
        discussion: "The link still opens the share. To keep new viewers out, run rtcshare lock.")

    @Argument(
        help: ArgumentHelp("Number of the viewer, as rtcshare status lists it.", valueName: "n"),
        transform: OptionValue.viewer)
    var viewer: Int

    @OptionGroup var share: ControlOptions

    func run() async throws { try await perform(.kick(viewer: viewer)) }
}

struct LockCommand: ControlCommand {
    static let configuration = CommandConfiguration(
        commandName: "lock", abstract: "Stop new viewers from joining by the link.",
        discussion: "Viewers who have joined already stay.")

    @OptionGroup var share: ControlOptions

    func run() async throws { try await perform(.lock) }
}

struct UnlockCommand: ControlCommand {
    static let configuration = CommandConfiguration(
        commandName: "unlock", abstract: "Allow new viewers to join by the link again.")

    @OptionGroup var share: ControlOptions

    func run() async throws { try await perform(.unlock) }
}

struct LinkCommand: ControlCommand {
    static let configuration = CommandConfiguration(
        commandName: "link", abstract: "Print the links of a running rtcshare serve.")

    @Option(help: ArgumentHelp("Print links that lead only into this subgroup.", valueName: "subgroup"))
    var subgroup: String?

    @Flag(help: "Print the links as JSON.") var json = false

    @OptionGroup var share: ControlOptions

    func run() async throws {
        try await reportingFailure {
            let links = try await share.connect().ask(.link(subgroup: subgroup), ControlLinks.self)
            if json { return try StandardStreams.writeJSON(links) }
            try StandardStreams.writeLines(links.links)
        }
    }
}
