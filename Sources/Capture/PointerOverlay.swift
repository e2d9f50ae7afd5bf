import CXCB
import CYUV
import Media

/// Draws the mouse pointer over frames, as the X server does not put it into the pictures it gives.
///
/// The pointer's place is asked for with each frame, its picture only where XFixes said that it changed.
struct PointerOverlay {
    private struct Picture {
        let size: PixelSize
        let hotspot: (x: Int, y: Int)
        /// Blue, green, red, alpha; the colours are multiplied by alpha already.
        let pixels: [UInt32]
    }

    private let connection: XConnection
    private let changeEvent: UInt8
    private var picture: Picture?
    private var isOutdated = true

    /// Where the pointer is asked for, before the answer is waited for.
    struct Question {
        fileprivate let cookie: xcb_query_pointer_cookie_t
    }

    /// Nil where the server has no XFixes: the pointer is then left out.
    init?(connection: XConnection, signal: StopSignal?) throws(CaptureError) {
        guard let xfixes = cxcb_xfixes_extension(connection.handle), xfixes.pointee.present != 0 else { return nil }
        let cookie = xcb_xfixes_query_version(connection.handle, 4, 0)
        guard
            try connection.reply(
                "XFixesQueryVersion", cookie.sequence, as: xcb_xfixes_query_version_reply_t.self, signal: signal)
                != nil
        else { return nil }
        xcb_xfixes_select_cursor_input(
            connection.handle, connection.root, XCB_XFIXES_CURSOR_NOTIFY_MASK_DISPLAY_CURSOR.rawValue)
        self.connection = connection
        changeEvent = xfixes.pointee.first_event &+ UInt8(XCB_XFIXES_CURSOR_NOTIFY)
    }

    /// Takes note of what events came.
    mutating func take(events: Set<UInt8>) {
        if events.contains(changeEvent) { isOutdated = true }
    }

    /// Asks where the pointer is; ask before the picture is requested, and both come in one round.
    func ask() -> Question {
        Question(cookie: xcb_query_pointer(connection.handle, connection.root))
    }

    /// Gives up on an answer, where there is no picture to draw into.
    func withdraw(_ question: Question) {
        xcb_discard_reply(connection.handle, question.cookie.sequence)
    }

    /// Draws the pointer into a BGRA picture that shows `area` of the screen.
    mutating func draw(
        _ question: Question, into plane: UnsafeMutableRawBufferPointer, stride: Int, area: PixelRectangle,
        signal: StopSignal?
    ) throws(CaptureError) {
        guard
            let answer = try connection.reply(
                "QueryPointer", question.cookie.sequence, as: xcb_query_pointer_reply_t.self, signal: signal),
            answer.value.same_screen != 0
        else { return }
        if isOutdated {
            picture = try fetch(signal: signal)
            isOutdated = false
        }
        guard let picture else { return }
        let left = Int(answer.value.root_x) - picture.hotspot.x - area.x
        let top = Int(answer.value.root_y) - picture.hotspot.y - area.y
        let columns = max(left, 0)..<max(min(left + picture.size.width, area.size.width), max(left, 0))
        let rows = max(top, 0)..<max(min(top + picture.size.height, area.size.height), max(top, 0))
        guard !columns.isEmpty, !rows.isEmpty else { return }
        let target = plane.baseAddress?.advanced(by: rows.lowerBound * stride + columns.lowerBound * 4)
            .assumingMemoryBound(to: UInt8.self)
        let skipped = (rows.lowerBound - top) * picture.size.width + columns.lowerBound - left
        picture.pixels.withUnsafeBytes { bytes in
            let source = bytes.baseAddress?.advanced(by: skipped * 4).assumingMemoryBound(to: UInt8.self)
            _ = ARGBBlend(
                source, Int32(picture.size.width * 4), target, Int32(stride), target, Int32(stride),
                Int32(columns.count), Int32(rows.count))
        }
    }

    private func fetch(signal: StopSignal?) throws(CaptureError) -> Picture? {
        let cookie = xcb_xfixes_get_cursor_image(connection.handle)
        guard
            let reply = try connection.reply(
                "XFixesGetCursorImage", cookie.sequence, as: xcb_xfixes_get_cursor_image_reply_t.self, signal: signal)
        else { return nil }
        let size = PixelSize(width: Int(reply.value.width), height: Int(reply.value.height))
        let pixels = UnsafeBufferPointer(
            start: xcb_xfixes_get_cursor_image_cursor_image(reply.pointer),
            count: Int(xcb_xfixes_get_cursor_image_cursor_image_length(reply.pointer)))
        guard size.area > 0, pixels.count >= size.area else { return nil }
        return Picture(
            size: size, hotspot: (x: Int(reply.value.xhot), y: Int(reply.value.yhot)), pixels: Array(pixels))
    }
}
