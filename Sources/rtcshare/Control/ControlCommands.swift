internal import ArgumentParser
internal import FoundationEssentials
internal import Glibc
internal import RTCShareCapture
internal import RTCShareContentShare
internal import RTCShareMedia
internal import RTCShareSDP
internal import RTCShareSignaling

/// A command for a running share.
protocol ControlCommand: AsyncParsableCommand {
    var share: ControlOptions { get }
}

extension ControlCommand {
    /// Requests a change, and prints what changed.
    func perform(_ request: ControlRequest) async throws {
        try await reportingFailure {
            if case .done(let notice?) = try share.connect().ask(request) { Terminal.shared.say(notice) }
        }
    }
}

struct StatusCommand: ControlCommand {
    static let configuration = CommandConfiguration(
        commandName: "status", abstract: "Say how a running share stands.")

    @OptionGroup var share: ControlOptions

    @Flag(help: "Print it as JSON.") var json = false

    @Flag(help: "Print each change, until the share ends or you press Ctrl-C.") var watch = false

    func run() async throws {
        try await reportingFailure {
            if watch { return try await StatusWatch(share.connect(), asJSON: json).run() }
            guard case .status(let status) = try share.connect().ask(.status) else { return }
            if json { try StandardStreams.writeJSON(status) } else { try StandardStreams.writeLines(status.lines) }
        }
    }
}

struct StopCommand: ControlCommand {
    static let configuration = CommandConfiguration(
        commandName: "stop", abstract: "End a running share, and wait until it has ended.")

    @OptionGroup var share: ControlOptions

    func run() async throws {
        try await reportingFailure {
            let client = try share.connect()
            let answer = try client.ask(.stop)
            try client.waitForEnd()
            if case .done(let notice?) = answer { Terminal.shared.say(notice) }
        }
    }
}

struct PauseCommand: ControlCommand {
    static let configuration = CommandConfiguration(
        commandName: "pause", abstract: "Have a running share stand still, without its sound; the connections stay.",
        discussion: """
            Viewers keep the last picture, or see a slate in its place; so does who comes meanwhile.
            """)

    @OptionGroup var share: ControlOptions

    @Flag(help: "Show a slate in place of the last picture.") var slate = false

    func run() async throws { try await perform(.pause(slate: slate)) }
}

struct ResumeCommand: ControlCommand {
    static let configuration = CommandConfiguration(commandName: "resume", abstract: "Have a paused share go on.")

    @OptionGroup var share: ControlOptions

    func run() async throws { try await perform(.resume) }
}

struct SourceCommand: ControlCommand {
    static let configuration = CommandConfiguration(
        commandName: "source", abstract: "Share something else from now on, in the same share.",
        discussion: """
            What is named is opened first: where that fails, the share continues as it is. While the share is paused, it is \
            shown from when the share continues.
            """)

    @Argument(
        help: ArgumentHelp("What to share: \(SourceSpecification.syntax).", valueName: "spec"),
        completion: ShellCompletion.source)
    var source: String

    @OptionGroup var share: ControlOptions

    func run() async throws { try await perform(.source(spec: source.withAbsolutePath)) }
}

struct CameraCommand: ControlCommand {
    static let configuration = CommandConfiguration(
        commandName: "camera", abstract: "Show another picture of yourself from now on, or none, or switch its light.",
        discussion: """
            What is named is opened first: where that fails, all continues as it is. The share is to have been begun with \
            --camera.
            """)

    @Argument(
        help: ArgumentHelp("What shows you: a SPEC as for --camera, or none.", valueName: "spec|none"),
        completion: ShellCompletion.source)
    var camera: String?

    @Flag(inversion: .prefixedNo, help: "Switch the camera's light on, or off, where it has one.")
    var light: Bool?

    @OptionGroup var share: ControlOptions

    func validate() throws {
        guard camera != nil || light != nil else {
            throw ValidationError("nothing is to be changed: give a SPEC, none, --light or --no-light")
        }
    }

    func run() async throws {
        if let camera { try await perform(.camera(spec: camera.withAbsolutePath)) }
        if let light { try await perform(.light(isOn: light)) }
    }
}

struct SetCommand: ControlCommand {
    static let configuration = CommandConfiguration(
        commandName: "set", abstract: "Change how well a running share is sent.")

