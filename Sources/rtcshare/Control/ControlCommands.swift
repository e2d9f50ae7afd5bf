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
            if watch { return try await StatusWatch(share.connect(), asJSON: json).run() }
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

struct SwitchCommand: ControlCommand {
    static let configuration = CommandConfiguration(
        commandName: "switch", abstract: "Switch a running share to another source.",
        discussion: """
            The new source is opened first. If that fails, the share does not change. If the share is paused, the new source
            appears when you resume.

                rtcshare switch window:title=Slides
                rtcshare switch display
            """)

    @Argument(
        help: ArgumentHelp(
            """
            What to share: display, window:title=TEXT, region:WxH+X+Y, camera, file:PATH.y4m, test and others. All forms: \
            rtcshare help sources.
            """, valueName: "spec"), completion: ShellCompletion.source, transform: OptionValue.specification)
    var source: SourceSpecification

    @OptionGroup var share: ControlOptions

    func run() async throws {
        try await perform(.source(source.withAbsolutePath))
    }
}

struct CameraCommand: ControlCommand {
    static let configuration = CommandConfiguration(
        commandName: "camera", abstract: "Change or turn off your camera, or switch its light.",
        discussion: """
            The new camera is opened first. If that fails, nothing changes. The share must have been started with --camera.

                rtcshare camera camera:front --light
                rtcshare camera none
            """)

    @Argument(
        help: ArgumentHelp("Your camera: a value of --camera.", valueName: "spec|none"),
        completion: ShellCompletion.source, transform: OptionValue.specification)
    var camera: CameraSpecification?

    @Flag(inversion: .prefixedNo, help: "Switch the camera's light on or off, if it has one.")
    var light: Bool?

    @OptionGroup var share: ControlOptions

    func validate() throws {
        guard camera != nil || light != nil else {
            throw ValidationError("nothing to change: give a SPEC, none, --light or --no-light")
        }
        if light != nil, camera == CameraSpecification.none {
            throw ValidationError("none turns the camera off, so --light and --no-light have no camera to switch")
        }
    }

    func run() async throws {
        if let camera { try await perform(.camera(camera.withAbsolutePath)) }
        if let light { try await perform(.light(isOn: light)) }
    }
}

struct SetCommand: ControlCommand {
    static let configuration = CommandConfiguration(
        commandName: "set", abstract: "Change the video quality of a running share.",
        discussion: """
            Options that you leave out keep their values.

                rtcshare set --max-bitrate 1500 --hint text
            """)

    @Option(
        help: ArgumentHelp("Maximum video bitrate for each viewer, in kbit/s.", valueName: "kbps"),
        transform: OptionValue.videoBitrate)
    var maxBitrate: Int?

    @Option(help: QualityOptions.hintHelp())
    var hint: SharingOptions.Hint?

    @Option(help: QualityOptions.sizeHelp(), transform: OptionValue.size)
    var size: PixelSize?

    @Option(
        help: ArgumentHelp("Maximum frame rate, up to the frame rate of the source.", valueName: "n"),
        transform: OptionValue.frameRate)
    var maxFramerate: Double?

    @OptionGroup var share: ControlOptions

    func validate() throws {
        guard parameters != VideoEncodingParameters() else {
            throw ValidationError("nothing to change: give --max-bitrate, --hint, --size or --max-framerate")
        }
    }

    var parameters: VideoEncodingParameters {
        VideoEncodingParameters(
            maxBitrate: maxBitrate.map(DataRate.kilobitsPerSecond), maxFramerate: maxFramerate, maxSize: size,
            contentHint: hint?.contentHint)
    }

    func run() async throws { try await perform(.set(parameters)) }
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

struct InviteCommand: ControlCommand {
    static let configuration = CommandConfiguration(
        commandName: "invite", abstract: "Create an offer for one more viewer of a running share.",
        discussion: """
            The offer goes to standard output. Pass it to the viewer, save the viewer's answer, and accept it while the share is
            still running:

                rtcshare invite > offer.sdp
                rtcshare accept answer.sdp
            """)

    @OptionGroup var place: ViewerMembershipOptions

    @Flag(help: "Print the viewer's number and the offer as JSON.") var json = false

    @OptionGroup var share: ControlOptions

    func run() async throws {
        try await reportingFailure {
            let request = ControlRequest.invite(main: !place.noMain, subgroups: place.subgroup)
            let offer = try await share.connect().ask(request, ControlDescription.self)
            if json { return try StandardStreams.writeJSON(offer) }
            try StandardStreams.writeData(offer.sdp)
            let viewer = offer.viewer ?? 0
            Terminal.shared.say(
                "This offer is for viewer \(viewer). When you have the answer, run: rtcshare accept --viewer \(viewer) FILE"
            )
        }
    }
}

struct AcceptCommand: ControlCommand {
    static let configuration = CommandConfiguration(
        commandName: "accept", abstract: "Accept the answer of an invited viewer.",
        discussion: """
            The answer is the viewer's reply to an offer of rtcshare invite.

                rtcshare accept answer.sdp
                rtcshare accept --viewer 3 answer.sdp
            """)

    @Argument(
        help: ArgumentHelp("File with the viewer's answer, - for standard input.", valueName: "file"),
        completion: .file())
    var answer: String

    @Option(
        help: ArgumentHelp("The invited viewer whose answer this is. Needed if several are invited.", valueName: "n"),
        transform: OptionValue.viewer)
    var viewer: Int?

    @OptionGroup var share: ControlOptions

    func run() async throws { try await accept(answer, of: viewer) }
}

struct AdmitCommand: ControlCommand {
    static let configuration = CommandConfiguration(
        commandName: "admit", abstract: "Admit a waiting viewer.",
        discussion: "Viewers wait if the share was started with rtcshare serve --ask.")

    @Argument(help: ArgumentHelp("Number of the viewer, as rtcshare status lists it.", valueName: "n"))
    var viewer: String

    /// Before `accept` existed, `admit` also accepted an answer.
    @Option(name: .customLong("viewer"), help: .hidden, transform: OptionValue.viewer)
    var invited: Int?

    @OptionGroup var share: ControlOptions

    func validate() throws {
        guard invited == nil, Int(viewer) == nil, viewer != "-", !FileManager.default.fileExists(atPath: viewer) else {
            return
        }
        throw ValidationError("\(viewer): use the number of a viewer, as rtcshare status lists it")
    }

    func run() async throws {
        if invited == nil, let waiting = Int(viewer) { return try await perform(.admit(viewer: waiting)) }
        try await accept(viewer, of: invited)
    }
}

extension ControlCommand {
    /// Passes an invited viewer's answer to the share. This process reports errors in the text, with the line.
    fileprivate func accept(_ path: String, of viewer: Int?) async throws {
        try await reportingFailure {
            let client = try share.connect()
            let answer = try AnswerFile.read(path)
            let request = ControlRequest.accept(viewer: viewer, answer: answer.description)
            if let notice = try await client.ask(request, ControlNotice.self).notice { Terminal.shared.say(notice) }
        }
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

extension RoomMembership {
    /// Creates the membership of `--subgroup` and `--no-main`.
    init(main: Bool, subgroups names: [String]) throws {
        let subgroups = Set(try names.map { try Subgroup($0) })
        self = main ? RoomMembership(subgroups: subgroups) : try RoomMembership(onlySubgroups: subgroups)
    }
}
