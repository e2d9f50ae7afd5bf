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
    /// Properties that are nil stay unchanged.
    case set(VideoEncodingParameters)
    case mute(ControlledSounds)
    case unmute(ControlledSounds)
    case destination(name: String)
    case join(subgroup: String)
    case leave(subgroup: String)
    case invite(main: Bool, subgroups: [String])
    case accept(viewer: Int?, answer: String)
    /// Admits a waiting viewer of the link.
    case admit(viewer: Int)
    case kick(viewer: Int)
    case lock
    case unlock
    case link(subgroup: String?)
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
    /// The links of the share, or of a subgroup, best first.
    case links([String])
    /// The request failed, with the exit status, the reason, the alternatives, and a remedy.
    case failed(status: Int32, reason: String, list: [String] = [], remedy: String?)

    init(_ failure: CommandFailure) {
        self = .failed(
            status: failure.status.rawValue, reason: failure.problem.first ?? "",
            list: failure.problem.dropFirst().map(\.trimmed), remedy: failure.remedy)
    }
}