    @OptionGroup var share: ControlOptions

    @Option(help: ArgumentHelp("The most that the content's pictures take, in kbit/s.", valueName: "kbps"))
    var maxBitrate: Int?

    @Option(help: "What gives way when the bitrate is short, as for rtcshare send.")
    var hint: SharingOptions.Hint?

    @Option(help: ArgumentHelp("The picture's largest size; a larger one is made smaller, whole.", valueName: "WxH"))
    var size: FrameSize?

    @Option(help: ArgumentHelp("The most frames a second, up to what the source gives.", valueName: "n"))
    var maxFramerate: Double?

    func validate() throws {
        guard maxBitrate != nil || hint != nil || size != nil || maxFramerate != nil else {
            throw ValidationError("nothing is to be changed: give --max-bitrate, --hint, --size or --max-framerate")
        }
    }

    func run() async throws {
        try await perform(
            .set(
                ControlledSettings(
                    maxBitrate: maxBitrate, maxFramerate: maxFramerate, width: size?.size.width,
                    height: size?.size.height, hint: hint)))
    }
}

/// Which sounds are meant.
struct SoundFlags: ParsableArguments {
    @Flag(help: "Your own voice alone.") var microphone = false
    @Flag(help: "The sound of what is shared alone.") var audio = false

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
        commandName: "mute", abstract: "Send no sound, of what is shared and of your own.")

    @OptionGroup var flags: SoundFlags
    @OptionGroup var share: ControlOptions

    func run() async throws { try await perform(.mute(flags.sounds)) }
}

struct UnmuteCommand: ControlCommand {
    static let configuration = CommandConfiguration(commandName: "unmute", abstract: "Send the sound again.")

    @OptionGroup var flags: SoundFlags
    @OptionGroup var share: ControlOptions

    func run() async throws { try await perform(.unmute(flags.sounds)) }
}

struct DestinationCommand: ControlCommand {
    static let configuration = CommandConfiguration(
        commandName: "destination", abstract: "Share to a subgroup, or to the main room, from now on.",
        discussion: """
            Viewers who are not there see the share go, those who are there see it come. A subgroup is joined before: \
            rtcshare subgroup join.
            """)

    @Argument(
        help: ArgumentHelp("A subgroup, or main for the main room.", valueName: "name|main"),
        completion: .list(["main"]))
    var destination: String

    @OptionGroup var share: ControlOptions

    func run() async throws { try await perform(.destination(name: destination)) }
}

struct SubgroupCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "subgroup", abstract: "Join a subgroup of a running share, or leave it.",
        subcommands: [Join.self, Leave.self])

    struct Join: ControlCommand {
        static let configuration = CommandConfiguration(abstract: "Join a subgroup, to be able to share to it.")

        @Argument(help: ArgumentHelp("The subgroup.", valueName: "name")) var subgroup: String
        @OptionGroup var share: ControlOptions

        func run() async throws { try await perform(.join(subgroup: subgroup)) }
    }

    struct Leave: ControlCommand {
        static let configuration = CommandConfiguration(
            abstract: "Leave a subgroup. One that is being shared to can't be left.")

        @Argument(help: ArgumentHelp("The subgroup.", valueName: "name")) var subgroup: String
        @OptionGroup var share: ControlOptions

        func run() async throws { try await perform(.leave(subgroup: subgroup)) }
    }
}

struct InviteCommand: ControlCommand {
    static let configuration = CommandConfiguration(
        commandName: "invite", abstract: "Make an offer to one more viewer of a running share.",
        discussion: """
            The offer goes to standard output. Give it to the viewer, get its answer, and run rtcshare admit answer.sdp. \
            The share must be running meanwhile.
            """)

    @OptionGroup var place: ViewerPlace

    @Flag(help: "Print the viewer's number and the offer as JSON.") var json = false

    @OptionGroup var share: ControlOptions

    /// W3C's `RTCSessionDescriptionInit`, and the viewer that it is for.
    private struct Invitation: Encodable {
        let viewer: Int
        var type = "offer"
        let sdp: String
    }

