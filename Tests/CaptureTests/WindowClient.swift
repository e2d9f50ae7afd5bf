import Foundation
import RTCShareCXCB
import RTCShareMedia

/// A program with windows on an X display. A call returns after the server has carried it out.
final class WindowClient {
    private let connection: OpaquePointer
    private let screen: UnsafeMutablePointer<xcb_screen_t>

    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    init(display: VirtualDisplay) throws {
        guard let connection = xcb_connect(display.name, nil), xcb_connection_has_error(connection) == 0,
            let screen = xcb_setup_roots_iterator(xcb_get_setup(connection)).data
        else { throw Failure(description: "no connection to \(display.name)") }
        self.connection = connection
        self.screen = screen
    }

    deinit {
        xcb_disconnect(connection)
    }

    /// The number of the whole screen's window.
    var root: UInt32 { screen.pointee.root }

    /// A window of one colour, 0xRRGGBB, which is on the screen unless that is not wanted.
    func window(
        _ width: Int, _ height: Int, x: Int = 0, y: Int = 0, colour: UInt32 = 0xFFFFFF, title: String? = nil,
        in parent: UInt32? = nil, border: Int = 0, depth: UInt8? = nil, overrideRedirect: Bool = false,
        isInputOnly: Bool = false, isMapped: Bool = true
    ) throws -> UInt32 {
        let window = xcb_generate_id(connection)
        let depth = depth ?? screen.pointee.root_depth
        // In the order of the bits of the mask.
        var mask = XCB_CW_OVERRIDE_REDIRECT.rawValue
        var values = [overrideRedirect ? UInt32(1) : 0]
        if !isInputOnly {
            mask |= XCB_CW_BACK_PIXEL.rawValue | XCB_CW_BORDER_PIXEL.rawValue | XCB_CW_COLORMAP.rawValue
            let map = xcb_generate_id(connection)
            let visual = try visual(depth: depth)
            xcb_create_colormap(connection, UInt8(XCB_COLORMAP_ALLOC_NONE.rawValue), map, root, visual)
            values = [colour, 0x00FF00] + values + [map]
        }
        xcb_create_window(
            connection, isInputOnly ? 0 : depth, window, parent ?? root, Int16(x), Int16(y), UInt16(width),
            UInt16(height), UInt16(border),
            UInt16((isInputOnly ? XCB_WINDOW_CLASS_INPUT_ONLY : XCB_WINDOW_CLASS_INPUT_OUTPUT).rawValue),
            isInputOnly ? 0 : try visual(depth: depth), mask, values)
        if let title { try set("_NET_WM_NAME", text: title, type: "UTF8_STRING", of: window) }
        if isMapped { xcb_map_window(connection, window) }
        try synchronize()
        return window
    }

    private func visual(depth: UInt8) throws -> xcb_visualid_t {
        // The screen's depths follow it in memory.
        var depths = xcb_screen_allowed_depths_iterator(screen)
        while depths.rem > 0 {
            if depths.data.pointee.depth == depth, let visuals = xcb_depth_visuals(depths.data),
                xcb_depth_visuals_length(depths.data) > 0
            {
                return visuals.pointee.visual_id
            }
            xcb_depth_next(&depths)
        }
        throw Failure(description: "the display has no depth \(depth)")
    }

    func paint(_ window: UInt32, _ colour: UInt32, _ part: PixelRectangle? = nil) throws {
        xcb_change_window_attributes(connection, window, XCB_CW_BACK_PIXEL.rawValue, [colour])
        xcb_clear_area(
            connection, 0, window, Int16(part?.x ?? 0), Int16(part?.y ?? 0), UInt16(part?.size.width ?? 0),
            UInt16(part?.size.height ?? 0))
        try synchronize()
    }

    func map(_ window: UInt32) throws {
        xcb_map_window(connection, window)
        try synchronize()
    }

    func unmap(_ window: UInt32) throws {
        xcb_unmap_window(connection, window)
        try synchronize()
    }

    /// Out of sight and back in one breath.
    func blink(_ window: UInt32) throws {
        xcb_unmap_window(connection, window)
        xcb_map_window(connection, window)
        try synchronize()
    }

    func destroy(_ window: UInt32) throws {
        xcb_destroy_window(connection, window)
        try synchronize()
    }

