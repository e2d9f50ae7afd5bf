/// An event of a capture, as a ``CaptureSourceObserver`` gets it.
public enum CaptureEvent: Sendable {
    /// Capture has begun.
    case started
    /// Capture has ended, on request or because the source has no more frames.
    case stopped
    /// Capture has failed. It continues after ``CaptureSourceError/Kind/invalidFrame``, and has ended otherwise.
    case failed(CaptureSourceError)
    /// Capture is interrupted: no frames come, or they show nothing. It continues when the interruption is over.
    case interrupted(CaptureInterruption)
    /// The interruption is over.
    case interruptionEnded(CaptureInterruption)
    /// The size of the frames has changed.
    case sizeChanged(PixelSize)

    /// Whether no event of the same capture follows.
    var isEnd: Bool {
        switch self {
        case .stopped: true
        case .failed(let error): error.kind != .invalidFrame
        case .started, .interrupted, .interruptionEnded, .sizeChanged: false
        }
    }

    func notify(_ observer: any CaptureSourceObserver) {
        switch self {
        case .started: observer.captureDidStart()
        case .stopped: observer.captureDidStop()
        case .failed(let error): observer.captureDidFail(error: error)
        case .interrupted(let interruption): observer.captureWasInterrupted(by: interruption)
        case .interruptionEnded(let interruption): observer.captureInterruptionDidEnd(interruption)
        case .sizeChanged(let size): observer.captureSizeDidChange(to: size)
        }
    }

    /// Returns the events of the source to which `add` adds an observer.
    static func stream(of add: (any CaptureSourceObserver) -> Void) -> AsyncStream<CaptureEvent> {
        // A process that captures for another one causes events, too, so their number is limited.
        let (stream, continuation) = AsyncStream.makeStream(of: Self.self, bufferingPolicy: .bufferingNewest(64))
        let reader = CaptureEventReader(continuation)
        // The source's reference is weak. The stream retains the reader until it ends or is not read any more.
        continuation.onTermination = { _ in withExtendedLifetime(reader) {} }
        add(reader)
        return stream
    }
}

/// The reader of a sequence of events.
final class CaptureEventReader: CaptureSourceObserver {
    private let continuation: AsyncStream<CaptureEvent>.Continuation

    init(_ continuation: AsyncStream<CaptureEvent>.Continuation) { self.continuation = continuation }

    func take(_ event: CaptureEvent) {
        continuation.yield(event)
        if event.isEnd { finish() }
    }

    func finish() { continuation.finish() }

    func captureDidStart() { take(.started) }
    func captureDidStop() { take(.stopped) }
    func captureDidFail(error: CaptureSourceError) { take(.failed(error)) }
    func captureWasInterrupted(by interruption: CaptureInterruption) { take(.interrupted(interruption)) }
    func captureInterruptionDidEnd(_ interruption: CaptureInterruption) { take(.interruptionEnded(interruption)) }
    func captureSizeDidChange(to size: PixelSize) { take(.sizeChanged(size)) }
}
