import RTCShareCXCB
import RTCShareMedia

/// The server's numbers for the names of the properties that describe a window.
struct WindowAtoms {
    let clientList: xcb_atom_t
    let name: xcb_atom_t
    let text: xcb_atom_t
    let processID: xcb_atom_t
    let state: xcb_atom_t
    let managerState: xcb_atom_t
    let hidden: xcb_atom_t
    let above: xcb_atom_t
    let opacity: xcb_atom_t

    init(on connection: XConnection) throws(CaptureError) {
        clientList = try connection.atom("_NET_CLIENT_LIST")
        name = try connection.atom("_NET_WM_NAME")
        text = try connection.atom("UTF8_STRING")
        processID = try connection.atom("_NET_WM_PID")
        state = try connection.atom("WM_STATE")
        managerState = try connection.atom("_NET_WM_STATE")
        hidden = try connection.atom("_NET_WM_STATE_HIDDEN")
        above = try connection.atom("_NET_WM_STATE_ABOVE")
        opacity = try connection.atom("_NET_WM_WINDOW_OPACITY")
    }
}

/// The server's attributes of a window.
struct WindowAttributes {
    let isInputOnly: Bool
    /// Whether the window manager does not manage it, like a menu.
    let isUnmanaged: Bool
    let isMapped: Bool
    /// Whether it and all its ancestors are mapped.
    let isViewable: Bool
}

/// The geometry of a window relative to its parent.
struct WindowGeometry {
    let x: Int
    let y: Int
    let size: PixelSize
    let border: Int
    let depth: UInt8
}

/// The value of a property; empty if a window has none of that name.
struct WindowProperty {
    let type: xcb_atom_t
    let bytes: [UInt8]

    /// Its numbers, if it is a list of 32-bit numbers.
    var numbers: [UInt32] {
        stride(from: 0, to: bytes.count & ~3, by: 4).map { start in
            bytes[start..<start + 4].withUnsafeBytes { $0.loadUnaligned(as: UInt32.self) }
        }
    }
}

extension CaptureError {
    /// Whether the server reported that there is no such window or drawable.
    var saysThatWindowIsGone: Bool {
        guard case .requestRefused(_, let code) = self else { return false }
        return code == XCB_WINDOW || code == XCB_DRAWABLE
    }
}

extension XConnection {
    /// Returns the number of a name.
    func atom(_ name: String) throws(CaptureError) -> xcb_atom_t {
        let cookie = xcb_intern_atom(handle, 0, UInt16(clamping: name.utf8.count), name)
        // Without a signal there is always an answer.
        return try reply("InternAtom", cookie.sequence, as: xcb_intern_atom_reply_t.self, signal: nil)?.value.atom ?? 0
    }

    /// Returns a window's attributes. Like the functions below, it throws if there is no such window, and returns nil
    /// if `signal` was raised.
    func attributes(of window: xcb_window_t, signal: StopSignal?) throws(CaptureError) -> WindowAttributes? {
        let cookie = xcb_get_window_attributes(handle, window)
        guard
            let reply = try reply(
                "GetWindowAttributes", cookie.sequence, as: xcb_get_window_attributes_reply_t.self, signal: signal)
        else { return nil }
        return WindowAttributes(
            isInputOnly: UInt32(reply.value._class) == XCB_WINDOW_CLASS_INPUT_ONLY.rawValue,
            isUnmanaged: reply.value.override_redirect != 0,
            isMapped: UInt32(reply.value.map_state) != XCB_MAP_STATE_UNMAPPED.rawValue,
            isViewable: UInt32(reply.value.map_state) == XCB_MAP_STATE_VIEWABLE.rawValue)
    }

    func geometry(of drawable: xcb_drawable_t, signal: StopSignal?) throws(CaptureError) -> WindowGeometry? {
        let cookie = xcb_get_geometry(handle, drawable)
        guard
            let reply = try reply("GetGeometry", cookie.sequence, as: xcb_get_geometry_reply_t.self, signal: signal)
        else { return nil }
        return WindowGeometry(
            x: Int(reply.value.x), y: Int(reply.value.y),
            size: PixelSize(width: Int(reply.value.width), height: Int(reply.value.height)),
            border: Int(reply.value.border_width), depth: reply.value.depth)
    }

