internal import RTCShareLocks

/// An event that waits for its reader, who may be slow or never come.
///
/// A peer causes them, so that their number is bounded: of what is a state the newest waits. What happens once, and local
/// candidates, all wait: a peer can't cause more of them.
package protocol QueuedEvent: Sendable {
    /// Whether a reader of this event has no use for `old`.
    func outdates(_ old: Self) -> Bool
    /// Whether it takes the place of what it outdates, before what happened since.
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

/// Events of a connection on their way to their reader, of whom there is one.
package final class ConnectionEvents<Event: QueuedEvent>: Sendable {
    private typealias Reader = CheckedContinuation<Event?, Never>

    private struct State {
        var queue = EventQueue<Event>()
        var isFinished = false
        var reader: Reader?

        /// The reader that waits, and what it waits for, or that nothing will come any more.
        mutating func takeReader() -> (reader: Reader, event: Event?)? {
            guard let reader, isFinished || queue.count > 0 else { return nil }
            self.reader = nil
            return (reader, queue.takeFirst())
        }
    }

    private let state = Locked(State())

    /// Without an event.
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

    /// Ends the stream once what waits has been read.
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
                // A second reader is told of the end.
                guard state.reader == nil else { return (continuation, nil) }
                state.reader = continuation
                return state.takeReader()
            }
            waiting?.reader.resume(returning: waiting?.event)
        }
    }
}