    func move(_ window: UInt32, x: Int, y: Int) throws {
        let values = [x, y].map { UInt32(bitPattern: Int32($0)) }
        xcb_configure_window(
            connection, window, UInt16(XCB_CONFIG_WINDOW_X.rawValue | XCB_CONFIG_WINDOW_Y.rawValue), values)
        try synchronize()
    }

    func resize(_ window: UInt32, _ width: Int, _ height: Int) throws {
        xcb_configure_window(
            connection, window, UInt16(XCB_CONFIG_WINDOW_WIDTH.rawValue | XCB_CONFIG_WINDOW_HEIGHT.rawValue),
            [UInt32(width), UInt32(height)])
        try synchronize()
    }

    func setBorder(_ window: UInt32, _ width: Int) throws {
        xcb_configure_window(
            connection, window, UInt16(XCB_CONFIG_WINDOW_BORDER_WIDTH.rawValue), [UInt32(width)])
        try synchronize()
    }

    func reparent(_ window: UInt32, to parent: UInt32, x: Int, y: Int) throws {
        xcb_reparent_window(connection, window, parent, Int16(x), Int16(y))
        try synchronize()
    }

    func set(_ property: String, text: String, type: String = "STRING", of window: UInt32) throws {
        try set(property, bytes: Array(text.utf8), type: type, of: window)
    }

    func set(_ property: String, bytes: [UInt8], type: String, of window: UInt32) throws {
        xcb_change_property(
            connection, UInt8(XCB_PROP_MODE_REPLACE.rawValue), window, try atom(property), try atom(type), 8,
            UInt32(bytes.count), bytes)
        try synchronize()
    }

    func set(_ property: String, numbers: [UInt32], type: String, of window: UInt32) throws {
        xcb_change_property(
            connection, UInt8(XCB_PROP_MODE_REPLACE.rawValue), window, try atom(property), try atom(type), 32,
            UInt32(numbers.count), numbers)
        try synchronize()
    }

    /// Gives each window pixels of its own, like a compositor, which it announces (EWMH).
    func compositeWindows() throws {
        free(xcb_composite_query_version_reply(connection, xcb_composite_query_version(connection, 0, 4), nil))
        xcb_composite_redirect_subwindows(connection, root, UInt8(XCB_COMPOSITE_REDIRECT_AUTOMATIC.rawValue))
        let owner = try window(1, 1, isMapped: false)
        xcb_set_selection_owner(connection, owner, try atom("_NET_WM_CM_S0"), 0)
        try synchronize()
    }

    /// Whether the server keeps a window's pixels apart from the screen's.
    func hasOwnPixels(_ window: UInt32) -> Bool {
        let pixmap = xcb_generate_id(connection)
        guard
            let refusal = xcb_request_check(
                connection, xcb_composite_name_window_pixmap_checked(connection, window, pixmap))
        else {
            xcb_free_pixmap(connection, pixmap)
            return true
        }
        free(refusal)
        return false
    }

    /// Has the screen's first output tell a monitor's block of EDID.
    func setMonitor(_ identification: [UInt8]) throws {
        let cookie = xcb_randr_get_screen_resources_current(connection, root)
        guard let resources = xcb_randr_get_screen_resources_current_reply(connection, cookie, nil),
            let output = xcb_randr_get_screen_resources_current_outputs(resources)?.pointee
        else { throw Failure(description: "no output") }
        free(resources)
        xcb_randr_change_output_property(
            connection, output, try atom("EDID"), try atom("INTEGER"), 8, UInt8(XCB_PROP_MODE_REPLACE.rawValue),
            UInt32(identification.count), identification)
        try synchronize()
    }

    func atom(_ name: String) throws -> UInt32 {
        let cookie = xcb_intern_atom(connection, 0, UInt16(name.utf8.count), name)
        guard let reply = xcb_intern_atom_reply(connection, cookie, nil) else {
            throw Failure(description: "no atom \(name)")
        }
        defer { free(reply) }
        return reply.pointee.atom
    }

    /// Returns when the server has processed all requests.
    private func synchronize() throws {
        guard let reply = xcb_get_input_focus_reply(connection, xcb_get_input_focus(connection), nil) else {
            throw Failure(description: "the display is gone")
        }
        free(reply)
    }
}
