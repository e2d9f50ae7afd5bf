internal import RTCShareMedia

/// A request to a running share. ``ControlRoute`` has the HTTP request for each.
enum ControlRequest: Hashable, Sendable {
    case status
    case stop
    case pause(slate: Bool)
    case resume
    case source(SourceSpecification)
    /// Another camera of the presenter, or `none`.
    case camera(CameraSpecification)
    case light(isOn: Bool)
    /// Properties that are nil stay unchanged, except those that the share chooses itself from now on.
    case set(VideoEncodingParameters, automatic: Set<AutomaticParameter> = [])
    case mute(ControlledSounds)
    case unmute(ControlledSounds)
    /// Unmutes the audio that the last mute of all audio has silenced.
    case unmuteSilenced
    case destination(name: String)
    case join(subgroup: String)
    case leave(subgroup: String)
    case invite(main: Bool, subgroups: [String])
    case accept(viewer: Int?, answer: String)
    /// Admits a waiting viewer of the link.
    case admit(viewer: Int)
    case kick(viewer: Int)
    /// Sends the content to the presenter's page, which offers to receive it.
    case openPreview(offer: String)
    case closePreview(Int)
    case lock
    case unlock
    case link(subgroup: String?)
    /// The QR code of the best link for other machines.
    case linkCode
    /// The rates of the last minutes.
    case history
    /// Starts or ends a recording.
    case record(Bool)
    /// Makes new viewers wait until they are admitted, or not.
    case setApproval(isNeeded: Bool)
    /// Serves the presenter's page, if that is not done yet.
    case openPage
    /// Starts a share.
    case start(ShareStart)
    /// The choices of the last share that was started so.
    case choices
    /// Changes some of these choices, for the next share.
    case keep(ChangedChoices)
    /// The sources of this machine.
    case sources
    /// Whether the router forwards ports.
    case router
}

/// A parameter of the video that a share chooses itself if the presenter does not.
enum AutomaticParameter: Hashable, Sendable {
    case maxBitrate
    case contentHint
}

/// The audio that `rtcshare mute` mutes.
enum ControlledSounds: Hashable, Sendable {
    case all
    case audio
    case microphone
}

/// The answer of a running share.
enum ControlAnswer: Hashable, Sendable {
    /// The request succeeded; `notice` is a sentence about the change.
    case done(notice: String?)
    case status(ControlledShare)
    /// The offer for an invited viewer.
    case offer(viewer: Int, description: String)
    /// The answer of a preview.
    case preview(Int, answer: String)
    /// The links of the share, or of a subgroup, best first.
    case links([ControlLinks.Place])
    case history(ControlHistory)
    /// The link of the presenter's page.
    case page(url: String)
    /// A file of this media type.
    case content(type: String, [UInt8])
    /// The request failed, with the exit status, the reason, the alternatives, and a remedy.
    case failed(status: Int32, reason: String, list: [String] = [], remedy: String?)

    /// Creates the answer with a message.
    init(json message: some Encodable) throws {
        self = .content(type: "application/json", try ControlJSON.encode(message))
    }

    init(_ failure: CommandFailure) {
        self = .failed(
            status: failure.status.rawValue, reason: failure.problem.first ?? "",
            list: failure.problem.dropFirst().map(\.trimmed), remedy: failure.remedy)
    }
}
