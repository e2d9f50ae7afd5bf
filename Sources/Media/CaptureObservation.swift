internal import RTCShareLocks
package import RTCShareWireFormat

/// An observer of video or audio capture. Called where the event occurs, usually on the source's thread, with no lock
/// held.
public protocol CaptureSourceObserver: AnyObject, Sendable {
    /// Called when capture has started.
    func captureDidStart()
    /// Called when capture has stopped, on request or at the end of the source.
    func captureDidStop()
    /// Called on an error. Capture continues after ``CaptureSourceError/Kind/invalidFrame``, and has ended otherwise.
    func captureDidFail(error: CaptureSourceError)
    /// Called when the captured object provides no video for now, or nobody can see it. Capture waits for it. If there
    /// is no video, the sinks are muted until then, and viewers see that the share is paused.
    func captureWasInterrupted(by interruption: CaptureInterruption)
    /// Called when an interruption has ended.
    func captureInterruptionDidEnd(_ interruption: CaptureInterruption)
    /// Called when the size of the frames has changed.
    func captureSizeDidChange(to size: PixelSize)
}

extension CaptureSourceObserver {
    /// Does nothing.
    public func captureDidStart() {}
    /// Does nothing.
    public func captureDidStop() {}
    /// Does nothing.
    public func captureDidFail(error: CaptureSourceError) {}
    /// Does nothing.
    public func captureWasInterrupted(by interruption: CaptureInterruption) {}
    /// Does nothing.
    public func captureInterruptionDidEnd(_ interruption: CaptureInterruption) {}
    /// Does nothing.
    public func captureSizeDidChange(to size: PixelSize) {}
}

/// A source of video or audio whose capture has observers.
public protocol ObservableCapture: AnyObject, Sendable {
    /// Adds an observer of capture.
    func add(observer: any CaptureSourceObserver)
    /// Removes an observer.
    func remove(observer: any CaptureSourceObserver)
}

extension ObservableCapture {
    /// The events of the capture, up to its end. They begin with those of a running capture that still hold: its start
    /// and its interruption. They also end when the source is released. Each access returns a new sequence, for one
    /// reader. If the reader is slow, the newest events are kept.
    public var events: AsyncStream<CaptureEvent> { CaptureEvent.stream { add(observer: $0) } }
}

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
    fileprivate var isEnd: Bool {
        switch self {
        case .stopped: true
        case .failed(let error): error.kind != .invalidFrame
        case .started, .interrupted, .interruptionEnded, .sizeChanged: false
        }
    }

    fileprivate func notify(_ observer: any CaptureSourceObserver) {
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
    fileprivate static func stream(of add: (any CaptureSourceObserver) -> Void) -> AsyncStream<CaptureEvent> {
        // A process that captures for another one causes events, too, so their number is limited.
        let (stream, continuation) = AsyncStream.makeStream(of: Self.self, bufferingPolicy: .bufferingNewest(64))
        let reader = CaptureEventReader(continuation)
        // The source's reference is weak. The stream retains the reader until it ends or is not read any more.
        continuation.onTermination = { _ in withExtendedLifetime(reader) {} }
        add(reader)
        return stream
    }
}

private final class CaptureEventReader: CaptureSourceObserver {
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

/// The reason why capture is interrupted, but has not ended.
public enum CaptureInterruption: Sendable, Hashable, CustomStringConvertible {
    /// The window is minimized, or on another desktop: it provides no video.
    case minimized
    /// The window is beyond the edges of the screen. Its video continues.
    case movedOffScreen
    /// The desktop asks the user what to share.
    case awaitingChoice
    /// The desktop has not provided the first frame yet, because its screen is unchanged.
    case awaitingPicture
    /// The desktop has stopped to provide frames, for example of a minimized window, and may resume.
    case heldByDesktop
    /// The capturing process is not connected: `reason` names since when, or why.
    case extensionUnavailable(reason: String)
    /// The camera was unplugged, or provides nothing: `reason` names the camera and the cause.
    case cameraUnavailable(reason: String)
    /// The source is muted, for an unknown reason.
    case sourceMuted
    /// The microphone, the captured output or the sound server is unavailable: `reason` names it.
    case audioUnavailable(reason: String)
    /// The monitor is off or unplugged, or the region is beyond the screen: `reason` names it.
    case displayUnavailable(reason: String)

    /// A text for people.
    public var description: String {
        switch self {
        case .minimized: "the window is minimized"
        case .movedOffScreen: "the window was moved off the screen"
        case .awaitingChoice: "the desktop waits for your choice in its dialog"
        case .awaitingPicture: "the desktop sends the first frame when something on the screen changes"
        case .heldByDesktop: "the desktop sends no frames, perhaps because the window is minimized"
        case .sourceMuted: "the source sends no frames"
        case .extensionUnavailable(let reason), .cameraUnavailable(let reason), .displayUnavailable(let reason),
            .audioUnavailable(let reason):
            reason
        }
    }
}

/// The reason why capture failed.
public struct CaptureSourceError: Error, Sendable {
    /// The kind of a failure.
    public enum Kind: Sendable, Hashable {
        /// Any other failure.
        case unknown
        /// The system, the display or the sound server rejected an operation, or became unavailable.
        case systemFailure
        /// The requested source or format can't be captured.
        case configurationFailure
        /// A frame was invalid, and was dropped.
        case invalidFrame
    }

    /// The kind of the failure.
    public let kind: Kind
    /// The failure and its reason and, separately, a remedy.
    package let explanation: Explanation

    /// Creates a failure with a description.
    public init(_ kind: Kind, _ description: String) { self.init(kind, Explanation(description)) }

    /// Creates a failure with a description and, separately, a remedy.
    package init(_ kind: Kind, _ explanation: Explanation) {
        self.kind = kind
        self.explanation = explanation
    }

    /// Creates the failure that represents an error: the error itself if it is one, or its description.
    public init(_ error: any Error) {
        self =
            error as? CaptureSourceError
            ?? CaptureSourceError((error as? any CaptureFailure)?.kind ?? .unknown, Explanation(error))
    }
}

extension CaptureSourceError: CustomStringConvertible {
    /// The failure, its reason and a remedy.
    public var description: String { explanation.text }
}

extension CaptureSourceError: ExplainedError {}

/// An error that has a kind of capture failure.
public protocol CaptureFailure: Error {
    /// The kind of failure.
    var kind: CaptureSourceError.Kind { get }
}

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
