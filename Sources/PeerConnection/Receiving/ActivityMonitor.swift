internal import RTCShareRTP
internal import RTCShareWireFormat

/// Tells a sender that pauses from one that is lost.
///
///     waiting ──packet──▶ flowing ◀──packet── paused, lost
///                            │                  ▲
///                            └── silence ───────┤
///     paused: the path is alive, and the reports count no new packet
///     lost:   the path is gone, or a report counts packets that did not come
///     ended:  the sender said goodbye, in whatever state; a packet of media makes it flowing
///
/// Packets that were lost just before a pause are no sign of loss going on: only what a report counts beyond an earlier
/// one, both after the last packet that came, is.
struct ActivityMonitor: Sendable {
    private(set) var activity = ReceiverActivity.waiting
    /// The activity that was reported last.
    private var reported = ReceiverActivity.waiting
    private var lastMedia: Instant?
    /// What the first report after the newest packet counted.
    private var baseline: UInt32?
    /// A report has counted packets since then.
    private var isMissingPackets = false
    /// Whether the sender said goodbye, and no media came since.
    private(set) var hasEnded = false

    /// Takes note of a packet of the source or of its retransmissions. One of these, or without payload, shows that the
    /// path is alive, and is no media.
    mutating func receivePacket(isMedia: Bool, now: Instant) {
        baseline = nil
        isMissingPackets = false
        guard isMedia else { return }
        lastMedia = now
        hasEnded = false
    }

    /// Takes note of what the sender counted (RFC 3550 §6.4.1).
    mutating func receive(_ report: SenderReport) {
        guard let baseline else {
            self.baseline = report.packetCount
            return
        }
        let growth = Int32(bitPattern: report.packetCount &- baseline)
        if growth > 0 {
            isMissingPackets = true
        } else if growth < 0 {
            // An older report, or a sender that counts anew.
            self.baseline = report.packetCount
        }
    }

    /// Takes note that the sender said goodbye for the source.
    mutating func receiveGoodbye() {
        hasEnded = true
    }

    /// Whether no media has come for so long: as a rule, that the stream doesn't flow.
    func isSilent(for time: Duration = ReceiverActivity.timeout, now: Instant) -> Bool {
        lastMedia.map { now - $0 >= time } ?? true
    }

    /// What has become of the stream, where that differs from what was told last. `isConnected`: ICE has a path that
    /// answers.
    mutating func poll(now: Instant, isConnected: Bool) -> ReceiverActivity? {
        if hasEnded {
            activity = .ended
        } else if lastMedia == nil {
            activity = .waiting
        } else if !isSilent(now: now) {
            activity = .flowing
        } else {
            activity = isConnected && !isMissingPackets ? .paused : .lost
        }
        guard activity != reported else { return nil }
        reported = activity
        return activity
    }

    /// When silence will have lasted too long; nil while the stream doesn't flow.
    var nextDeadline: Instant? {
        activity == .flowing ? lastMedia?.advanced(by: ReceiverActivity.timeout) : nil
    }

    /// Waits for packets as at the beginning; the owner is told of that as of any change.
    mutating func restart() {
        lastMedia = nil
        baseline = nil
        isMissingPackets = false
        hasEnded = false
    }
}
