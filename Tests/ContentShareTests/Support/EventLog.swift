import RTCShareLocks
import Testing

/// What happened, in order, for a test to wait for: woken by each entry, never by the clock.
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

    /// Returns the entries once they are as wanted. The suite's time limit ends a wait in vain.
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
