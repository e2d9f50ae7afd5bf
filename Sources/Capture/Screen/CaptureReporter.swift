import RTCShareMedia

/// Tells sinks and observers how a subject stands, each change once.
struct CaptureReporter {
    private let broadcaster: VideoBroadcaster
    // As it was told last. A mute that somebody else has set is left alone.
    private var isMuted = false
    private var size: PixelSize
    private var interruption: CaptureInterruption?
    /// Since when the subject has been beyond the screen's edges.
    private var leftAt: Duration?
    /// For so long that is no news: window managers put a window there while they bring it back.
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

    /// Called again and again, also when nothing has happened.
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
