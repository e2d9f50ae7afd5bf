import RTCShareLocks
import Testing

/// The events in order. A test waits for entries, and each entry wakes it, never the clock.
final class EventLog<Entry: Sendable>: Sendable {
    private struct State {
        var entries: [Entry] = []
        var waiters: [AsyncStream<Void>.Continuation] = []
    }

    private let state = Locked(State())

    var entries: [Entry] { state.withLock { $0.entries } }

    func append(_ entry: Entry) {
        let waiters = state.withLock { state in
            state.entries.append(entry)
            return state.waiters
        }
        for waiter in waiters { waiter.yield() }
    }

    /// Waits until the entries are as expected, and returns them. The suite's time limit ends a wait that has no
    /// result.
    @discardableResult
    func wait(
        _ location: SourceLocation = #_sourceLocation, until condition: ([Entry]) -> Bool
    ) async -> [Entry] {
        let (stream, continuation) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        state.withLock { $0.waiters.append(continuation) }
        continuation.yield()
        for await _ in stream {
            let entries = entries
            if condition(entries) { return entries }
        }
        Issue.record("waited in vain", sourceLocation: location)
        return entries
    }

    @discardableResult
    func wait(count: Int, _ location: SourceLocation = #_sourceLocation) async -> [Entry] {
        await wait(location) { $0.count >= count }
    }
}
