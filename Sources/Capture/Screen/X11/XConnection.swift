internal import Glibc
import RTCShareCXCB
import RTCShareLocks
import RTCShareMedia

/// A connection to an X server: sends requests, waits for replies, and converts XCB's errors.
final class XConnection: Sendable {
    /// The display's name, for errors.
    let display: String
    /// The root window of the screen that the name chose.
    let root: xcb_window_t
    /// The number of that screen.
    let screen: Int
    /// The connection for XCB's functions that send a request.
    // XCB locks within each of its functions, and the pointer lives as long as this object, which owns it.
    nonisolated(unsafe) let handle: OpaquePointer

    private static let patience = Duration.seconds(5)

    /// Connects to `display`, the value of `DISPLAY`, and waits at most `patience` for the server.
    init(display: String?, patience: Duration = patience) throws(CaptureError) {
        guard let display, !display.isEmpty else {
            throw .displayUnavailable(display: nil, reason: "DISPLAY is not set")
        }
        let (connection, screenNumber) = try Self.connect(to: display, within: patience)
        guard let handle = connection else {
            throw .displayUnavailable(display: display, reason: "there is no memory for it")
        }
        let status = xcb_connection_has_error(handle)
        guard status == 0 else {
            xcb_disconnect(handle)
            throw .displayUnavailable(display: display, reason: Self.reason(status))
        }
        // A name with a missing screen causes the error above, so one of these is it.
        var screens = xcb_setup_roots_iterator(xcb_get_setup(handle))
        for _ in 0..<max(screenNumber, 0) where screens.rem > 1 { xcb_screen_next(&screens) }
        guard screens.rem > 0, let screen = screens.data else {
            xcb_disconnect(handle)
            throw .displayUnavailable(display: display, reason: "it has no screen")
        }
        if let reason = Self.unsupportedPixels(screen.pointee.root_depth, xcb_get_setup(handle)) {
            xcb_disconnect(handle)
            throw .unsupportedPixels(display: display, reason: reason)
        }
        self.display = display
        self.root = screen.pointee.root
        self.screen = Int(max(screenNumber, 0))
        self.handle = handle
    }

    deinit {
        xcb_disconnect(handle)
    }

    private enum Attempt {
        case running
        case done(OpaquePointer?, screen: Int32)
        case abandoned
    }

    /// The displays to which a thread is connecting: one that does not answer holds up one thread, not one for each
    /// attempt.
    private static let connecting = Mailbox<Set<String>>([])

    /// Connects on a thread of its own, because XCB waits for the server without a limit.
    private static func connect(
        to display: String, within patience: Duration
    ) throws(CaptureError) -> (handle: OpaquePointer?, screen: Int32) {
        let deadline = monotonicNow() + patience
        let silence = CaptureError.displayUnavailable(
            display: display, reason: "it did not answer within \(patience.components.seconds) seconds")
        let isNext = connecting.take { displays in
            if displays.insert(display).inserted { return .done(true) }
            return monotonicNow() < deadline ? .wait(until: deadline) : .done(false)
        }
        guard isNext else { throw silence }
        let attempt = Mailbox(Attempt.running)
        do throws(WorkerThreadError) {
            _ = try WorkerThread(named: "display \(display)") {
                var screen: Int32 = 0
                let handle = xcb_connect(display, &screen)
                let isLate = attempt.post { attempt in
                    if case .abandoned = attempt { return true }
                    attempt = .done(handle, screen: screen)
                    return false
                }
                if isLate { xcb_disconnect(handle) }
                connecting.post { _ = $0.remove(display) }
            }
        } catch {
            connecting.post { _ = $0.remove(display) }
            throw .systemRefused(call: "pthread_create", errorNumber: error.errorNumber)
        }
        let found: (OpaquePointer?, Int32)? = attempt.take { attempt in
            if case .done(let handle, let screen) = attempt { return .done((handle, screen)) }
            guard monotonicNow() >= deadline else { return .wait(until: deadline) }
            attempt = .abandoned
            return .done(nil)
        }
        guard let found else { throw silence }
        return found
    }

    /// A reply's memory, freed with its owner.
    struct Reply<Value>: ~Copyable {
        let pointer: UnsafeMutablePointer<Value>

        var value: Value { pointer.pointee }

        deinit {
            free(pointer)
        }
    }

    /// Waits for the reply to the request with number `sequence`; nil if `signal` was raised first.
    func reply<Value>(
        _ request: String, _ sequence: UInt32, as type: Value.Type, signal: StopSignal?
    ) throws(CaptureError) -> Reply<Value>? {
        xcb_flush(handle)
        // Opening a source needs an answer. A running one waits longer: a window manager may grab the server for long.
        let deadline = signal == nil ? monotonicNow() + Self.patience : nil
        while true {
            var memory: UnsafeMutableRawPointer?
            var refusal: UnsafeMutablePointer<xcb_generic_error_t>?
            if xcb_poll_for_reply(handle, sequence, &memory, &refusal) == 1 {
                if let memory { return Reply(pointer: memory.assumingMemoryBound(to: Value.self)) }
                guard let refusal else { throw lost() }
                defer { free(refusal) }
                throw .requestRefused(request: request, code: Int(refusal.pointee.error_code))
            }
            guard xcb_connection_has_error(handle) == 0 else { throw lost() }
            switch wait(until: deadline, signal: signal) {
            case .ready: continue
            case .stopped:
                xcb_discard_reply(handle, sequence)
                return nil
            case .timedOut:
                throw .displayLost(
                    display: display, reason: "it did not answer within \(Self.patience.components.seconds) seconds")
            }
        }
    }

