internal import RTCShareCapture
internal import RTCSharePeerConnection
internal import RTCShareWireFormat

/// A notification of the desktop about a share.
struct DesktopNotice: Hashable, Sendable {
    enum Subject: Hashable, Sendable {
        /// The share, which the notification shows as long as it runs.
        case share
        /// A viewer who waits for admission.
        case waiting(viewer: Int)
        /// Viewers who came without asking.
        case arrival
    }

    struct Button: Hashable, Sendable {
        /// The identifier of the button in its notification.
        let key: String
        let label: String
        let request: DesktopRequest
    }

    /// The importance of a notification.
    enum Urgency: UInt8, Sendable {
        case low, normal, critical
    }

    let subject: Subject
    let summary: String
    let body: [String]
    var buttons: [Button] = []
    /// The line that replaces the buttons on a desktop without them.
    var remedy: String?

    var urgency: Urgency {
        switch subject {
        case .share: .low
        case .waiting: .critical
        case .arrival: .normal
        }
    }

    /// Returns the text below the summary. Names of viewers and windows are foreign text, and can look like markup.
    func text(isMarkup: Bool, hasButtons: Bool) -> String {
        let lines = body + (hasButtons ? [] : [remedy].compactMap { $0 })
        let text = lines.map(\.printable).joined(separator: "\n")
        guard isMarkup else { return text }
        return text.replacing("&", with: "&amp;").replacing("<", with: "&lt;").replacing(">", with: "&gt;")
    }
}

extension DesktopNotice {
    /// The maximum number of open notifications about waiting viewers: a link can reach a crowd, and the page lists all.
    static let mostWaiting = 3

    /// Whether it is about a viewer who waits.
    var isWaiting: Bool { if case .waiting = subject { true } else { false } }

    /// Returns the notifications for a share's state.
    static func notices(of share: ControlledShare) -> [DesktopNotice] {
        let waiting = share.viewers.lazy.filter { $0.isWaiting && $0.state.hasConnected }
        return [notice(of: share)] + waiting.map(notice(waiting:))
    }

    private static func notice(of share: ControlledShare) -> DesktopNotice {
        let isPaused = share.state == .paused
        let paused = "Viewers see \(share.isSlateShown ? "a slate" : "the last frame")."
        return DesktopNotice(
            subject: .share, summary: isPaused ? "Your share is paused" : "You are sharing",
            body: ["Source: \(words(ofSource: share.source))"] + (isPaused ? [paused] : [])
                + (share.isMuted ? ["Your audio is muted."] : []),
            buttons: [
                Button(key: "stop", label: "Stop", request: .stop),
                isPaused
                    ? Button(key: "resume", label: "Resume", request: .resume)
                    : Button(key: "pause", label: "Pause", request: .pause),
                Button(key: "page", label: "Open page", request: .openPage),
            ])
    }

    /// Returns what the presenter chose. Numbers and options are for terminals.
    private static func words(ofSource text: String) -> String {
        switch try? SourceSpecification(text) {
        case .display(let output): output.map { "screen \($0)" } ?? "screen"
        case .region: "region of the screen"
        case .window(.title(let title)): "window “\(title)”"
        case .window: "window"
        case .camera(let name): name.map { "camera “\($0)”" } ?? "camera"
        case .portal: "your choice on the desktop"
        default: text
        }
    }

    private static func notice(waiting viewer: ControlledShare.Viewer) -> DesktopNotice {
        DesktopNotice(
            subject: .waiting(viewer: viewer.id), summary: "A viewer asks to watch", body: [viewer.words],
            buttons: [
                Button(key: "admit", label: "Admit", request: .admit(viewer: viewer.id)),
                Button(key: "decline", label: "Decline", request: .decline(viewer: viewer.id)),
            ], remedy: "Admit or decline the viewer on your page.")
    }

    /// Returns the notification about viewers who came; nil without any.
    static func notice(arrived viewers: [ControlledShare.Viewer]) -> DesktopNotice? {
        guard !viewers.isEmpty else { return nil }
        return DesktopNotice(
            subject: .arrival, summary: viewers.count == 1 ? "A viewer is here" : "\(viewers.count) viewers are here",
            body: viewers.prefix(mostWaiting).map(\.words))
    }
}

extension ControlledShare.Viewer {
    /// The name, without the address: the notification can be on the shared screen.
    fileprivate var words: String { "Viewer \(id)" + (browser.map { " (\($0))" } ?? "") }
}

/// The viewers of a share who were seen before, to find those who came.
struct KnownViewers {
    /// The numbers of all viewers since the share began; nil before the first state.
    private var ids: Set<Int>?

    /// Returns the viewers who came since the last state, without those who had to be admitted.
    mutating func arrivals(in share: ControlledShare?) -> [ControlledShare.Viewer] {
        guard let share else {
            ids = nil
            return []
        }
        let present = share.viewers.filter { $0.state.hasConnected }
        defer { ids = (ids ?? []).union(present.map(\.id)) }
        guard let ids else { return [] }
        return present.filter { !$0.isWaiting && !ids.contains($0.id) }
    }
}
