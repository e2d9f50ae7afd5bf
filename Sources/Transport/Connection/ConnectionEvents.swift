internal import RTCShareLocks

/// An event that waits for its reader, who may be slow or missing.
///
/// A peer causes events, so their number is limited: of states, only the newest waits. Single events, and local
/// candidates, all wait: a peer can't cause more of them.
package protocol QueuedEvent: Sendable {
    /// Returns whether this event makes `old` useless for a reader.
    func outdates(_ old: Self) -> Bool
    /// Whether it takes the position of the event that it outdates, before later events.
    var keepsPlace: Bool { get }
}

extension QueuedEvent {
    package var keepsPlace: Bool { false }
}

/// The events that wait for their reader.
struct EventQueue<Event: QueuedEvent> {
    private var events: [Event] = []

    var count: Int { events.count }

    mutating func append(_ event: Event) {
        if event.keepsPlace, let place = events.firstIndex(where: event.outdates) {
            events[place] = event
        } else {
            events.removeAll(where: event.outdates)
            events.append(event)
        }
    }

    mutating func takeFirst() -> Event? { events.isEmpty ? nil : events.removeFirst() }
}

/// The events of a connection for their only reader.
package final class ConnectionEvents<Event: QueuedEvent>: Sendable {
    private typealias Reader = CheckedContinuation<Event?, Never>

    private struct State {
        var queue = EventQueue<Event>()
        var isFinished = false
        var reader: Reader?

        /// Removes and returns the waiting reader, with the event for it, or nil if no event will follow.
        mutating func takeReader() -> (reader: Reader, event: Event?)? {
            guard let reader, isFinished || queue.count > 0 else { return nil }
            self.reader = nil
            return (reader, queue.takeFirst())
        }
    }

    private let state = Locked(State())

    /// Creates an empty queue.
    package init() {}

    /// The events in order, until the connection is closed.
    package var stream: Stream { Stream(events: self) }

    /// The sequence of the events. Its reader takes each on its own executor: an event goes there straight from the event loop.
    package struct Stream: AsyncSequence, Sendable {
        fileprivate let events: ConnectionEvents

        package func makeAsyncIterator() -> Iterator { Iterator(events: events) }

        package struct Iterator: AsyncIteratorProtocol {
            fileprivate let events: ConnectionEvents

            package func next(isolation: isolated (any Actor)?) async -> Event? {
                await withTaskCancellationHandler {
                    await events.next(isolation: isolation)
                } onCancel: { [events] in
                    events.finish()
                }
            }
        }
    }

    /// Appends an event, and removes those that it outdates.
    package func append(_ event: Event) {
        let waiting = state.withLock { state in
            if !state.isFinished { state.queue.append(event) }
            return state.takeReader()
        }
        waiting?.reader.resume(returning: waiting?.event)
    }

    /// Ends the stream after the waiting events.
    package func finish() {
        let waiting = state.withLock { state in
            state.isFinished = true
            return state.takeReader()
        }
        waiting?.reader.resume(returning: waiting?.event)
    }

    private func next(isolation: isolated (any Actor)?) async -> Event? {
        guard !Task.isCancelled else { return nil }
        return await withCheckedContinuation { continuation in
            let waiting: (reader: Reader, event: Event?)? = state.withLock { state in
                // A second reader receives the end.
                guard state.reader == nil else { return (continuation, nil) }
                state.reader = continuation
                return state.takeReader()
            }
            waiting?.reader.resume(returning: waiting?.event)
        }
    }
}
