internal import RTCShareCapture

/// The shortcuts of the whole desktop for a share (`org.freedesktop.portal.GlobalShortcuts`).
///
/// The desktop asks the person once which keys they are. Nothing waits for that answer.
final class DesktopShortcuts {
    private enum State {
        case unused
        /// The portal creates a session, and answers by this object.
        case creating(request: String)
        case bound(session: String)
    }

    private struct Shortcut {
        let id: String
        let description: String
        let keys: String
        let request: DesktopRequest
    }

    private static let interface = "org.freedesktop.portal.GlobalShortcuts"
    private static let shortcuts = [
        Shortcut(
            id: "pause", description: "Pause or resume the share", keys: "CTRL+ALT+SHIFT+p", request: .togglePause),
        Shortcut(id: "mute", description: "Mute or unmute the share", keys: "CTRL+ALT+SHIFT+m", request: .toggleMute),
    ]

    private let portal: DesktopPortal
    private let bus: SessionBus
    private var isWanted = false
    private var state = State.unused

    init(_ portal: DesktopPortal, on bus: SessionBus) { (self.portal, self.bus) = (portal, bus) }

    /// Binds the shortcuts, for the first share.
    func start() {
        guard !isWanted else { return }
        isWanted = true
        for rule in ["interface='\(PortalRequests.request)'", "interface='\(Self.interface)',member='Activated'"] {
            bus.subscribe("type='signal',sender='\(PortalRequests.service)',\(rule)")
        }
        create()
    }

    private func create() {
        let token = portal.token()
        let options: [String: BusValue] = [
            "handle_token": .string(token), "session_handle_token": .string(portal.token()),
        ]
        switch portal.call(Self.interface, "CreateSession", [.dictionary(options)]) {
        case .answered(let values): state = values.first?.text.map { .creating(request: $0) } ?? .unused
        case .silent: state = .creating(request: portal.requestPath(token))
        case .refused: state = .unused
        }
    }

    private func bind(_ session: String) {
        let shortcuts = Self.shortcuts.map { shortcut in
            BusValue.structure([
                .string(shortcut.id),
                .dictionary([
                    "description": .string(shortcut.description), "preferred_trigger": .string(shortcut.keys),
                ]),
            ])
        }
        let outcome = portal.call(
            Self.interface, "BindShortcuts",
            [
                .objectPath(session), .array(of: "(sa{sv})", shortcuts), .string(""),
                .dictionary(["handle_token": .string(portal.token())]),
            ])
        if case .refused = outcome { state = .unused } else { state = .bound(session: session) }
    }

    /// Returns the choice that a signal reports.
    func request(by signal: SessionBus.Signal, isPortalReplaced: Bool) -> DesktopRequest? {
        if isPortalReplaced {
            state = .unused
            if isWanted, portal.isPresent { create() }
        }
        guard portal.hasSent(signal) else { return nil }
        let arguments = signal.arguments
        switch state {
        case .creating(let request) where signal.path == request && signal.member == "Response":
            let session = arguments.count > 1 ? arguments[1]["session_handle"]?.text : nil
            if arguments.first?.number == 0, let session { bind(session) } else { state = .unused }
            return nil
        case .bound(let session) where signal.interface == Self.interface && signal.member == "Activated":
            guard arguments.count > 1, arguments[0].text == session else { return nil }
            return Self.shortcuts.first { $0.id == arguments[1].text }?.request
        case .unused, .creating, .bound: return nil
        }
    }
}
