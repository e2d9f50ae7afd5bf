internal import RTCShareLocks

/// An event that waits for its reader, who may be slow or missing.
///
/// Peers, sources and programs cause any number of events, so the number that waits is limited: of states, only the
/// newest waits. Single events, local candidates, and the starts and ends of a program's tracks all wait. Peers can't
/// cause more of these.
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

/// The events of a connection, a stream or a share for their only reader.
package final class PendingEvents<Event: QueuedEvent>: Sendable {
    private typealias Reader = CheckedContinuation<Event?, Never>

    private struct State {
        var queue = EventQueue<Event>()
        var isFinished = false
        var reader: Reader?
        /// The number of the last wait.
        var waits = 0
        /// The number of the reader's wait: a cancellation ends only its own one.
        var readerWait = 0

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

    /// The events in order, up to ``finish()``.
    package var stream: Stream { Stream(events: self) }

    /// The sequence of the events. Each event goes directly from its thread to the reader's executor.
    package struct Stream: AsyncSequence, Sendable {
        fileprivate let events: PendingEvents

        package func makeAsyncIterator() -> Iterator { Iterator(events: events) }

        package struct Iterator: AsyncIteratorProtocol {
            fileprivate let events: PendingEvents

            package func next(isolation: isolated (any Actor)?) async -> Event? {
                let wait = events.beginWait()
                return await withTaskCancellationHandler {
                    await events.next(in: wait, isolation: isolation)
                } onCancel: { [events] in
                    events.cancel(wait)
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

    private func beginWait() -> Int {
        state.withLock { state in
            state.waits += 1
            return state.waits
        }
    }

    /// Ends a wait without an event. The events stay for another loop.
    private func cancel(_ wait: Int) {
        let reader: Reader? = state.withLock { state in
            guard state.readerWait == wait else { return nil }
            defer { state.reader = nil }
            return state.reader
        }
        reader?.resume(returning: nil)
    }

    private func next(in wait: Int, isolation: isolated (any Actor)?) async -> Event? {
        await withCheckedContinuation { continuation in
            let waiting: (reader: Reader, event: Event?)? = state.withLock { state in
                // A second reader receives the end. A cancellation from now on finds the reader in the state.
                guard state.reader == nil, !Task.isCancelled else { return (continuation, nil) }
                (state.reader, state.readerWait) = (continuation, wait)
                return state.takeReader()
            }
            waiting?.reader.resume(returning: waiting?.event)
        }
    }
}
