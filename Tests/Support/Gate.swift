internal import RTCShareLocks

/// A gate at which threads wait until it is opened.
package final class Gate: Sendable {
    private let state = Mailbox((isOpen: false, isReached: false))

    /// Creates a closed gate.
    package init() {}

    /// Whether a thread has arrived.
    package var isReached: Bool { state.read { $0.isReached } }

    package func open() { state.post { $0.isOpen = true } }

    package func pass() {
        state.post { $0.isReached = true }
        state.take { $0.isOpen ? .done(()) : .wait(until: nil) }
    }
}