    /// Waits for the outcome of a checked request that has no reply. Returns false if it was rejected.
    func check(_ cookie: xcb_void_cookie_t) throws(CaptureError) -> Bool {
        guard let refusal = xcb_request_check(handle, cookie) else {
            guard xcb_connection_has_error(handle) == 0 else { throw lost() }
            return true
        }
        free(refusal)
        return false
    }

    /// Passes each event since the last call to `take`. The server's errors for requests without a reply are among
    /// them, with type 0: callers that need them use checked requests.
    func drainEvents(_ take: (XEvent) -> Void) throws(CaptureError) {
        while let event = xcb_poll_for_event(handle) {
            take(XEvent(event))
            free(event)
        }
        guard xcb_connection_has_error(handle) == 0 else { throw lost() }
    }

    /// Waits until the server has sent something, or until `deadline`. Returns false if `signal` was raised.
    func waitForInput(until deadline: Duration, signal: StopSignal) -> Bool {
        xcb_flush(handle)
        return signal.wait(readable: xcb_get_file_descriptor(handle), until: deadline) != .stopped
    }

    private func wait(until deadline: Duration?, signal: StopSignal?) -> StopSignal.Wakening {
        let descriptor = xcb_get_file_descriptor(handle)
        if let signal { return signal.wait(readable: descriptor, until: deadline) }
        var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        let timeout = deadline.map { max($0 - monotonicNow(), .zero).wholeMilliseconds } ?? -1
        return poll(&entry, 1, timeout) == 0 ? .timedOut : .ready
    }

    private func lost() -> CaptureError {
        .displayLost(display: display, reason: Self.reason(xcb_connection_has_error(handle)))
    }

    private static func reason(_ status: Int32) -> String {
        switch status {
        case XCB_CONN_CLOSED_PARSE_ERR: "its name is not HOST:NUMBER.SCREEN"
        case XCB_CONN_CLOSED_INVALID_SCREEN: "it has no such screen"
        case XCB_CONN_CLOSED_EXT_NOTSUPPORTED: "it lacks an X11 extension"
        case XCB_CONN_CLOSED_MEM_INSUFFICIENT: "there is no memory for it"
        case XCB_CONN_CLOSED_REQ_LEN_EXCEED: "a request was too long for it"
        default: "nothing answers there, it refused this user, or it closed the connection"
        }
    }

    /// Returns the reason why pixels of this depth can't be read; nil if they can.
    func unsupportedPixels(depth: UInt8) -> String? { Self.unsupportedPixels(depth, xcb_get_setup(handle)) }

    private static func unsupportedPixels(_ depth: UInt8, _ setup: UnsafePointer<xcb_setup_t>?) -> String? {
        guard depth == 24 || depth == 32 else { return "its depth is \(depth)" }
        guard let setup, setup.pointee.image_byte_order == UInt8(XCB_IMAGE_ORDER_LSB_FIRST.rawValue) else {
            return "its bytes are in big-endian order"
        }
        var formats = xcb_setup_pixmap_formats_iterator(setup)
        while formats.rem > 0, let format = formats.data?.pointee {
            if format.depth == depth {
                return format.bits_per_pixel == 32 ? nil : "a pixel has \(format.bits_per_pixel) bits, not 32"
            }
            xcb_format_next(&formats)
        }
        return "it names no layout for depth \(depth)"
    }
}

/// An event of the X server, valid only during a call.
struct XEvent {
    /// Its number, without the highest bit, which marks events from other clients.
    var type: UInt8 { pointer.pointee.response_type & 0x7F }
    /// Whether another client sent it, and not the server.
    var isSent: Bool { pointer.pointee.response_type & 0x80 != 0 }

    private let pointer: UnsafePointer<xcb_generic_event_t>

    init(_ pointer: UnsafePointer<xcb_generic_event_t>) {
        self.pointer = pointer
    }

    /// Returns its content, if its type is that of `Event`. Events have 32 bytes, like all but a few of these types.
    func read<Event: BitwiseCopyable>(as type: Event.Type) -> Event {
        UnsafeRawPointer(pointer).loadUnaligned(as: type)
    }
}

/// A set of X event types: numbers from 0 to 127.
struct EventTypes: Equatable {
    private var low: UInt64 = 0
    private var high: UInt64 = 0

    /// Adds a type, without the highest bit, which marks events from other clients.
    mutating func insert(_ type: UInt8) {
        if type & 0x40 == 0 { low |= 1 << UInt64(type & 0x3F) } else { high |= 1 << UInt64(type & 0x3F) }
    }

    func contains(_ type: UInt8) -> Bool {
        (type & 0x40 == 0 ? low : high) >> UInt64(type & 0x3F) & 1 == 1
    }

    func isDisjoint(with other: EventTypes) -> Bool { low & other.low | high & other.high == 0 }
}
