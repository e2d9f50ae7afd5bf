import RTCShareCXCB
import RTCShareMedia

/// One window, as the subject of capture: its own pixels, which the server keeps even if others cover it.
///
/// The server has pixels of a window as long as it is visible, apart from windows that cover it (Composite calls that
/// viewable). The memory is another one after each change of its size, and each time the window reappears.
final class WindowSubject: ScreenSubject {
    let watched: xcb_window_t
    /// New pixels contain the previous content of that place, of any window, until the program has drawn.
    let settlingTime = Duration.milliseconds(100)

    private let connection: XConnection
    private let atoms: WindowAtoms
    /// The window's events that the connection's owner watches afterwards.
    private let laterEvents: UInt32
    private let title: String
    private var pixmap: xcb_pixmap_t?
    private var pixmapSize = PixelSize(width: 0, height: 0)
    /// The size in the newest ConfigureNotify. After a change the server has created another pixmap, and after two
    /// changes the newest may have the size of the one that is kept.
    private var outline: Outline?
    /// The ancestors of the window below the root window, the nearest first; nil if they must be determined. The window
    /// itself receives no event when one of these is hidden.
    private var frames: [xcb_window_t]?
    private var isIconified: Bool?
    private var isClosed = false

    /// The events of its window that it watches.
    static let events = XCB_EVENT_MASK_STRUCTURE_NOTIFY.rawValue | XCB_EVENT_MASK_PROPERTY_CHANGE.rawValue

    /// A window's size with its border.
    private struct Outline: Equatable {
        let width: UInt16
        let height: UInt16
        let border: UInt16
    }

    /// Makes the server keep the window's pixels from now on, and watches its events. `window` comes from
    /// ``WindowList/window(_:)``. Afterwards the connection watches `laterEvents` of it.
    init(
        _ window: DisplayWindow, on connection: XConnection, atoms: WindowAtoms, laterEvents: UInt32 = 0
    ) throws(CaptureError) {
        self.connection = connection
        self.atoms = atoms
        self.laterEvents = laterEvents
        watched = window.id
        title = window.title
        watch(watched, for: Self.events)
        let redirect = xcb_composite_redirect_window_checked(
            connection.handle, watched, UInt8(XCB_COMPOSITE_REDIRECT_AUTOMATIC.rawValue))
        guard try connection.check(redirect) else {
            throw .windowClosed(id: watched, title: title)
        }
    }

    deinit {
        // If the window is gone, all this is gone too, and nobody reads the rejection.
        forgetPixmap()
        forgetFrames()
        watch(watched, for: laterEvents)
        xcb_composite_unredirect_window(
            connection.handle, watched, UInt8(XCB_COMPOSITE_REDIRECT_AUTOMATIC.rawValue))
        xcb_flush(connection.handle)
    }

    func handle(_ event: XEvent) -> Bool {
        switch Int32(event.type) {
        case XCB_DESTROY_NOTIFY:
            guard event.read(as: xcb_destroy_notify_event_t.self).window == watched, !event.isSent else { return false }
            isClosed = true
        case XCB_MAP_NOTIFY, XCB_UNMAP_NOTIFY: forgetPixmap()
        case XCB_REPARENT_NOTIFY: forgetFrames()
        case XCB_CONFIGURE_NOTIFY:
            let configured = event.read(as: xcb_configure_notify_event_t.self)
            // A window manager also sends synthetic ones, which contain the window's position.
            guard configured.window == watched, !event.isSent else { return true }
            let outline = Outline(
                width: configured.width, height: configured.height, border: configured.border_width)
            if outline != self.outline { forgetPixmap() }
            self.outline = outline
        case XCB_PROPERTY_NOTIFY:
            let property = event.read(as: xcb_property_notify_event_t.self)
            guard property.window == watched, property.atom == atoms.state || property.atom == atoms.managerState
            else { return false }
            isIconified = nil
        // No events of other windows were requested.
        default: return false
        }
        return true
    }

    func forget() {
        forgetFrames()
        forgetPixmap()
    }

