internal import RTCShareLocks

/// The sinks of a source, each with the properties that it was last notified of. No sink is notified of older
/// properties after newer ones, whichever threads add sinks and change properties.
///
/// No lock is held while a sink is called. One thread at a time notifies, and checks again afterwards.
final class SinkList<Sink: Sendable, Properties: Equatable & Sendable>: Sendable {
    private struct Entry {
        let sink: Sink
        var delivered: Properties?

        func isFor(_ other: Sink) -> Bool { sink as AnyObject === other as AnyObject }
    }

    private struct State {
        var entries: [Entry] = []
        var properties: Properties
        var isNotifying = false
        var isClosed = false

        /// Returns the next sink to notify, and the properties that it was notified of before.
        mutating func nextNotification() -> (sink: Sink, old: Properties?, new: Properties)? {
            guard let index = entries.firstIndex(where: { $0.delivered != properties }) else {
                isNotifying = false
                return nil
            }
            let old = entries[index].delivered
            entries[index].delivered = properties
            return (entries[index].sink, old, properties)
        }
    }

    private let state: Locked<State>
    private let notify: @Sendable (_ sink: Sink, _ old: Properties?, _ new: Properties) -> Void

    /// Creates an empty list. `notify` is called with each change of properties; `old` is nil for a new sink.
    init(_ properties: Properties, notify: @escaping @Sendable (Sink, _ old: Properties?, _ new: Properties) -> Void) {
        state = Locked(State(properties: properties))
        self.notify = notify
    }

    var properties: Properties { state.withLock { $0.properties } }

    var isEmpty: Bool { state.withLock { $0.entries.isEmpty } }

    func update(_ change: (inout Properties) -> Void) {
        state.withLock { change(&$0.properties) }
        announce()
    }

    /// Adds a sink, unless it was added before. Returns false if the list is closed.
    func add(_ sink: Sink) -> Bool {
        let isOpen = state.withLock { state in
            guard !state.isClosed else { return false }
            if !state.entries.contains(where: { $0.isFor(sink) }) { state.entries.append(Entry(sink: sink)) }
            return true
        }
        announce()
        return isOpen
    }

    func remove(_ sink: Sink) {
        state.withLock { $0.entries.removeAll { $0.isFor(sink) } }
    }

    /// Removes all sinks and returns them: this list may hold their last references, and no lock may be held when they
    /// are freed. A closed list accepts no others.
    @discardableResult
    func removeAll(closing: Bool = false) -> [Sink] {
        state.withLock { state in
            defer { state.entries = [] }
            if closing { state.isClosed = true }
            return state.entries.map(\.sink)
        }
    }

    /// Calls `body` with each sink. Skips a sink that another one has removed in this round.
    func forEach(_ body: (Sink) -> Void) {
        for entry in state.withLock({ $0.entries }) {
            guard state.withLock({ $0.entries.contains { $0.isFor(entry.sink) } }) else { continue }
            LockCheck.assertNoneHeld("a sink is called")
            body(entry.sink)
        }
    }

    /// Combines a value of each sink, beginning with `initial`.
    func reduce<Result>(_ initial: Result, _ next: (Result, Sink) -> Result) -> Result {
        state.withLock { $0.entries }.reduce(initial) { next($0, $1.sink) }
    }

    private func announce() {
        let isMine = state.withLock { state in
            defer { state.isNotifying = true }
            return !state.isNotifying
        }
        guard isMine else { return }
        LockCheck.assertNoneHeld("a sink is called")
        while let next = state.withLock({ $0.nextNotification() }) { notify(next.sink, next.old, next.new) }
    }
}
