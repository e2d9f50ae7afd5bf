internal import FoundationEssentials
internal import RTCShareCapture
internal import RTCShareContentShare
internal import RTCShareSignaling

/// The presenter's choices for a share. The values are those of options of `rtcshare serve`, nil is the default.
struct ShareStart: Codable, Hashable, Sendable {
    /// The content, as for `--source`.
    var source: String?
    /// The sounds of the content, as for `--audio`.
    var audio: [String]?
    var microphone: String?
    var camera: String?
    var attendee: String?
    /// Whether viewers wait until they are admitted.
    var needsApproval: Bool?
    var hint: String?
    /// Whether the share is recorded from its start on.
    var isRecording: Bool?
    /// Whether the router is asked to forward the ports.
    var isOnInternet: Bool?
    /// Whether a pause shows a slate. This and the language are choices of the page, and no options.
    var hidesVideo: Bool?
    var language: String?

    /// The arguments of the command. A choice against a flag undoes that of the configuration file and the environment.
    var arguments: [String] {
        let values =
            [
                ("source", source), ("microphone", microphone), ("camera", camera), ("attendee", attendee),
                ("hint", hint),
            ]
            + (audio ?? []).map { ("audio", $0) }
        let flags = [("ask", needsApproval), ("internet", isOnInternet)]
        // The page announces the desktop's dialog, also if an earlier choice was saved.
        let choosesAnew = source.flatMap { try? SourceSpecification($0) }?.isChosenOnDesktop == true
        let options = values.compactMap { name, value in value.map { "--\(name)=\($0)" } }
        let choices = flags.compactMap { name, isOn in isOn.map { $0 ? "--\(name)" : "--no-\(name)" } }
        return ["serve"] + options + choices + (choosesAnew ? ["--choose"] : [])
    }

    /// Returns the command, with the options of the configuration file and the environment.
    func command() throws -> ServeCommand {
        guard let command = try RTCShareCommand.parsed(arguments) as? ServeCommand else {
            throw CommandFailure(.internalError, "these are not the options of a share")
        }
        return command
    }
}

/// Choices that the page changes without a start.
struct ChangedChoices: Codable, Hashable, Sendable {
    var source: String?
    var hidesVideo: Bool?
    var language: String?

    /// Stores these choices beside those that were stored before.
    /// - Throws: The reason if the source is invalid, or if they can't be stored.
    func keep() throws {
        if let source { _ = try SourceSpecification(source) }
        var kept = ShareStart(storedAt: ShareStart.path)
        kept.source = source ?? kept.source
        kept.hidesVideo = hidesVideo ?? kept.hidesVideo
        kept.language = language ?? kept.language
        try kept.lasting.store()
    }
}

/// The choices of the last share, for the next one.
extension ShareStart {
    /// The path `$XDG_STATE_HOME/rtcshare/present.json`, of mode 0600.
    static var path: String {
        URL(filePath: SessionFile.defaultPath).deletingLastPathComponent().appending(path: "present.json").path
    }

    /// Returns the stored choices; none if they can't be read.
    init(storedAt path: String = Self.path) {
        let text = try? SecretFile.readText(path, what: "choices", maximumBytes: 64 * 1024)
        let stored = text.flatMap { try? ControlJSON.decode(ShareStart.self, from: Array($0.utf8)) }
        self = stored ?? ShareStart()
    }

    /// These choices for the form, with those of the configuration file and the environment: what the form shows applies.
    /// Viewers who must ask by those also do so if the last share was open.
    var withConfiguration: ShareStart {
        guard let usual = try? ShareStart().command() else { return self }
        var shown = self
        shown.needsApproval = needsApproval == true || usual.link.ask
        shown.hint = hint ?? usual.quality.hint?.rawValue
        shown.isOnInternet = isOnInternet ?? usual.link.internet
        return shown
    }

    /// Stores these choices. Those of the page alone stay if this has none.
    func keep() throws {
        let stored = ShareStart(storedAt: Self.path)
        var kept = lasting
        kept.hidesVideo = hidesVideo ?? stored.hidesVideo
        kept.language = language ?? stored.language
        try kept.store()
    }

    /// The choices for another session, in which windows have other numbers: the title names this one. Nobody is recorded
    /// because an earlier share was.
    var lasting: ShareStart {
        var lasting = self
        lasting.isRecording = nil
        guard let source, case .window(.id(let id))? = try? SourceSpecification(source) else { return lasting }
        let display = ProcessInfo.processInfo.environment["DISPLAY"]
        let windows = (try? WindowSource.windows(display: display, includingMinimized: true)) ?? []
        let title = windows.first { $0.id == id }?.title ?? ""
        if !title.isEmpty { lasting.source = SourceSpecification.window(.title(title)).description }
        return lasting
    }

    /// Stores the choices.
    func store(at path: String = Self.path) throws {
        try FileManager.default.createDirectory(
            at: URL(filePath: path).deletingLastPathComponent(), withIntermediateDirectories: true,
            attributes: [.posixPermissions: 0o700])
        try PrivateFile(path: path).write(try Data(ControlJSON.encode(self)))
    }
}
