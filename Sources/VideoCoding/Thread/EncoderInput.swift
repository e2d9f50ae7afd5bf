internal import Glibc
internal import RTCShareLocks
internal import RTCShareMedia

/// The sink of an encoder for one source. The encoder's thread adds it to the source and removes it, between two
/// frames. Once the encoder shows another source, this sink receives nothing.
final class EncoderInput: VideoSink {
    let source: any VideoSource
    private let mailbox: Mailbox<EncoderControl>
    /// The maximum time for which the source is blocked until the previous frame is being encoded.
    private let patience: Duration
    private let onMute: @Sendable (Bool) -> Void

    init(
        _ source: any VideoSource, mailbox: Mailbox<EncoderControl>, patience: Duration,
        onMute: @escaping @Sendable (Bool) -> Void
    ) {
        self.source = source
        self.mailbox = mailbox
        self.patience = patience
        self.onMute = onMute
    }

    /// The demand: nothing while the waiting frame will wait for some time.
    var demand: FrameDemand {
        let now = CaptureClock.now
        return mailbox.read { isShown(in: $0) ? $0.demand(now: now) : .nothing }
    }

    func receive(_ frame: VideoFrame) {
        if patience > .zero { waitForTurn() }
        let now = CaptureClock.now
        // The replaced frame is released after the lock, since freeing its memory takes time.
        let replaced = mailbox.post { isShown(in: $0) ? $0.receive(frame, now: now) : nil }
        withExtendedLifetime(replaced) {}
    }

    /// Waits until the last frame is being encoded, so that it is not replaced, or until the time or a pause ends the
    /// wait. The encoder's own thread, to which a source can pass frames while it is added, does not wait.
    private func waitForTurn() {
        let deadline = CaptureClock.now + patience
        mailbox.take { state in
            let hasTurn =
                state.slot == nil || state.thread == pthread_self() || !isShown(in: state)
                || state.cadence.isPaused || CaptureClock.now >= deadline
            return hasTurn ? .done(()) : .wait(until: deadline)
        }
    }

    func sourceDidEnd(error: (any Error)?) {
        mailbox.post { if isShown(in: $0) { $0.endings.append(error) } }
    }

    func contentHintDidChange(_ hint: ContentHint) {
        let now = CaptureClock.now
        mailbox.post { if isShown(in: $0) { $0.sourceHintDidChange(hint, now: now) } }
    }

    func muteDidChange(_ isMuted: Bool) {
        if mailbox.read({ isShown(in: $0) }) { onMute(isMuted) }
    }

    private func isShown(in state: EncoderControl) -> Bool { state.input === self }
}
