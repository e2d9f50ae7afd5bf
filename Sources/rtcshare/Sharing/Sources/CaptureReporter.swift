internal import RTCShareCapture
internal import RTCShareCaptureBroadcast
internal import RTCShareLocks
internal import RTCShareMedia

/// Tells the person at the terminal what happens to the source of a share, and the share that it has failed.
final class CaptureReporter: CaptureSourceObserver, BroadcastObserver {
    private let present = Locked<CaptureInterruption?>(nil)

    /// What the source stands still for, or where it is; nil where it goes on.
    var interruption: CaptureInterruption? { present.withLock { $0 } }

    private let onFailure: @Sendable (CaptureSourceError) -> Void

    init(_ source: any CaptureSource, onFailure: @escaping @Sendable (CaptureSourceError) -> Void) {
        self.onFailure = onFailure
        source.add(observer: self)
        guard let broadcast = source as? BroadcastSource else { return }
        broadcast.add(broadcastObserver: self)
        Terminal.shared.say("Waiting for a broadcast at \(broadcast.endpoint).")
    }

    func captureDidFail(error: CaptureSourceError) {
        // A frame that was left out is no end.
        if error.kind != .invalidFrame { onFailure(error) }
    }

    func captureWasInterrupted(by interruption: CaptureInterruption) {
        present.withLock { $0 = interruption }
        switch interruption {
        case .movedOffScreen:
            Terminal.shared.say("The window was moved off the screen; its picture goes on.")
        case .minimised, .awaitingPicture, .heldByDesktop, .extensionAway, .cameraAway, .sourceMuted, .soundAway:
            Terminal.shared.say("Paused: \(interruption).")
        }
    }

    func captureInterruptionDidEnd(_ interruption: CaptureInterruption) {
        present.withLock { $0 = nil }
        switch interruption {
        case .movedOffScreen: Terminal.shared.say("The window is back on the screen.")
        case .minimised, .awaitingPicture, .heldByDesktop, .extensionAway, .cameraAway, .sourceMuted, .soundAway:
            Terminal.shared.say("Goes on.")
        }
    }

    func captureSizeDidChange(to size: PixelSize) { Terminal.shared.say("The picture is \(size) now.") }

    func broadcastDidStart(transport: BroadcastTransport) {
        Terminal.shared.say("An extension is connected, by \(transport.rawValue).")
    }

    func broadcastDidFail(error: BroadcastError) { Terminal.shared.say("\(error)") }
}
