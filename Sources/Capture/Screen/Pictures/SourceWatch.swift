import RTCShareCXCB
import RTCShareMedia

/// The work of the thread of ``SourcePictures``, on one connection.
///
///     list, read everything once ─▶ wait for events ─▶ list again, at most once a second
///                                        ▲ │
///                                        │ └─▶ read a damaged part: each at most every two seconds, all at most four
///                                        │     times a second, and send its image if it is another one
///                                        └─────────────┘
///
/// Without a compositor, reading a window makes its program draw. The damage of that must not cause the next reading:
/// see ``WatchedPart``.
final class SourceWatch {
    private let connection: XConnection
    private let list: WindowList
    private let atoms: WindowAtoms
    private let thumbnails: WindowThumbnails
    private var images: ImageReader
    private let showsScreen: Bool
    private let send: (SourcePictures.Event) -> Void
    /// Called after pixels were read.
    private let didRead: () -> Void
    private let damageEvent: UInt8?
    private let geometryEvents: EventTypes
    /// Whether the server can keep pixels of windows, so that they have images.
    private let hasComposite: Bool

    private var contents: DisplayContents?
    private var isScreenOutdated = true
    /// The time at which the contents are listed again; nil if they are current.
    private var listTime: Duration?
    private var newestList = Duration.zero
    private var newestRead = Duration.zero
    private var parts: [xcb_window_t: WatchedPart] = [:]
    /// The windows by the numbers of their damage.
    private var windows: [xcb_damage_damage_t: xcb_window_t] = [:]
    /// The hashes of the newest images.
    private var hashes: [SourcePictures.Subject: Int] = [:]

    private static let listInterval = Duration.seconds(1)
    /// The delay of a list after an event, because several events have the same cause.
    private static let listDelay = Duration.milliseconds(100)
    private static let readInterval = Duration.milliseconds(250)
    private static let events = WindowSubject.events

    init(
        connection: XConnection, bound: PixelSize, showsScreen: Bool, send: @escaping (SourcePictures.Event) -> Void,
        didRead: @escaping () -> Void
    ) throws(CaptureError) {
        self.connection = connection
        self.showsScreen = showsScreen
        self.send = send
        self.didRead = didRead
        list = try WindowList(connection: connection)
        atoms = try WindowAtoms(on: connection)
        thumbnails = try WindowThumbnails(connection: connection, laterEvents: Self.events)
        images = ImageReader(connection: connection, bound: bound)
        damageEvent = try connection.queryDamage(signal: nil)
        geometryEvents = connection.watchGeometry()
        // The windows of the screen show when one is opened, also without a window manager's list.
        var mask = Self.events | XCB_EVENT_MASK_SUBSTRUCTURE_NOTIFY.rawValue
        xcb_change_window_attributes(connection.handle, connection.root, XCB_CW_EVENT_MASK.rawValue, &mask)
        hasComposite = try connection.queryComposite()
    }

    /// Sends events until the signal is raised. Throws if the display fails.
    func run(until signal: StopSignal) throws(CaptureError) {
        try updateContents()
        try readAll(signal)
        while !signal.isRaised {
            xcb_flush(connection.handle)
            try connection.drainEvents(handle)
            let now = monotonicNow()
            if let listTime, listTime <= now {
                try updateContents()
                continue
            }
            clearEchoes(now)
            let next = nextPart
            if let next, next.time <= now {
                try read(next.window, signal)
                continue
            }
            let times = [listTime, next?.time, parts.values.compactMap(\.echoTime).min()]
            if next == nil { images.rest() }
            // Requests of this pass may have fetched events.
            xcb_flush(connection.handle)
            let deadline = times.compactMap { $0 }.min() ?? now + .seconds(3600)
            guard connection.waitForInput(until: deadline, signal: signal) else { return }
        }
    }

    /// The damaged part to read next, with the earliest time for it.
    private var nextPart: (window: xcb_window_t, time: Duration)? {
        let damaged = parts.compactMap { window, part in part.readTime.map { (window: window, time: $0) } }
        guard let next = damaged.min(by: { $0.time < $1.time }) else { return nil }
        return (next.window, max(next.time, newestRead + Self.readInterval))
    }

    private func handle(_ event: XEvent) {
        if event.type == damageEvent {
            let notice = event.read(as: xcb_damage_notify_event_t.self)
            guard let window = windows[notice.damage], parts[window]?.damage?.isCurrent(event) == true else { return }
            parts[window]?.damage(now: monotonicNow())
            return
        }
        switch Int32(event.type) {
        case XCB_PROPERTY_NOTIFY:
            let property = event.read(as: xcb_property_notify_event_t.self)
            if property.window == connection.root {
                guard property.atom == atoms.clientList else { return }
            } else {
                guard atoms.describes(property.atom) else { return }
            }
            listSoon()
        case XCB_CONFIGURE_NOTIFY:
            let configured = event.read(as: xcb_configure_notify_event_t.self)
            let size = PixelSize(width: Int(configured.width), height: Int(configured.height))
            if configured.window == connection.root {
                isScreenOutdated = true
            } else {
                // A moved window is the same.
                guard let part = parts[configured.window], part.size != size else { return }
            }
            listSoon()
        case XCB_MAP_NOTIFY, XCB_UNMAP_NOTIFY, XCB_DESTROY_NOTIFY, XCB_REPARENT_NOTIFY: listSoon()
        default:
            guard geometryEvents.contains(event.type) else { return }
            isScreenOutdated = true
            listSoon()
        }
    }

    private func listSoon() {
        listTime = listTime ?? max(monotonicNow() + Self.listDelay, newestList + Self.listInterval)
    }