    func run() async throws {
        try await reportingFailure {
            let request = ControlRequest.invite(main: !place.noMain, subgroups: place.subgroup)
            guard case .offer(let viewer, let description) = try share.connect().ask(request) else { return }
            if json { return try StandardStreams.writeJSON(Invitation(viewer: viewer, sdp: description)) }
            try StandardStreams.writeData(description)
            Terminal.shared.say(
                "This offer is for viewer \(viewer). When you have the answer, run: rtcshare admit --viewer \(viewer) FILE"
            )
        }
    }
}

struct AdmitCommand: ControlCommand {
    static let configuration = CommandConfiguration(
        commandName: "admit",
        abstract: "Let a viewer in: one who waits behind a link, or one whose answer to an invitation is here.")

    @Argument(
        help: ArgumentHelp(
            "The number of the viewer who waits; or the answer of one who was invited, - for standard input.",
            valueName: "n|file"), completion: .file())
    var who: String

    @Option(
        help: ArgumentHelp(
            "Whose answer it is, as rtcshare invite said. Not needed where one answer is waited for.", valueName: "n"))
    var viewer: Int?

    @OptionGroup var share: ControlOptions

    func run() async throws {
        if viewer == nil, let waiting = Int(who) { return try await perform(.letIn(viewer: waiting)) }
        try await reportingFailure {
            let client = try share.connect()
            // What can be wrong with the text is said here, with its line.
            let answer = try AnswerFile.read(who)
            if case .done(let notice?) = try client.ask(.admit(viewer: viewer, answer: answer.description)) {
                Terminal.shared.say(notice)
            }
        }
    }
}

struct KickCommand: ControlCommand {
    static let configuration = CommandConfiguration(
        commandName: "kick", abstract: "Send a viewer away.",
        discussion: "The link still opens the share: rtcshare lock keeps everybody new out.")

    @Argument(help: ArgumentHelp("The viewer, as rtcshare status lists it.", valueName: "n")) var viewer: Int
    @OptionGroup var share: ControlOptions

    func run() async throws { try await perform(.kick(viewer: viewer)) }
}

struct LockCommand: ControlCommand {
    static let configuration = CommandConfiguration(
        commandName: "lock", abstract: "Let nobody else in by the link; those who are there stay.")

    @OptionGroup var share: ControlOptions

    func run() async throws { try await perform(.lock) }
}

struct UnlockCommand: ControlCommand {
    static let configuration = CommandConfiguration(
        commandName: "unlock", abstract: "Let viewers in by the link again.")

    @OptionGroup var share: ControlOptions

    func run() async throws { try await perform(.unlock) }
}

struct LinkCommand: ControlCommand {
    static let configuration = CommandConfiguration(
        commandName: "link", abstract: "Print the links of a running rtcshare serve, or those of a subgroup.")

    @Option(help: ArgumentHelp("The subgroup that who opens the link is in, alone.", valueName: "name"))
    var subgroup: String?

    @Flag(help: "Print the links as JSON.") var json = false

    @OptionGroup var share: ControlOptions

    private struct Links: Encodable {
        let links: [String]
    }

    func run() async throws {
        try await reportingFailure {
            guard case .links(let links) = try share.connect().ask(.link(subgroup: subgroup)) else { return }
            if json { return try StandardStreams.writeJSON(Links(links: links)) }
            try StandardStreams.writeLines(links)
        }
    }
}

/// Where a viewer is in the room.
struct ViewerPlace: ParsableArguments {
    @Option(help: ArgumentHelp("A subgroup that the viewer is in, again for each.", valueName: "name"))
    var subgroup: [String] = []

    @Flag(help: "The viewer is in its subgroups alone, and not in the main room.") var noMain = false

    func validate() throws {
        if noMain, subgroup.isEmpty {
            throw ValidationError("--no-main: the viewer would be nowhere; give --subgroup too")
        }
    }

    /// The viewer's membership in the room.
    var membership: RoomMembership {
        get throws { try RoomMembership(main: !noMain, subgroups: subgroup) }
    }
}

extension RoomMembership {
    /// What `--subgroup` and `--no-main` say.
    init(main: Bool, subgroups names: [String]) throws {
        let subgroups = Set(try names.map { try Subgroup($0) })
        self = main ? RoomMembership(subgroups: subgroups) : try RoomMembership(onlySubgroups: subgroups)
    }
}
