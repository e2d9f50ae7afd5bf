/// The notifications on the desktop, with the numbers that its daemon gave them.
struct NotificationBook {
    private struct Entry {
        var notice: DesktopNotice
        let id: UInt32
        /// Whether the daemon has not reported the end of the notification.
        var isOpen = true
        /// Whether a button was pressed, after which most daemons close the notification.
        var wasUsed = false
    }

    private var entries: [DesktopNotice.Subject: Entry] = [:]

    /// A notification to show, and the number of the one that it replaces; 0 without one.
    struct Change: Hashable {
        let notice: DesktopNotice
        let replaced: UInt32
    }

    /// Removes the notifications that are not in `notices`, and returns their numbers.
    mutating func close(except notices: [DesktopNotice]) -> [UInt32] {
        let kept = Set(notices.map(\.subject))
        let closed = entries.filter { !kept.contains($0.key) }
        for subject in closed.keys { entries[subject] = nil }
        // A report can be about the notification that this one has replaced, with the same number.
        return closed.values.map(\.id).sorted()
    }

    /// Returns the notifications that are new or differ from the shown ones. One that the person has closed stays closed,
    /// and makes room for another viewer who waits.
    func changes(to notices: [DesktopNotice]) -> [Change] {
        var waiting = entries.values.count { $0.isOpen && $0.notice.isWaiting }
        return notices.compactMap { notice in
            guard let entry = entries[notice.subject] else {
                if notice.isWaiting { waiting += 1 }
                return notice.isWaiting && waiting > DesktopNotice.mostWaiting
                    ? nil : Change(notice: notice, replaced: 0)
            }
            guard entry.isOpen, entry.notice != notice else { return nil }
            return Change(notice: notice, replaced: entry.id)
        }
    }

    /// Records that a notification is shown.
    mutating func didShow(_ notice: DesktopNotice, as id: UInt32) {
        entries[notice.subject] = Entry(notice: notice, id: id)
    }

    /// Returns the choice by a button; nil for buttons of other programs' notifications.
    mutating func request(id: UInt32, key: String) -> DesktopRequest? {
        guard let (subject, entry) = entries.first(where: { $0.value.id == id && $0.value.isOpen }),
            let button = entry.notice.buttons.first(where: { $0.key == key })
        else { return nil }
        entries[subject]?.wasUsed = true
        return button.request
    }

    /// Records that the daemon has closed a notification. If that is the share's, and one of its buttons was pressed, it is
    /// shown again after the next change.
    mutating func didClose(id: UInt32) {
        guard let (subject, entry) = entries.first(where: { $0.value.id == id }) else { return }
        if entry.wasUsed, subject == .share { entries[subject] = nil } else { entries[subject]?.isOpen = false }
    }

    /// Forgets all notifications: another daemon gives other numbers.
    mutating func forget() { entries = [:] }
}
