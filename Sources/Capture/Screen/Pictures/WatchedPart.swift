import RTCShareCXCB
import RTCShareMedia

/// A window of ``SourceWatch``, or the screen, between its readings.
///
/// After a reading that changed its image, every damage counts, so that nothing is missed. After one that did not,
/// damage within ``echoInterval`` is the echo of the reading: its program has drawn the same again. So a window that
/// does not change is not read for ever. The first reading of all windows is of the second kind. A real change in that
/// time is seen with the next change.
struct WatchedPart {
    var size: PixelSize
    /// The server's record of changes; nil without it.
    let damage: WindowDamage?
    /// The time at which it can be read; nil if it has not changed.
    private(set) var readTime: Duration?
    private var newestRead: Duration?
    /// The time until which damage is an echo.
    private var quietEnd = Duration.zero
    private var hasEcho = false

    /// The time in which a program draws after its window was read.
    static let echoInterval = Duration.milliseconds(500)
    static let readInterval = Duration.seconds(2)

    init(size: PixelSize, damage: WindowDamage?) {
        (self.size, self.damage) = (size, damage)
    }

    /// The time at which an echo is cleared; nil without one.
    var echoTime: Duration? { hasEcho ? quietEnd : nil }

    /// Handles a reported change.
    mutating func damage(now: Duration) {
        guard now >= quietEnd else {
            hasEcho = true
            return
        }
        readTime = readTime ?? newestRead.map { max($0 + Self.readInterval, now) } ?? now
    }

    /// Handles that it is read after this call: later changes are reported again.
    mutating func willRead() {
        readTime = nil
        hasEcho = false
        damage?.clear()
    }

    /// Handles that it was read. With `mayEcho` the reading made its program draw.
    mutating func didRead(now: Duration, isChanged: Bool, mayEcho: Bool) {
        newestRead = now
        quietEnd = mayEcho && !isChanged ? now + Self.echoInterval : .zero
    }

    /// Handles that the time of echoes is over.
    mutating func clearEcho() {
        hasEcho = false
        damage?.clear()
    }
}

/// The X server's record of changes of one window, which reports once that there is a change since the last
/// ``clear()``.
final class WindowDamage {
    let number: xcb_damage_damage_t
    private let connection: XConnection
    /// The number of the newest request to forget changes.
    private var newestClear: UInt32?

    /// Watches a window and its children. The connection has queried the extension.
    init(connection: XConnection, window: xcb_window_t) {
        self.connection = connection
        number = xcb_generate_id(connection.handle)
        xcb_damage_create(connection.handle, number, window, UInt8(XCB_DAMAGE_REPORT_LEVEL_NON_EMPTY.rawValue))
    }

    deinit {
        xcb_damage_destroy(connection.handle, number)
    }

    func clear() {
        let none = xcb_xfixes_region_t(XCB_XFIXES_REGION_NONE.rawValue)
        newestClear = xcb_damage_subtract(connection.handle, number, none, none).sequence
    }

    /// Whether an event reports a change after the last ``clear()``. The server reports the first one when the record
    /// is created.
    func isCurrent(_ event: XEvent) -> Bool {
        guard let newestClear else { return true }
        return Int32(bitPattern: event.read(as: xcb_generic_event_t.self).full_sequence &- newestClear) >= 0
    }
}

extension XConnection {
    /// Returns the number of the event that reports damage; nil if the server has no DAMAGE, or `signal` was raised.
    func queryDamage(signal: StopSignal?) throws(CaptureError) -> UInt8? {
        guard let extent = cxcb_damage_extension(handle), extent.pointee.present != 0,
            try queryXFixes(signal: signal)
        else { return nil }
        let version = xcb_damage_query_version(handle, 1, 1)
        guard
            try reply(
                "DamageQueryVersion", version.sequence, as: xcb_damage_query_version_reply_t.self, signal: signal)
                != nil
        else { return nil }
        return extent.pointee.first_event &+ UInt8(XCB_DAMAGE_NOTIFY)
    }
}