    /// Returns the parent of a window.
    ///
    /// Not in one function with ``children(of:signal:)``: if the children are computed and not used, Swift 6.3 frees
    /// the array before it has copied them, as the address sanitizer shows.
    func parent(of window: xcb_window_t, signal: StopSignal?) throws(CaptureError) -> xcb_window_t? {
        try tree(of: window, signal: signal)?.value.parent
    }

    /// Returns the windows inside another, the lowest first.
    func children(of window: xcb_window_t, signal: StopSignal?) throws(CaptureError) -> [xcb_window_t]? {
        guard let reply = try tree(of: window, signal: signal) else { return nil }
        let children = UnsafeBufferPointer(
            start: xcb_query_tree_children(reply.pointer), count: Int(xcb_query_tree_children_length(reply.pointer)))
        return Array(children)
    }

    private func tree(
        of window: xcb_window_t, signal: StopSignal?
    ) throws(CaptureError) -> Reply<xcb_query_tree_reply_t>? {
        let cookie = xcb_query_tree(handle, window)
        return try reply("QueryTree", cookie.sequence, as: xcb_query_tree_reply_t.self, signal: signal)
    }

    /// Returns the position of a window's corner on the screen.
    func position(of window: xcb_window_t, signal: StopSignal?) throws(CaptureError) -> (x: Int, y: Int)? {
        let cookie = xcb_translate_coordinates(handle, window, root, 0, 0)
        guard
            let reply = try reply(
                "TranslateCoordinates", cookie.sequence, as: xcb_translate_coordinates_reply_t.self, signal: signal)
        else { return nil }
        return (Int(reply.value.dst_x), Int(reply.value.dst_y))
    }

    /// Returns the first 64 KiB of a property.
    func property(
        _ name: xcb_atom_t, of window: xcb_window_t, signal: StopSignal?
    ) throws(CaptureError) -> WindowProperty? {
        let cookie = xcb_get_property(handle, 0, window, name, XCB_GET_PROPERTY_TYPE_ANY.rawValue, 0, 1 << 14)
        guard
            let reply = try reply("GetProperty", cookie.sequence, as: xcb_get_property_reply_t.self, signal: signal)
        else { return nil }
        let bytes = UnsafeRawBufferPointer(
            start: xcb_get_property_value(reply.pointer), count: Int(xcb_get_property_value_length(reply.pointer)))
        return WindowProperty(type: reply.value.type, bytes: Array(bytes))
    }

    /// Returns whether a window manager hides a window; nil if `signal` was raised.
    func isIconified(
        _ window: xcb_window_t, _ atoms: WindowAtoms, signal: StopSignal?
    ) throws(CaptureError) -> Bool? {
        guard let state = try property(atoms.state, of: window, signal: signal) else { return nil }
        // ICCCM 4.1.3.1: 3 is IconicState.
        if state.numbers.first == 3 { return true }
        guard let managed = try property(atoms.managerState, of: window, signal: signal) else { return nil }
        return managed.numbers.contains(atoms.hidden)
    }

    /// Returns whether the server can keep pixels of windows separately from the screen's (Composite 0.2), which must
    /// be queried before its use.
    func queryComposite() throws(CaptureError) -> Bool {
        guard let composite = cxcb_composite_extension(handle), composite.pointee.present != 0 else { return false }
        let cookie = xcb_composite_query_version(handle, 0, 4)
        guard
            let version = try reply(
                "CompositeQueryVersion", cookie.sequence, as: xcb_composite_query_version_reply_t.self, signal: nil)
        else { return false }
        return (version.value.major_version, version.value.minor_version) >= (0, 2)
    }

    /// Returns whether a compositing manager runs (EWMH's `_NET_WM_CM_Sn`): windows have pixels of their own then.
    func hasCompositor() throws(CaptureError) -> Bool {
        let cookie = xcb_get_selection_owner(handle, try atom("_NET_WM_CM_S\(screen)"))
        let owner = try reply(
            "GetSelectionOwner", cookie.sequence, as: xcb_get_selection_owner_reply_t.self, signal: nil)?.value.owner
        return owner ?? 0 != 0
    }
}
