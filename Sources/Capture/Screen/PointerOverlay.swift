import RTCShareCXCB
import RTCShareMedia

/// Draws the mouse pointer over frames, because the X server's images do not contain it.
///
/// The position is requested each time, the shape only after XFixes has reported a change.
struct PointerOverlay {
    private let connection: XConnection
    private let changeEvent: UInt8
    private var shape: PointerShape?
    private var isOutdated = true
    /// The hot spot, in the coordinates of the shared area; nil if it is outside.
    private var place: PixelPosition?

    /// A sent request for the position, whose answer has not been read.
    struct Question {
        fileprivate let cookie: xcb_query_pointer_cookie_t
        fileprivate let asked: ScreenGeometry.Pointer
    }

    /// Creates an overlay; nil if the server has no XFixes, so that the pointer is not drawn.
    init?(connection: XConnection, signal: StopSignal?) throws(CaptureError) {
        guard let xfixes = cxcb_xfixes_extension(connection.handle), try connection.queryXFixes(signal: signal) else {
            return nil
        }
        xcb_xfixes_select_cursor_input(
            connection.handle, connection.root, XCB_XFIXES_CURSOR_NOTIFY_MASK_DISPLAY_CURSOR.rawValue)
        self.connection = connection
        changeEvent = xfixes.pointee.first_event &+ UInt8(XCB_XFIXES_CURSOR_NOTIFY)
    }

    /// Whether the shape has changed since it was drawn.
    var isPending: Bool { isOutdated }

    /// Handles an event.
    mutating func handle(_ event: XEvent) {
        if event.type == changeEvent { isOutdated = true }
    }

    /// Requests the position.
    func ask(_ pointer: ScreenGeometry.Pointer) -> Question {
        Question(cookie: xcb_query_pointer(connection.handle, pointer.window), asked: pointer)
    }

    /// Discards the answer to a request.
    func withdraw(_ question: Question) {
        xcb_discard_reply(connection.handle, question.cookie.sequence)
    }

    /// Reads the answer, and returns whether the pointer must be redrawn. Nil if `signal` was raised.
    mutating func answer(to question: Question, signal: StopSignal?) throws(CaptureError) -> Bool? {
        guard
            let answer = try connection.reply(
                "QueryPointer", question.cookie.sequence, as: xcb_query_pointer_reply_t.self, signal: signal)
        else { return nil }
        let before = place
        let asked = question.asked
        let isOver = answer.value.same_screen != 0 && (asked.child.map { $0 == answer.value.child } ?? true)
        place =
            isOver
            ? PixelPosition(x: Int(answer.value.win_x) - asked.origin.x, y: Int(answer.value.win_y) - asked.origin.y)
            : nil
        guard isOutdated else { return place != before }
        guard try fetch(signal: signal) else { return nil }
        isOutdated = false
        return true
    }

    /// Returns the part of `area` that the pointer covers, in pixels of the area; nil if it covers none.
    func rectangle(in area: PixelRectangle) -> PixelRectangle? {
        guard let place, let shape else { return nil }
        return shape.rectangle(at: place, in: area)
    }

    /// Draws the pointer into a BGRA frame that shows `area`.
    func draw(into picture: ScreenPicture, area: PixelRectangle) {
        guard let place, let shape else { return }
        shape.draw(into: picture, at: place, area: area)
    }

    /// Requests the shape. Returns false if `signal` was raised.
    private mutating func fetch(signal: StopSignal?) throws(CaptureError) -> Bool {
        let cookie = xcb_xfixes_get_cursor_image(connection.handle)
        guard
            let reply = try connection.reply(
                "XFixesGetCursorImage", cookie.sequence, as: xcb_xfixes_get_cursor_image_reply_t.self, signal: signal)
        else { return false }
        let size = PixelSize(width: Int(reply.value.width), height: Int(reply.value.height))
        let pixels = UnsafeBufferPointer(
            start: xcb_xfixes_get_cursor_image_cursor_image(reply.pointer),
            count: Int(xcb_xfixes_get_cursor_image_cursor_image_length(reply.pointer)))
        let isUsable = size.area > 0 && pixels.count >= size.area
        shape =
            isUsable
            ? PointerShape(
                size: size, hotspot: PixelPosition(x: Int(reply.value.xhot), y: Int(reply.value.yhot)),
                pixels: Array(pixels.prefix(size.area)))
            : nil
        return true
    }
}
