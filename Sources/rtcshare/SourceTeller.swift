internal import Capture
internal import Media

/// Tells the person at the terminal what happens to the source of a share.
final class SourceTeller: CaptureSourceObserver, BroadcastObserver {
    init(_ source: any CaptureSource) {
        source.add(observer: self)
        guard let broadcast = source as? BroadcastSource else { return }
        broadcast.add(broadcastObserver: self)
        Terminal.shared.say("Waiting for a broadcast at \(broadcast.endpoint).")
    }

    func captureWasInterrupted(by interruption: CaptureInterruption) {
        Terminal.shared.say("Paused: \(interruption).")
    }

    func captureInterruptionDidEnd(_ interruption: CaptureInterruption) { Terminal.shared.say("Goes on.") }

    func captureSizeDidChange(to size: PixelSize) { Terminal.shared.say("The picture is \(size) now.") }

    func broadcastDidStart(transport: BroadcastTransport) {
        Terminal.shared.say("An extension is connected, by \(transport.rawValue).")
    }

    func broadcastDidFail(error: BroadcastError) { Terminal.shared.say("\(error)") }
}
