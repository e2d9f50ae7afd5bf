import RTCShareLocks

/// Allows portals to identify this process.
///
/// To detect sandboxes, a portal reads the root directory of each program that calls it (`/proc/PID/root`). A program
/// that protects its memory from other processes of its user (PR_SET_DUMPABLE of prctl(2)) prevents that, too, and is
/// rejected.
package enum PortalIdentification {
    private struct State {
        var show: (@Sendable (Bool) -> Void)?
        var questions = 0
    }

    private static let state = Locked(State())

    /// Sets an action that is called with true before the first request to a portal over a connection, and with false
    /// when the portal has identified the process.
    package static func set(_ show: @escaping @Sendable (Bool) -> Void) { state.withLock { $0.show = show } }

    /// Allows portals to identify the process, until as many calls of ``end()``.
    package static func begin() {
        state.withLock { state in
            state.questions += 1
            if state.questions == 1 { state.show?(true) }
        }
    }

    /// Ends what a call of ``begin()`` allows.
    package static func end() {
        state.withLock { state in
            state.questions -= 1
            if state.questions == 0 { state.show?(false) }
        }
    }
}