    /// Lists the contents, sends them if they changed, and watches new windows.
    private func updateContents() throws(CaptureError) {
        listTime = nil
        let contents = try DisplayContents(list, on: connection, knowing: isScreenOutdated ? nil : contents)
        newestList = monotonicNow()
        isScreenOutdated = false
        guard contents != self.contents else { return }
        let isFirst = self.contents == nil
        let before = self.contents
        self.contents = contents
        send(.contents(contents))
        if showsScreen, before?.size != contents.size || before?.outputs != contents.outputs {
            watch(connection.root, contents.size, isNew: !isFirst)
        }
        guard hasComposite else { return }
        let ids = Set(contents.windows.map(\.id))
        for id in parts.keys where id != connection.root && !ids.contains(id) {
            if let damage = parts[id]?.damage { windows[damage.number] = nil }
            parts[id] = nil
            hashes[.window(id)] = nil
        }
        for window in contents.windows { watch(window.id, window.size, isNew: !isFirst) }
    }

    /// Watches a window, unless it is watched already. One of another size is damaged.
    private func watch(_ window: xcb_window_t, _ size: PixelSize, isNew: Bool) {
        let now = monotonicNow()
        guard parts[window] == nil else {
            if window == connection.root || parts[window]?.size != size { parts[window]?.damage(now: now) }
            parts[window]?.size = size
            return
        }
        if window != connection.root {
            var mask = Self.events
            xcb_change_window_attributes(connection.handle, window, XCB_CW_EVENT_MASK.rawValue, &mask)
        }
        let damage = damageEvent == nil ? nil : WindowDamage(connection: connection, window: window)
        if let damage { windows[damage.number] = window }
        var part = WatchedPart(size: size, damage: damage)
        if isNew { part.damage(now: now) }
        parts[window] = part
    }

    /// Reads everything for the first time.
    private func readAll(_ signal: StopSignal) throws(CaptureError) {
        guard let contents else { return }
        if showsScreen {
            parts[connection.root]?.willRead()
            try readScreen(signal)
            parts[connection.root]?.didRead(now: monotonicNow(), isChanged: true, mayEcho: false)
        }
        guard hasComposite else { return }
        for window in contents.windows { parts[window.id]?.willRead() }
        _ = try thumbnails.read(contents.windows, with: &images, signal: signal) { [self] in update($0, $1) }
        // The programs may draw until the last one was read.
        let now = monotonicNow()
        for window in contents.windows where !thumbnails.isComposited {
            parts[window.id]?.didRead(now: now, isChanged: false, mayEcho: true)
        }
        newestRead = now
    }

    private func read(_ window: xcb_window_t, _ signal: StopSignal) throws(CaptureError) {
        parts[window]?.willRead()
        var isChanged = false
        let isScreen = window == connection.root
        if isScreen {
            isChanged = try readScreen(signal)
        } else if let window = contents?.windows.first(where: { $0.id == window }) {
            _ = try thumbnails.read([window], with: &images, signal: signal) { [self] in
                isChanged = update($0, $1)
            }
        }
        newestRead = monotonicNow()
        parts[window]?.didRead(
            now: newestRead, isChanged: isChanged, mayEcho: !isScreen && !thumbnails.isComposited)
    }

    /// Reads the screen, and returns whether an image of it changed.
    @discardableResult
    private func readScreen(_ signal: StopSignal) throws(CaptureError) -> Bool {
        guard let contents else { return false }
        let subjects = [SourcePictures.Subject.screen] + contents.outputs.map { .output($0.name) }
        let whole = PixelRectangle(x: 0, y: 0, size: contents.size)
        let pixels = ScreenGeometry.Pixels(drawable: connection.root, area: whole)
        let images: [PixelBuffer?]?
        do throws(CaptureError) {
            images = try self.images.images(
                of: [whole] + contents.outputs.map(\.area), in: pixels, signal: signal)
        } catch {
            // The screen has become smaller. An event reports that.
            guard case .requestRefused = error else { throw error }
            return false
        }
        didRead()
        var isChanged = false
        for (subject, image) in zip(subjects, images ?? []) {
            if let image, update(subject, image) { isChanged = true }
        }
        return isChanged
    }

    /// Handles that a window was read. Sends its image if it changed, and returns whether it did.
    @discardableResult
    private func update(_ window: xcb_window_t, _ image: PixelBuffer) -> Bool {
        didRead()
        return update(.window(window), image)
    }

    private func update(_ subject: SourcePictures.Subject, _ image: PixelBuffer) -> Bool {
        let hash = image.contentHash
        guard hashes[subject] != hash else { return false }
        hashes[subject] = hash
        send(.image(subject, image))
        return true
    }

    private func clearEchoes(_ now: Duration) {
        for (window, part) in parts {
            if let time = part.echoTime, time <= now { parts[window]?.clearEcho() }
        }
    }
}

extension WindowAtoms {
    /// Whether a window's property with this name is a part of its description.
    fileprivate func describes(_ name: xcb_atom_t) -> Bool {
        [self.name, state, managerState, processID, opacity].contains(name)
            || [XCB_ATOM_WM_NAME, XCB_ATOM_WM_CLASS].contains { $0.rawValue == name }
    }
}

extension PixelBuffer {
    /// A hash of the pixels and the size.
    fileprivate var contentHash: Int {
        var hasher = Hasher()
        hasher.combine(size)
        withPlanes { planes in
            guard let plane = planes.planes.first, let stride = planes.strides.first else { return }
            for row in 0..<size.height {
                hasher.combine(
                    bytes: UnsafeRawBufferPointer(rebasing: plane[row * stride..<row * stride + size.width * 4]))
            }
        }
        return hasher.finalize()
    }
}