    func locate(signal: StopSignal?) throws(CaptureError) -> ScreenSight {
        guard !isClosed else { throw .windowClosed(id: watched, title: title) }
        do throws(CaptureError) {
            return try find(signal: signal)
        } catch {
            guard case .requestRefused(_, let code) = error else { throw error }
            // Between two requests it was closed, got another frame, or was hidden.
            let isThere = try isThere(signal: signal)
            guard isThere != nil else { return .stopped }
            guard isThere == true else { throw .windowClosed(id: watched, title: title) }
            guard error.saysThatWindowIsGone || code == XCB_MATCH else { throw error }
            forget()
            // It is searched again with the next event, or soon.
            return .hidden(.minimized)
        }
    }

    /// Returns whether the window exists; nil if `signal` was raised.
    private func isThere(signal: StopSignal?) throws(CaptureError) -> Bool? {
        do throws(CaptureError) {
            return try connection.attributes(of: watched, signal: signal).map { _ in true }
        } catch {
            guard error.saysThatWindowIsGone else { throw error }
            return false
        }
    }

    private func watch(_ window: xcb_window_t, for events: UInt32) {
        var mask = events
        xcb_change_window_attributes(connection.handle, window, XCB_CW_EVENT_MASK.rawValue, &mask)
    }

    /// Returns the ancestors; nil if `signal` was raised.
    private func frames(signal: StopSignal?) throws(CaptureError) -> [xcb_window_t]? {
        if let frames { return frames }
        var found: [xcb_window_t] = []
        var window = watched
        while true {
            guard let parent = try connection.parent(of: window, signal: signal) else { return nil }
            guard parent != connection.root, parent != 0 else { break }
            found.append(parent)
            window = parent
        }
        for frame in found { watch(frame, for: XCB_EVENT_MASK_STRUCTURE_NOTIFY.rawValue) }
        frames = found
        return found
    }

    private func forgetFrames() {
        for frame in frames ?? [] { watch(frame, for: 0) }
        frames = nil
    }

    private func find(signal: StopSignal?) throws(CaptureError) -> ScreenSight {
        // Watched before the other requests, so that no change is missed in between.
        guard let frames = try frames(signal: signal),
            let attributes = try connection.attributes(of: watched, signal: signal),
            let geometry = try connection.geometry(of: watched, signal: signal)
        else { return .stopped }
        if isIconified == nil { isIconified = try connection.isIconified(watched, atoms, signal: signal) }
        guard let isIconified else { return .stopped }
        guard attributes.isViewable, !isIconified, geometry.size.isSharable else {
            forgetPixmap()
            return .hidden(.minimized)
        }
        guard let position = try connection.position(of: watched, signal: signal),
            let screen = try connection.screenSize(signal: signal),
            let (drawable, size) = try pixels(geometry, signal: signal)
        else { return .stopped }
        let pixels = ScreenGeometry.Pixels(
            drawable: drawable, area: PixelRectangle(x: 0, y: 0, size: size).even, inset: geometry.border)
        let pointer = ScreenGeometry.Pointer(
            window: frames.first ?? connection.root, child: watched,
            origin: (geometry.x + geometry.border, geometry.y + geometry.border))
        let outline = PixelRectangle(x: position.x, y: position.y, size: size)
        let isVisible = outline.intersection(PixelRectangle(x: 0, y: 0, size: screen)) != nil
        return .shown(ScreenGeometry(pixels: pixels, pointer: pointer), isVisible ? nil : .movedOffScreen)
    }

    /// Returns the pixmap with the window's current pixels, and its size, which may have just changed. Nil if `signal`
    /// was raised.
    private func pixels(
        _ geometry: WindowGeometry, signal: StopSignal?
    ) throws(CaptureError) -> (xcb_pixmap_t, PixelSize)? {
        if let pixmap, pixmapSize == geometry.size { return (pixmap, pixmapSize) }
        forgetPixmap()
        let pixmap = xcb_generate_id(connection.handle)
        // If there is none, the next request is rejected.
        xcb_composite_name_window_pixmap(connection.handle, watched, pixmap)
        self.pixmap = pixmap
        guard let memory = try connection.geometry(of: pixmap, signal: signal) else { return nil }
        pixmapSize = PixelSize(
            width: memory.size.width - 2 * geometry.border, height: memory.size.height - 2 * geometry.border)
        guard pixmapSize.isSharable else {
            // Its border has changed in between.
            throw .requestRefused(request: "CompositeNameWindowPixmap", code: Int(XCB_MATCH))
        }
        return (pixmap, pixmapSize)
    }

    private func forgetPixmap() {
        if let pixmap { xcb_free_pixmap(connection.handle, pixmap) }
        pixmap = nil
    }
}
