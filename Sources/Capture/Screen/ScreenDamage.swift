import RTCShareCXCB
import RTCShareMedia

/// Which parts of a screen or a window changed since they were asked for last, by the X server's DAMAGE extension.
///
/// The server says once that something changed, and sums up what does until it is asked: a screen at rest costs nothing,
/// and one where much happens no more than the asking.
final class ScreenDamage {
    /// The parts are asked for, before the answer is waited for.
    struct Question {
        fileprivate let cookie: xcb_xfixes_fetch_region_cookie_t
    }

    /// Whether something changed that was not asked for yet.
    private(set) var isPending = true

    private let connection: XConnection
    private let damage: xcb_damage_damage_t
    private let region: xcb_xfixes_region_t
    private let event: UInt8

    /// Watches a window and what lies in it. Nil where the server has no DAMAGE, or no XFixes for its regions, or `signal`
    /// was raised.
    init?(connection: XConnection, watched: xcb_window_t, signal: StopSignal?) throws(CaptureError) {
        guard let extent = cxcb_damage_extension(connection.handle), extent.pointee.present != 0,
            try connection.queryXFixes(signal: signal)
        else { return nil }
        let version = xcb_damage_query_version(connection.handle, 1, 1)
        guard
            try connection.reply(
                "DamageQueryVersion", version.sequence, as: xcb_damage_query_version_reply_t.self, signal: signal)
                != nil
        else { return nil }
        damage = xcb_generate_id(connection.handle)
        region = xcb_generate_id(connection.handle)
        xcb_damage_create(
            connection.handle, damage, watched, UInt8(XCB_DAMAGE_REPORT_LEVEL_NON_EMPTY.rawValue))
        xcb_xfixes_create_region(connection.handle, region, 0, nil)
        self.connection = connection
        event = extent.pointee.first_event &+ UInt8(XCB_DAMAGE_NOTIFY)
    }

    deinit {
        xcb_damage_destroy(connection.handle, damage)
        xcb_xfixes_destroy_region(connection.handle, region)
        xcb_flush(connection.handle)
    }

    /// Takes note of an event.
    func handle(_ event: XEvent) {
        if event.type == self.event { isPending = true }
    }

    /// Asks what changed. Whatever changes from here on is told anew, so that a picture that is requested after this misses
    /// nothing.
    func ask() -> Question {
        isPending = false
        xcb_damage_subtract(connection.handle, damage, xcb_xfixes_region_t(XCB_XFIXES_REGION_NONE.rawValue), region)
        return Question(cookie: xcb_xfixes_fetch_region(connection.handle, region))
    }

    /// The parts that lie in `area`, in its pixels; nil where `signal` was raised.
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
        // With the pointer's two places.
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
