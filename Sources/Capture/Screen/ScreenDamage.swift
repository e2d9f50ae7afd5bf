import RTCShareCXCB
import RTCShareMedia

/// The parts of a screen or a window that changed since the last request, by the X server's DAMAGE extension.
///
/// The server reports once that there is a change, and accumulates changes until the next request: an idle screen costs
/// nothing, and a busy one only the requests.
final class ScreenDamage {
    /// A sent request for the parts, whose answer has not been read.
    struct Question {
        fileprivate let cookie: xcb_xfixes_fetch_region_cookie_t
    }

    /// Whether there is a change that was not requested yet.
    private(set) var isPending = true

    private let connection: XConnection
    private let damage: xcb_damage_damage_t
    private let region: xcb_xfixes_region_t
    private let event: UInt8

    /// Watches a window and its children. Nil if the server has no DAMAGE, or no XFixes for its regions, or `signal`
    /// was raised.
    init?(connection: XConnection, watched: xcb_window_t, signal: StopSignal?) throws(CaptureError) {
        guard let event = try connection.queryDamage(signal: signal) else { return nil }
        damage = xcb_generate_id(connection.handle)
        region = xcb_generate_id(connection.handle)
        xcb_damage_create(
            connection.handle, damage, watched, UInt8(XCB_DAMAGE_REPORT_LEVEL_NON_EMPTY.rawValue))
        xcb_xfixes_create_region(connection.handle, region, 0, nil)
        self.connection = connection
        self.event = event
    }

    deinit {
        xcb_damage_destroy(connection.handle, damage)
        xcb_xfixes_destroy_region(connection.handle, region)
        xcb_flush(connection.handle)
    }

    /// Handles an event.
    func handle(_ event: XEvent) {
        if event.type == self.event { isPending = true }
    }

    /// Requests the changes. Later ones are reported again, so that an image that is requested after this misses
    /// nothing.
    func ask() -> Question {
        isPending = false
        xcb_damage_subtract(connection.handle, damage, xcb_xfixes_region_t(XCB_XFIXES_REGION_NONE.rawValue), region)
        return Question(cookie: xcb_xfixes_fetch_region(connection.handle, region))
    }

    /// Returns the parts in `area`, in its pixels; nil if `signal` was raised.
    func answer(
        to question: Question, in area: PixelRectangle, signal: StopSignal?
    ) throws(CaptureError) -> [PixelRectangle]? {
        guard
            let reply = try connection.reply(
                "XFixesFetchRegion", question.cookie.sequence, as: xcb_xfixes_fetch_region_reply_t.self, signal: signal)
        else { return nil }
        let rectangles = UnsafeBufferPointer(
            start: xcb_xfixes_fetch_region_rectangles(reply.pointer),
            count: Int(xcb_xfixes_fetch_region_rectangles_length(reply.pointer)))
        var parts: [PixelRectangle] = []
        // Reserve for the pointer's old and new place.
        parts.reserveCapacity(rectangles.count + 2)
        for rectangle in rectangles {
            let part = PixelRectangle(
                x: Int(rectangle.x), y: Int(rectangle.y),
                size: PixelSize(width: Int(rectangle.width), height: Int(rectangle.height))
            ).intersection(area)
            if let part { parts.append(PixelRectangle(x: part.x - area.x, y: part.y - area.y, size: part.size)) }
        }
        return parts
    }
}
