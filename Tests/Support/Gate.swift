internal import RTCShareLocks

/// A gate that threads wait at until it is opened.
package final class Gate: Sendable {
    private let state = Mailbox((isOpen: false, isReached: false))

    /// A closed gate.
    package init() {}

    /// Whether a thread has come here.
    package var isReached: Bool { state.read { $0.isReached } }

    package func open() { state.post { $0.isOpen = true } }

    package func pass() {
        state.post { $0.isReached = true }
        state.take { $0.isOpen ? .done(()) : .wait(until: nil) }
    }
}
