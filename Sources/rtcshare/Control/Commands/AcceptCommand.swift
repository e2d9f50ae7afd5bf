internal import ArgumentParser
internal import FoundationEssentials
internal import RTCShareSDP

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
            let client = try await share.connect()
            let answer = try AnswerFile.read(path)
            let request = ControlRequest.accept(viewer: viewer, answer: answer.description)
            if let notice = try await client.ask(request, ControlNotice.self).notice { Terminal.shared.say(notice) }
        }
    }
}
