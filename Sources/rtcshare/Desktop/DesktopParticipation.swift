internal import Glibc
internal import RTCShareCapture
internal import RTCShareLocks
internal import RTCShareSignaling

/// The part of the desktop in a share: its notifications, shortcuts and inhibited sleep. A desktop that lacks one of them
/// lacks nothing else.
///
/// The notifications have a connection of their own, so that none waits for a slow portal.
final class DesktopParticipation: Sendable {
    enum Event: Sendable {
        case request(DesktopRequest)
        /// The bus is gone, because the session has ended.
        case sessionEnded
    }

    /// The time for the services to accept the last messages.
    private static let closingTime = Duration.seconds(1)

    /// The person's choices, which end with the session.
    let events: AsyncStream<Event>
    private let continuation: AsyncStream<Event>.Continuation
    private let clients: [DesktopClient]

    /// Takes part over the bus at an address. Returns nil if the system has no threads left for it.
    init?(at address: String) {
        let (events, continuation) = AsyncStream.makeStream(of: Event.self)
        (self.events, self.continuation) = (events, continuation)
        let tell = { @Sendable (event: Event) in _ = continuation.yield(event) }
        let clients = [
            DesktopClient.start(at: address, tell) { ShareNotifications(on: $0) },
            DesktopClient.start(at: address, tell) { SharePortals(on: $0) },
        ].compactMap { $0 }
        guard !clients.isEmpty else { return nil }
        self.clients = clients
    }

    /// Shows the state of the share; nil if nothing is shared.
    func show(_ share: ControlledShare?) {
        for client in clients { client.show(share) }
    }

    /// Removes all notifications, and inhibits nothing.
    func close() async {
        for client in clients { client.close() }
        await withTimeLimit(Self.closingTime) { [clients] in
            for client in clients { await client.finish() }
        }
        continuation.finish()
    }
}

/// Services of the desktop for a share, which are used on one thread.
private protocol DesktopServices {
    /// Shows the state of the share; nil if nothing is shared.
    mutating func show(_ share: ControlledShare?)
    /// Handles a signal of the bus, and returns the choice that it reports.
    mutating func receive(_ signal: SessionBus.Signal) -> DesktopRequest?
}

private struct ShareNotifications: DesktopServices {
    let notifications: DesktopNotifications
    var viewers = KnownViewers()

    init(on bus: SessionBus) { notifications = DesktopNotifications(on: bus) }

    mutating func show(_ share: ControlledShare?) {
        let arrival = DesktopNotice.notice(arrived: viewers.arrivals(in: share))
        notifications.show(share.map(DesktopNotice.notices) ?? [], arrival: arrival)
    }

    func receive(_ signal: SessionBus.Signal) -> DesktopRequest? { notifications.request(by: signal) }
}

private struct SharePortals: DesktopServices {
    let portal: DesktopPortal
    let inhibitor: SleepInhibitor
    let shortcuts: DesktopShortcuts

    init(on bus: SessionBus) {
        portal = DesktopPortal(on: bus)
        inhibitor = SleepInhibitor(portal, on: bus)
        shortcuts = DesktopShortcuts(portal, on: bus)
    }

    func show(_ share: ControlledShare?) {
        inhibitor.set(share?.isWatched == true)
        if share != nil { shortcuts.start() }
    }

    func receive(_ signal: SessionBus.Signal) -> DesktopRequest? {
        let isPortalReplaced = portal.isReplaced(by: signal)
        inhibitor.receive(signal, isPortalReplaced: isPortalReplaced)
        return shortcuts.request(by: signal, isPortalReplaced: isPortalReplaced)
    }
}

/// A connection to the session bus with a thread of its own, which waits for services that can be slow, and sleeps until one of
/// them or the share has changed.
private final class DesktopClient: Sendable {
    private struct Inbox {
        var share: ControlledShare?
        var hasChanged = false
        /// Whether a share has ended, after which another one can have begun.
        var hasEnded = false
        var isClosed = false
    }

    /// The signals after which the share is looked at, so that a program that sends them without end can't hide it.
    private static let signalsInTurn = 100

    private let inbox = Locked(Inbox())
    private let bell: Bell
    private let thread = Locked<WorkerThread?>(nil)

    private init(_ bell: Bell) { self.bell = bell }

    /// Uses the services that `make` creates. Returns nil if the system has no thread left for it.
    static func start(
        at address: String, _ tell: @escaping @Sendable (DesktopParticipation.Event) -> Void,
        _ make: @escaping @Sendable (SessionBus) -> any DesktopServices
    ) -> DesktopClient? {
        guard let bell = Bell() else { return nil }
        let client = DesktopClient(bell)
        let thread = try? WorkerThread(named: "desktop") {
            guard let bus = try? SessionBus(address: address) else { return }
            var services = make(bus)
            client.run(&services, on: bus, tell)
        }
        guard let thread else { return nil }
        client.thread.withLock { $0 = thread }
        return client
    }

    func show(_ share: ControlledShare?) {
        let hasChanged = inbox.withLock { inbox in
            defer { inbox.share = share }
            if let share, let known = inbox.share, !share.differs(from: known, inMeasurements: false) { return false }
            inbox.hasChanged = true
            if share == nil { inbox.hasEnded = true }
            return true
        }
        if hasChanged { bell.ring() }
    }

    /// Shows no share from now on, and ends.
    func close() {
        inbox.withLock { $0.isClosed = true }
        bell.ring()
    }

    func finish() async { await thread.withLock { $0 }?.finish() }

    private func run(
        _ services: inout any DesktopServices, on bus: SessionBus, _ tell: (DesktopParticipation.Event) -> Void
    ) {
        while bus.isConnected {
            bell.silence()
            let news = inbox.withLock { inbox in
                defer { (inbox.hasChanged, inbox.hasEnded) = (false, false) }
                return inbox
            }
            if news.isClosed { return services.show(nil) }
            if news.hasEnded { services.show(nil) }
            if news.hasChanged, let share = news.share { services.show(share) }
            var left = Self.signalsInTurn
            while left > 0, let signal = bus.nextSignal() {
                if let request = services.receive(signal) { tell(.request(request)) }
                left -= 1
            }
            if left > 0, bus.isConnected { bus.wait(orReadable: bell.descriptor) }
        }
        tell(.sessionEnded)
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
