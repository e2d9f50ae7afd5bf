package import RTCShareWireFormat

/// Hears how capture goes: of a picture's source and of a sound's. Called where it happens, mostly on the source's
/// thread, with no lock held.
public protocol CaptureSourceObserver: AnyObject, Sendable {
    /// Capture has begun.
    func captureDidStart()
    /// Capture has ended, because that was asked for or because there is no more.
    func captureDidStop()
    /// Something went wrong. Capture goes on after ``CaptureSourceError/Kind/invalidFrame``, and has ended otherwise.
    func captureDidFail(error: CaptureSourceError)
    /// What is captured gives no picture for now, or nobody could see it; capture waits for it. Where it gives none,
    /// sinks are muted meanwhile, and viewers see that the share is paused.
    func captureWasInterrupted(by interruption: CaptureInterruption)
    /// What had interrupted capture is over.
    func captureInterruptionDidEnd(_ interruption: CaptureInterruption)
    /// The pictures have another size from here on.
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
    /// Capture has ended, because that was asked for or because there is no more.
    case stopped
    /// Something went wrong. Capture goes on after ``CaptureSourceError/Kind/invalidFrame``, and has ended otherwise.
    case failed(CaptureSourceError)
    /// What is captured gives no frames for now, or nobody could see them; capture waits for it.
    case interrupted(CaptureInterruption)
    /// What had interrupted capture is over.
    case interruptionEnded(CaptureInterruption)
    /// The frames have another size from here on.
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

/// Why capture stands still although it has not ended.
public enum CaptureInterruption: Sendable, Hashable, CustomStringConvertible {
    /// The window is minimised, or on another desktop: it has no picture.
    case minimised
    /// The window lies beyond the screen's edges. Its picture goes on.
    case movedOffScreen
    /// The desktop asks a person what to share.
    case awaitingChoice
    /// A desktop whose screen stands still has given no picture of it yet.
    case awaitingPicture
    /// The desktop has stopped giving pictures, as of a window that is minimised, and may give some again.
    case heldByDesktop
    /// The process that captures is not connected: `reason` says since when, or why.
    case extensionAway(reason: String)
    /// The camera was unplugged, or gives nothing: `reason` says which one, and why.
    case cameraAway(reason: String)
    /// The source has held its pictures back, and does not say why.
    case sourceMuted
    /// The microphone, or the output whose sound is taken, is away, or the sound server is: `reason` says which one.
    case soundAway(reason: String)
    /// The monitor is off or unplugged, or the region lies beyond the screen: `reason` says which.
    case displayAway(reason: String)

    /// What a person is told.
    public var description: String {
        switch self {
        case .minimised: "the window is minimized"
        case .movedOffScreen: "the window was moved off the screen"
        case .awaitingChoice: "the desktop waits for your choice in its dialog"
        case .awaitingPicture: "the desktop sends the first frame when something on the screen changes"
        case .heldByDesktop: "the desktop sends no frames, perhaps because the window is minimized"
        case .sourceMuted: "the source sends no frames"
        case .extensionAway(let reason), .cameraAway(let reason), .displayAway(let reason), .soundAway(let reason):
            reason
        }
    }
}

/// Why capture failed.
public struct CaptureSourceError: Error, Sendable {
    /// What kind of failure it is.
    public enum Kind: Sendable, Hashable {
        /// None of the others.
        case unknown
        /// The system, the display or the sound server refused or went away.
        case systemFailure
        /// What was asked for can't be captured.
        case configurationFailure
        /// A frame was given that can't be used; it was left out.
        case invalidFrame
    }

    /// What kind of failure it is.
    public let kind: Kind
    /// What failed, and why; apart, what to do.
    package let explanation: Explanation

    /// A failure in words.
    public init(_ kind: Kind, _ description: String) { self.init(kind, Explanation(description)) }

    /// A failure in words, with what to do apart.
    package init(_ kind: Kind, _ explanation: Explanation) {
        self.kind = kind
        self.explanation = explanation
    }

    /// The failure that an error stands for: itself if it is one, or what it says of itself.
    public init(_ error: any Error) {
        self =
            error as? CaptureSourceError
            ?? CaptureSourceError((error as? any CaptureFailure)?.kind ?? .unknown, Explanation(error))
    }
}

extension CaptureSourceError: CustomStringConvertible {
    /// The failure, its reason and its remedy.
    public var description: String { explanation.text }
}

extension CaptureSourceError: ExplainedError {}

/// An error that knows what kind of capture failure it is.
public protocol CaptureFailure: Error {
    /// The kind.
    var kind: CaptureSourceError.Kind { get }
}

/// The observers that a source keeps.
package final class CaptureObservers: Sendable {
    private let observers = ObserverList<any CaptureSourceObserver>()

    /// Nobody.
    package init() {}

    /// Tells `observer` from now on; one that is already there is not added again.
    package func add(_ observer: any CaptureSourceObserver) { observers.add(observer) }

    /// Tells `observer` nothing more.
    package func remove(_ observer: any CaptureSourceObserver) { observers.remove(observer) }

    /// Tells that capture has begun.
    package func didStart() { observers.forEach { $0.captureDidStart() } }

    /// Tells that capture has ended: with an error where that was not asked for.
    package func didEnd(error: (any Error)?) {
        observers.forEach { observer in
            if let error {
                observer.captureDidFail(error: CaptureSourceError(error))
            } else {
                observer.captureDidStop()
            }
        }
    }

    /// Tells that capture stands still.
    package func wasInterrupted(by interruption: CaptureInterruption) {
        observers.forEach { $0.captureWasInterrupted(by: interruption) }
    }

    /// Tells that it goes on.
    package func interruptionDidEnd(_ interruption: CaptureInterruption) {
        observers.forEach { $0.captureInterruptionDidEnd(interruption) }
    }

    /// Tells the pictures' new size.
    package func sizeDidChange(to size: PixelSize) { observers.forEach { $0.captureSizeDidChange(to: size) } }

    /// Tells that a frame was left out.
    package func didRefuse(_ error: any Error) {
        let failure = CaptureSourceError(.invalidFrame, Explanation(error))
        observers.forEach { $0.captureDidFail(error: failure) }
    }
}
