internal import Glibc
internal import RTCShareCapture
internal import RTCShareLocks
internal import RTCShareSignaling

/// The part of the desktop in a share: its notifications, shortcuts and inhibited sleep. A desktop that lacks one of them
/// lacks nothing else.
///
/// A thread of its own waits for the desktop's services, which can be slow, and sleeps until one of them or the share has
/// changed.
final class DesktopParticipation: Sendable {
    enum Event: Sendable {
        case request(DesktopRequest)
        /// The bus is gone, because the session has ended.
        case sessionEnded
    }

    private struct Inbox {
        var share: ControlledShare?
        var hasChanged = false
        var isClosed = false
    }

    /// The time for the services to accept the last messages.
    private static let closingTime = Duration.seconds(1)

    /// The person's choices, which end with the session.
    let events: AsyncStream<Event>
    private let continuation: AsyncStream<Event>.Continuation
    private let inbox = Locked(Inbox())
    private let bell: Bell
    private let thread = Locked<WorkerThread?>(nil)

    private init(_ bell: Bell) {
        self.bell = bell
        (events, continuation) = AsyncStream.makeStream(of: Event.self)
    }

    /// Takes part over the bus at an address. Returns nil if the system has no thread left for it.
    static func start(at address: String) -> DesktopParticipation? {
        guard let bell = Bell() else { return nil }
        let desktop = DesktopParticipation(bell)
        let thread = try? WorkerThread(named: "desktop") {
            if let bus = try? SessionBus(address: address) { desktop.run(on: bus) }
            desktop.continuation.finish()
        }
        guard let thread else { return nil }
        desktop.thread.withLock { $0 = thread }
        return desktop
    }

    /// Shows the state of the share; nil if nothing is shared.
    func show(_ share: ControlledShare?) {
        let hasChanged = inbox.withLock { inbox in
            defer { inbox.share = share }
            if let share, let known = inbox.share, !share.differs(from: known, inMeasurements: false) { return false }
            inbox.hasChanged = true
            return true
        }
        if hasChanged { bell.ring() }
    }

    /// Removes all notifications, and inhibits nothing.
    func close() async {
        inbox.withLock { $0.isClosed = true }
        bell.ring()
        guard let thread = thread.withLock({ $0 }) else { return }
        await withTimeLimit(Self.closingTime) { await thread.finish() }
    }

    private func run(on bus: SessionBus) {
        let notifications = DesktopNotifications(on: bus)
        let portal = DesktopPortal(on: bus)
        let inhibitor = SleepInhibitor(portal, on: bus)
        let shortcuts = DesktopShortcuts(portal, on: bus)
        var viewers = KnownViewers()
        while bus.isConnected {
            bell.silence()
            let news = inbox.withLock { inbox in
                defer { inbox.hasChanged = false }
                return inbox
            }
            if news.isClosed {
                notifications.show([], arrival: nil)
                return inhibitor.set(false)
            }
            if news.hasChanged {
                let arrival = DesktopNotice.notice(arrived: viewers.arrivals(in: news.share))
                notifications.show(news.share.map(DesktopNotice.notices) ?? [], arrival: arrival)
                inhibitor.set(news.share?.isWatched == true)
                if news.share != nil { shortcuts.start() }
            }
            while let signal = bus.nextSignal() {
                let isPortalReplaced = portal.isReplaced(by: signal)
                inhibitor.receive(signal, isPortalReplaced: isPortalReplaced)
                let requests = [
                    notifications.request(by: signal),
                    shortcuts.request(by: signal, isPortalReplaced: isPortalReplaced),
                ]
                for request in requests.compactMap({ $0 }) { continuation.yield(.request(request)) }
            }
            if bus.isConnected { bus.wait(orReadable: bell.descriptor) }
        }
        continuation.yield(.sessionEnded)
    }
}

/// Wakes the thread that waits for a descriptor.
private final class Bell: Sendable {
    let descriptor: Int32
    private let writingEnd: Int32

    init?() {
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { return nil }
        for end in ends {
            _ = fcntl(end, F_SETFD, FD_CLOEXEC)
            _ = fcntl(end, F_SETFL, O_NONBLOCK)
        }
        (descriptor, writingEnd) = (ends[0], ends[1])
    }

    deinit {
        close(descriptor)
        close(writingEnd)
    }

    /// Makes the descriptor readable. It is already if the pipe is full.
    func ring() {
        var byte: UInt8 = 1
        _ = write(writingEnd, &byte, 1)
    }

    /// Makes the descriptor unreadable.
    func silence() {
        var bytes = [UInt8](repeating: 0, count: 64)
        while read(descriptor, &bytes, bytes.count) > 0 {}
    }
}
