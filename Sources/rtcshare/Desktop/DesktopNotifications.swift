internal import RTCShareCapture

/// The notifications of a share by the desktop's daemon (Desktop Notifications Specification 1.3).
final class DesktopNotifications {
    private static let path = "/org/freedesktop/Notifications"
    private static let name = "org.freedesktop.Notifications"

    private var daemon: BusService
    /// The features of the daemon; nil before it was asked.
    private var capabilities: Set<String>?
    /// Whether there is no daemon, or it does not answer. Nothing is shown until there is another one.
    private var isAbsent = false
    private var notices: [DesktopNotice] = []
    private var book = NotificationBook()
    /// The number of the notification about viewers who came; 0 without one.
    private var arrival: UInt32 = 0

    init(on bus: SessionBus) {
        daemon = BusService(Self.name, on: bus)
        bus.subscribe("type='signal',sender='\(Self.name)',path='\(Self.path)',interface='\(Self.name)'")
    }

    /// Shows these notifications as long as they are in the list of the last call, and the one about arrived viewers for some
    /// time.
    func show(_ notices: [DesktopNotice], arrival notice: DesktopNotice?) {
        self.notices = notices
        for id in book.close(except: notices) { close(id) }
        if notices.isEmpty, arrival != 0 {
            close(arrival)
            arrival = 0
        }
        update()
        if let notice { arrival = send(notice, replacing: arrival) ?? 0 }
    }

    private func update() {
        for change in book.changes(to: notices) {
            // One that the daemon refuses, of which it shows too many, is tried again after the next change.
            if let id = send(change.notice, replacing: change.replaced) { book.didShow(change.notice, as: id) }
        }
    }

    /// Returns the choice that a signal reports.
    func request(by signal: SessionBus.Signal) -> DesktopRequest? {
        if daemon.isReplaced(by: signal) {
            book.forget()
            (capabilities, isAbsent, arrival) = (nil, false, 0)
            // The next change starts a daemon that has ended.
            if daemon.owner != nil { update() }
        }
        guard daemon.hasSent(signal), signal.interface == Self.name, case .uint32(let id)? = signal.arguments.first
        else { return nil }
        switch signal.member {
        case "ActionInvoked": return book.request(id: id, key: signal.arguments.dropFirst().first?.text ?? "")
        case "NotificationClosed":
            book.didClose(id: id)
            if id == arrival { arrival = 0 }
            return nil
        default: return nil
        }
    }

    private func close(_ id: UInt32) { daemon.notify(Self.path, Self.name, "CloseNotification", [.uint32(id)]) }

    /// Shows a notification, and returns its number; nil without a daemon.
    private func send(_ notice: DesktopNotice, replacing replaced: UInt32) -> UInt32? {
        guard !isAbsent else { return nil }
        if capabilities == nil {
            capabilities = daemon.call(Self.path, Self.name, "GetCapabilities").values.map { answer in
                Set((answer.first?.elements ?? []).compactMap(\.text))
            }
        }
        guard let capabilities else {
            isAbsent = true
            return nil
        }
        let hasButtons = capabilities.contains("actions")
        let text = notice.text(isMarkup: capabilities.contains("body-markup"), hasButtons: hasButtons)
        let buttons = hasButtons ? notice.buttons.flatMap { [$0.key, $0.label] } : []
        let outcome = daemon.call(
            Self.path, Self.name, "Notify",
            [
                .string("rtcshare"), .uint32(replaced), .string("rtcshare"), .string(notice.summary), .string(text),
                .array(of: "s", buttons.map(BusValue.string)), .dictionary(notice.hints), .int32(notice.expiry),
            ])
        if case .silent = outcome { isAbsent = true }
        guard case .uint32(let id)? = outcome.values?.first else { return nil }
        return id
    }
}

extension DesktopNotice {
    fileprivate var hints: [String: BusValue] {
        var hints: [String: BusValue] = [
            "urgency": .byte(urgency.rawValue), "desktop-entry": .string(DesktopPortal.applicationID),
        ]
        switch subject {
        case .share: hints["resident"] = .boolean(true)
        case .arrival: hints["transient"] = .boolean(true)
        case .waiting: break
        }
        return hints
    }

    /// The milliseconds after which it disappears: never, or after the daemon's usual time.
    fileprivate var expiry: Int32 { subject == .arrival ? -1 : 0 }
}
