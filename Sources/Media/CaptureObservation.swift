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

    /// The events from now on, up to the end of the capture.
    static func stream(of add: (any CaptureSourceObserver) -> Void) -> AsyncStream<CaptureEvent> {
        // A process that captures for another causes them as well, so that their number is bounded.
        let (stream, continuation) = AsyncStream.makeStream(of: Self.self, bufferingPolicy: .bufferingNewest(64))
        let observer = CaptureEventObserver(continuation)
        // A source holds it weakly, the stream until it ends or nobody reads it.
        continuation.onTermination = { _ in withExtendedLifetime(observer) {} }
        add(observer)
        return stream
    }
}

private final class CaptureEventObserver: CaptureSourceObserver {
    private let continuation: AsyncStream<CaptureEvent>.Continuation

    init(_ continuation: AsyncStream<CaptureEvent>.Continuation) { self.continuation = continuation }

    func captureDidStart() { continuation.yield(.started) }

    func captureDidStop() {
        continuation.yield(.stopped)
        continuation.finish()
    }

    func captureDidFail(error: CaptureSourceError) {
        continuation.yield(.failed(error))
        if error.kind != .invalidFrame { continuation.finish() }
    }

    func captureWasInterrupted(by interruption: CaptureInterruption) { continuation.yield(.interrupted(interruption)) }
    func captureInterruptionDidEnd(_ interruption: CaptureInterruption) {
        continuation.yield(.interruptionEnded(interruption))
    }
    func captureSizeDidChange(to size: PixelSize) { continuation.yield(.sizeChanged(size)) }
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

    /// Creates a list without observers.
    package init() {}

    /// Adds an observer. An observer that was added before is not added again.
    package func add(_ observer: any CaptureSourceObserver) { observers.add(observer) }

    /// Removes an observer.
    package func remove(_ observer: any CaptureSourceObserver) { observers.remove(observer) }

    /// Notifies the observers that capture has started.
    package func didStart() { observers.forEach { $0.captureDidStart() } }

    /// Notifies the observers that capture has ended. `error` is nil if that was requested.
    package func didEnd(error: (any Error)?) {
        observers.forEach { observer in
            if let error {
                observer.captureDidFail(error: CaptureSourceError(error))
            } else {
                observer.captureDidStop()
            }
        }
    }

    /// Notifies the observers of an interruption.
    package func wasInterrupted(by interruption: CaptureInterruption) {
        observers.forEach { $0.captureWasInterrupted(by: interruption) }
    }

    /// Notifies the observers of the end of an interruption.
    package func interruptionDidEnd(_ interruption: CaptureInterruption) {
        observers.forEach { $0.captureInterruptionDidEnd(interruption) }
    }

    /// Notifies the observers of the frames' new size.
    package func sizeDidChange(to size: PixelSize) { observers.forEach { $0.captureSizeDidChange(to: size) } }

    /// Notifies the observers that a frame was invalid, and was dropped.
    package func didRefuse(_ error: any Error) {
        let failure = CaptureSourceError(.invalidFrame, Explanation(error))
        observers.forEach { $0.captureDidFail(error: failure) }
    }
}
