import RTCShareCPulse

/// A connection to the sound server, used by one thread. It waits only in ``wait(atMost:until:)``, which the stop
/// signal ends.
package final class PulseSession {
    /// The connection's handle, for requests.
    let context: OpaquePointer
    private let loop: OpaquePointer
    private let signal: StopSignal?
    private let server: String?
    private var isReady = false
    /// The number of times that a device was added or removed, or the default changed, since ``watchDevices()``.
    private(set) var deviceChanges = 0

    /// The timeout for the server's answers.
    static let answerTime = Duration.seconds(5)

    /// Starts to connect to `server` (in the form of `PULSE_SERVER`; nil for the session's).
    package init(server: String?, signal: StopSignal?) throws(CaptureError) {
        if let problem = pulse_library_problem() {
            throw .soundServerUnavailable(server: server, reason: String(cString: problem))
        }
        guard let loop = pa_mainloop_new() else {
            throw .soundServerUnavailable(server: server, reason: "no main loop can be made")
        }
        guard let api = pa_mainloop_get_api(loop), let context = pa_context_new(api, "rtcshare") else {
            pa_mainloop_free(loop)
            throw .soundServerUnavailable(server: server, reason: "no connection can be made")
        }
        self.loop = loop
        self.context = context
        self.signal = signal
        self.server = server
        // The loop wakes when the signal is raised. The event source is freed with the loop.
        if let signal { _ = api.pointee.io_new?(api, signal.descriptor, PA_IO_EVENT_INPUT, { _, _, _, _, _ in }, nil) }
        guard pa_context_connect(context, server, PA_CONTEXT_NOAUTOSPAWN, nil) >= 0 else { throw failure }
    }

    deinit {
        pa_context_set_subscribe_callback(context, nil, nil)
        pa_context_disconnect(context)
        pa_context_unref(context)
        pa_mainloop_free(loop)
    }

    /// Waits until the server has accepted the connection. Returns false if the signal was raised.
    package func connect() throws(CaptureError) -> Bool {
        let isConnected = try wait(atMost: Self.answerTime) { pa_context_get_state(context) == PA_CONTEXT_READY }
        isReady = isConnected
        return isConnected
    }

    /// Handles the server's events until `isDone` returns true. Returns false if the signal was raised.
    ///
    /// Throws if the connection fails, or after `limit` (nil: none).
    package func wait(atMost limit: Duration?, until isDone: () -> Bool) throws(CaptureError) -> Bool {
        switch try handleEvents(for: limit, until: isDone) {
        case .done: return true
        case .stopped: return false
        case .timedOut: throw lost("it does not answer")
        }
    }

    /// Handles events until `isDone` returns true, or for `limit` (nil: none). Returns false if the signal was raised.
    func rest(atMost limit: Duration?, until isDone: () -> Bool) throws(CaptureError) -> Bool {
        try handleEvents(for: limit, until: isDone) != .stopped
    }

    private enum Outcome { case done, stopped, timedOut }

    private func handleEvents(for limit: Duration?, until isDone: () -> Bool) throws(CaptureError) -> Outcome {
        let deadline = limit.map { monotonicNow() + $0 }
        while true {
            if signal?.isRaised == true { return .stopped }
            // READY is followed only by FAILED and TERMINATED.
            guard pa_context_get_state(context).rawValue <= PA_CONTEXT_READY.rawValue else { throw failure }
            if isDone() { return .done }
            let left = deadline.map { $0 - monotonicNow() }
            if let left, left <= .zero { return .timedOut }
            // Without a limit only the server or the signal ends the wait.
            let timeout = left.map { Int32($0.wholeMilliseconds) * 1000 + 1000 } ?? -1
            guard pa_mainloop_prepare(loop, timeout) >= 0, pa_mainloop_poll(loop) >= 0, pa_mainloop_dispatch(loop) >= 0
            else { throw lost("its connection can't be polled") }
        }
    }

    /// The action that makes ``wait(atMost:until:)`` check again. Any thread can call it while the session exists.
    package var wakening: @Sendable () -> Void {
        // libpulse has this one function for other threads. The owner of the session keeps it alive longer than the
        // action's users.
        nonisolated(unsafe) let loop = loop
        return { pa_mainloop_wakeup(loop) }
    }

    /// Waits for the answer to a request, and cancels the request if there is none: its callback is not called any
    /// more.
    func finish(_ operation: OpaquePointer?) throws(CaptureError) -> Bool {
        guard let operation else { throw failure }
        defer {
            pa_operation_cancel(operation)
            pa_operation_unref(operation)
        }
        return try wait(atMost: Self.answerTime) { pa_operation_get_state(operation) != PA_OPERATION_RUNNING }
    }

    /// Counts a change in ``deviceChanges``.
    func deviceDidChange() { deviceChanges += 1 }

    /// The error for the connection's state.
    var failure: CaptureError { lost(Self.message(pa_context_errno(context))) }

    private func lost(_ reason: String) -> CaptureError {
        isReady ? .soundServerLost(reason: reason) : .soundServerUnavailable(server: server, reason: reason)
    }

    /// Returns the text for an error number of libpulse.
    static func message(_ number: Int32) -> String {
        switch pa_error_code_t(rawValue: UInt32(bitPattern: number)) {
        case PA_ERR_CONNECTIONREFUSED: CaptureError.nothingListens
        case PA_ERR_ACCESS, PA_ERR_AUTHKEY: "it refuses this user"
        case PA_ERR_CONNECTIONTERMINATED: "it closed the connection"
        case PA_ERR_KILLED: "the audio server ended it"
        case PA_ERR_PROTOCOL, PA_ERR_VERSION: "it does not speak PulseAudio's protocol"
        case PA_ERR_TIMEOUT: "it does not answer"
        case PA_ERR_INVALIDSERVER: "this is not the address of an audio server"
        case PA_ERR_NOENTITY: "it has no such device"
        default: pa_strerror(number).map { String(cString: $0) } ?? "error \(number)"
        }
    }
}
