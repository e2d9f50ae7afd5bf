import RTCShareLocks

/// Lets portals see who asks them.
///
/// A portal looks at the root folder of each program that asks it (`/proc/PID/root`), to tell those in sandboxes. A program that
/// keeps its memory from others of its user (PR_SET_DUMPABLE of prctl(2)) keeps that from them too, and is refused.
package enum PortalIdentification {
    private struct State {
        var show: (@Sendable (Bool) -> Void)?
        var questions = 0
    }

    private static let state = Locked(State())

    /// Has `show` called with true before a portal is asked the first thing over a connection, and with false once it has seen
    /// who asks.
    package static func set(_ show: @escaping @Sendable (Bool) -> Void) { state.withLock { $0.show = show } }

    static func begin() {
        state.withLock { state in
            state.questions += 1
            if state.questions == 1 { state.show?(true) }
        }
    }

    static func end() {
        state.withLock { state in
            state.questions -= 1
            if state.questions == 0 { state.show?(false) }
        }
    }
}
