internal import Glibc
internal import RTCShareLocks
internal import RTCShareMedia

/// What an encoder takes from one source. Its thread adds it to the source and removes it, between two frames. Once the
/// encoder shows another source, nothing of this one is taken.
final class EncoderInput: VideoSink {
    let source: any VideoSource
    private let mailbox: Mailbox<EncoderControl>
    /// How long the source is held up, at most, until the frame before has been taken up.
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

    /// Nothing, while the frame that waits is not taken up for long still.
    var demand: FrameDemand {
        let now = CaptureClock.now
        return mailbox.read { isShown(in: $0) ? $0.demand(now: now) : .nothing }
    }

    func receive(_ frame: VideoFrame) {
        if patience > .zero { waitForTurn() }
        let now = CaptureClock.now
        // The replaced frame is let go after the lock is: freeing its memory takes time.
        let replaced = mailbox.post { isShown(in: $0) ? $0.receive(frame, now: now) : nil }
        withExtendedLifetime(replaced) {}
    }

    /// Returns when the frame that was given last has been taken up, so that it is not replaced, or when patience ends, the
    /// encoder being paused. The encoder's own thread, to which a source may give frames while it is added, waits for nothing.
    private func waitForTurn() {
        let deadline = CaptureClock.now + patience
        mailbox.take { state in
            let hasTurn =
                state.slot == nil || state.thread == pthread_self() || !isShown(in: state)
                || CaptureClock.now >= deadline
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
