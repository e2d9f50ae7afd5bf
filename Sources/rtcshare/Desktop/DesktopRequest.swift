internal import RTCSharePeerConnection
internal import RTCShareSignaling

/// A presenter's choice in a notification or by a shortcut of the desktop.
enum DesktopRequest: Hashable, Sendable {
    case admit(viewer: Int)
    case decline(viewer: Int)
    case pause
    case resume
    case stop
    /// Opens the presenter's page in the browser.
    case openPage
    /// Pauses a running share, or resumes a paused one.
    case togglePause
    /// Mutes all audio, or unmutes what that has silenced.
    case toggleMute

    /// The control request in a share's state; nil for a change that does not fit the state. With `hidesVideo`, a pause shows
    /// a slate.
    func request(in share: ControlledShare, hidesVideo: Bool) -> ControlRequest? {
        let isPaused = share.state == .paused
        switch self {
        case .admit(let viewer): return .admit(viewer: viewer)
        case .decline(let viewer):
            // A viewer whom the page has admitted meanwhile stays.
            return share.viewers.contains { $0.id == viewer && $0.isWaiting } ? .kick(viewer: viewer) : nil
        case .pause: return isPaused ? nil : .pause(slate: hidesVideo)
        case .resume: return isPaused ? .resume : nil
        case .togglePause: return isPaused ? .resume : .pause(slate: hidesVideo)
        case .toggleMute: return share.isMuted ? .unmuteSilenced : .mute(.all)
        case .stop: return .stop
        case .openPage: return .openPage
        }
    }
}

extension ControlledShare {
    /// Whether the share has audio, and all of it is muted.
    var isMuted: Bool {
        let hasAudio = sounds?.isEmpty == false
        guard hasAudio || microphone != nil else { return false }
        return (isAudioMuted || !hasAudio) && (isMicrophoneMuted || microphone == nil)
    }

    /// Whether a viewer who was admitted, or a server, receives the share.
    var isWatched: Bool {
        viewers.contains { !$0.isWaiting && $0.state.hasConnected }
            || servers.contains { $0.state == .published || $0.state == .disconnected }
    }
}
