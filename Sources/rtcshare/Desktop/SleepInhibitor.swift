internal import RTCShareCapture

/// Keeps the machine from sleep, and the screen from being locked.
///
/// If the program ends in any way, the desktop notices the end of its connection, and inhibits no more.
final class SleepInhibitor {
    private enum Hold {
        case portal(handle: String)
        case screenSaver(cookie: UInt32)
    }

    private static let reason = BusValue.string("Viewers are watching your screen")
    private static let screenSaver = "org.freedesktop.ScreenSaver"
    private static let screenSaverPath = "/org/freedesktop/ScreenSaver"
    /// The flags of the portal for suspend and idle.
    private static let flags: UInt32 = 4 | 8

    private let portal: DesktopPortal
    private var screenSaver: BusService
    private var hold: Hold?
    private var isWanted = false

    init(_ portal: DesktopPortal, on bus: SessionBus) {
        self.portal = portal
        screenSaver = BusService(Self.screenSaver, on: bus)
    }

    /// Inhibits from now on, or no more.
    func set(_ isWanted: Bool) {
        guard isWanted != self.isWanted else { return }
        self.isWanted = isWanted
        if isWanted { take() } else { release() }
    }

    /// Inhibits again if this signal says that the service has changed.
    func receive(_ signal: SessionBus.Signal, isPortalReplaced: Bool) {
        let isScreenSaverReplaced = screenSaver.isReplaced(by: signal)
        switch hold {
        case .portal where isPortalReplaced: hold = nil
        case .screenSaver where isScreenSaverReplaced: hold = nil
        case .portal, .screenSaver: return
        case nil: guard isPortalReplaced || isScreenSaverReplaced else { return }
        }
        if isWanted { take() }
    }

    private func take() {
        let token = portal.token()
        let options = BusValue.dictionary(["reason": Self.reason, "handle_token": .string(token)])
        let outcome = portal.call(
            "org.freedesktop.portal.Inhibit", "Inhibit", [.string(""), .uint32(Self.flags), options])
        switch outcome {
        case .answered(let values): hold = values.first?.text.map { .portal(handle: $0) }
        // A portal that is being started inhibits later, and must be told the end.
        case .silent: hold = .portal(handle: portal.requestPath(token))
        case .refused:
            if case .uint32(let cookie)? = screenSaver.call(
                Self.screenSaverPath, Self.screenSaver, "Inhibit", [.string("rtcshare"), Self.reason]
            ).values?.first {
                hold = .screenSaver(cookie: cookie)
            }
        }
    }

    private func release() {
        switch hold {
        case .portal(let handle): portal.notify(handle, PortalRequests.request, "Close")
        case .screenSaver(let cookie):
            screenSaver.notify(Self.screenSaverPath, Self.screenSaver, "UnInhibit", [.uint32(cookie)])
        case nil: break
        }
        hold = nil
    }
}
