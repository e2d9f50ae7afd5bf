import RTCShareMedia

/// Reports the state of a subject to sinks and observers, each change once.
struct CaptureReporter {
    private let broadcaster: VideoBroadcaster
    // The state that was reported last. A mute by the program is not changed.
    private var isMuted = false
    private var size: PixelSize
    private var interruption: CaptureInterruption?
    /// The time since which the subject has been beyond the screen's edges.
    private var leftAt: Duration?
    /// The time for which that is not reported: window managers move a window there while they restore it.
    private static let patience = Duration.milliseconds(300)

    init(broadcaster: VideoBroadcaster, size: PixelSize) {
        self.broadcaster = broadcaster
        self.size = size
    }

    mutating func setMuted(_ isMuted: Bool) {
        guard isMuted != self.isMuted else { return }
        self.isMuted = isMuted
        broadcaster.isMuted = isMuted
    }

    /// Reports the current state. Called repeatedly, also without a change.
    mutating func report(_ found: CaptureInterruption?, size: PixelSize?, now: Duration) {
        leftAt = found == .movedOffScreen ? leftAt ?? now : nil
        let isShort = leftAt.map { now < $0 + Self.patience } ?? false
        let interruption = isShort ? nil : found
        if interruption != self.interruption {
            if let over = self.interruption { broadcaster.observers.interruptionDidEnd(over) }
            self.interruption = interruption
            if let interruption { broadcaster.observers.wasInterrupted(by: interruption) }
        }
        if let size, size != self.size {
            self.size = size
            broadcaster.observers.sizeDidChange(to: size)
        }
    }
}
