internal import RTCShareCapture
internal import RTCShareCaptureBroadcast
internal import RTCShareLocks
internal import RTCShareMedia

/// Tells the person at the terminal what happens to the source of a share, and the share that it has ended.
final class CaptureReporter: CaptureSourceObserver, BroadcastObserver {
    private let present = Locked<CaptureInterruption?>(nil)
    private let past = Locked<Result<Void, CaptureSourceError>?>(nil)

    /// How the capture ended; nil while it has not.
    var end: Result<Void, CaptureSourceError>? { past.withLock { $0 } }

    /// What the source stands still for, or where it is; nil where it goes on.
    var interruption: CaptureInterruption? { present.withLock { $0 } }

    private let onEnd: @Sendable () -> Void

    init(_ source: any CaptureSource, onEnd: @escaping @Sendable () -> Void) {
        self.onEnd = onEnd
        source.add(observer: self)
        guard let broadcast = source as? BroadcastSource else { return }
        broadcast.add(broadcastObserver: self)
        Terminal.shared.say("Waiting for a broadcast at \(broadcast.endpoint).")
    }

    func captureDidStop() { didEnd(.success(())) }

    func captureDidFail(error: CaptureSourceError) {
        // Capture continues after a frame that was left out.
        if error.kind != .invalidFrame { didEnd(.failure(error)) }
    }

    private func didEnd(_ end: Result<Void, CaptureSourceError>) {
        past.withLock { $0 = end }
        onEnd()
    }

    func captureWasInterrupted(by interruption: CaptureInterruption) {
        present.withLock { $0 = interruption }
        switch interruption {
        case .movedOffScreen:
            Terminal.shared.say("The window was moved off the screen; its picture goes on.")
        case .minimised, .awaitingPicture, .heldByDesktop, .extensionAway, .cameraAway:
            Terminal.shared.say("Paused: \(interruption).")
        }
    }

    func captureInterruptionDidEnd(_ interruption: CaptureInterruption) {
        present.withLock { $0 = nil }
        switch interruption {
        case .movedOffScreen: Terminal.shared.say("The window is back on the screen.")
        case .minimised, .awaitingPicture, .heldByDesktop, .extensionAway, .cameraAway: Terminal.shared.say("Goes on.")
        }
    }

    func captureSizeDidChange(to size: PixelSize) { Terminal.shared.say("The picture is \(size) now.") }

    func broadcastDidStart(transport: BroadcastTransport) {
        Terminal.shared.say("An extension is connected, by \(transport.rawValue).")
    }

    func broadcastDidFail(error: BroadcastError) { Terminal.shared.say("\(error)") }
}
