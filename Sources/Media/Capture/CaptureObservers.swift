internal import RTCShareLocks
internal import RTCShareWireFormat

/// The observers of a source.
package final class CaptureObservers: Sendable {
    private let observers = ObserverList<any CaptureSourceObserver>()
    private let readers = ObserverList<CaptureEventReader>()
    /// The state of the capture, which a later reader gets first. Readers get events only while its lock is held.
    private let state = Locked(State())

    private struct State {
        var isRunning = false
        var interruption: CaptureInterruption?

        var events: [CaptureEvent] {
            (isRunning ? [.started] : []) + (interruption.map { [.interrupted($0)] } ?? [])
        }

        mutating func update(for event: CaptureEvent) {
            switch event {
            case .started: isRunning = true
            case .interrupted(let new): interruption = new
            case .interruptionEnded: interruption = nil
            case .stopped, .failed: if event.isEnd { self = State() }
            case .sizeChanged: break
            }
        }
    }

    /// Creates a list without observers.
    package init() {}

    deinit { readers.forEach { $0.finish() } }

    /// Adds an observer. An observer that was added before is not added again.
    package func add(_ observer: any CaptureSourceObserver) {
        guard let reader = observer as? CaptureEventReader else {
            observers.add(observer)
            return
        }
        state.withLock { state in
            readers.add(reader)
            state.events.forEach(reader.take)
        }
    }

    /// Removes an observer.
    package func remove(_ observer: any CaptureSourceObserver) { observers.remove(observer) }

    /// Notifies the observers that capture has started.
    package func didStart() { report(.started) }

    /// Notifies the observers that capture has ended. `error` is nil if that was requested.
    package func didEnd(error: (any Error)?) {
        report(error.map { .failed(CaptureSourceError($0)) } ?? .stopped)
    }

    /// Notifies the observers of an interruption.
    package func wasInterrupted(by interruption: CaptureInterruption) { report(.interrupted(interruption)) }

    /// Notifies the observers of the end of an interruption.
    package func interruptionDidEnd(_ interruption: CaptureInterruption) { report(.interruptionEnded(interruption)) }

    /// Notifies the observers of the frames' new size.
    package func sizeDidChange(to size: PixelSize) { report(.sizeChanged(size)) }

    /// Notifies the observers that a frame was invalid, and was dropped.
    package func didRefuse(_ error: any Error) {
        report(.failed(CaptureSourceError(.invalidFrame, Explanation(error))))
    }

    private func report(_ event: CaptureEvent) {
        state.withLock { state in
            state.update(for: event)
            readers.forEach { $0.take(event) }
        }
        observers.forEach(event.notify)
    }
}
