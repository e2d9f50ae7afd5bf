internal import RTCShareRTP
internal import RTCShareWireFormat

/// Distinguishes a sender that pauses from one that is lost.
///
///     waiting ──packet──▶ flowing ◀──packet── paused, lost
///                            │                  ▲
///                            └── silence ───────┤
///     paused: the path works, and the reports count no new packet
///     lost:   the path is lost, or a report counts packets that did not arrive
///     ended:  the sender said goodbye, in any state; a media packet makes it flowing
///
/// Packets that were lost just before a pause are not a sign of continuing loss. Only the packets that a report counts
/// in addition to an earlier one, both after the last packet that arrived, are.
struct ActivityMonitor: Sendable {
    private(set) var activity = ReceiverActivity.waiting
    /// The latest reported activity.
    private var reported = ReceiverActivity.waiting
    private var lastMedia: Instant?
    /// The packet count of the first report after the newest packet.
    private var baseline: UInt32?
    /// Whether a report has counted further packets since then.
    private var isMissingPackets = false
    /// Whether the sender said goodbye, and no media arrived since.
    private(set) var hasEnded = false

    /// Records a packet of the source or of its retransmissions. A retransmission, or a packet without payload, shows
    /// that the path works, but is not media.
    mutating func receivePacket(isMedia: Bool, now: Instant) {
        baseline = nil
        isMissingPackets = false
        guard isMedia else { return }
        lastMedia = now
        hasEnded = false
    }

    /// Records the sender's packet count (RFC 3550 §6.4.1).
    mutating func receive(_ report: SenderReport) {
        guard let baseline else {
            self.baseline = report.packetCount
            return
        }
        let growth = Int32(bitPattern: report.packetCount &- baseline)
        if growth > 0 {
            isMissingPackets = true
        } else if growth < 0 {
            // The report is old, or the sender restarted its count.
            self.baseline = report.packetCount
        }
    }

    /// Records a goodbye for the source.
    mutating func receiveGoodbye() {
        hasEnded = true
    }

    /// Whether no media has arrived for `time`, which usually means that the stream is not active.
    func isSilent(for time: Duration = ReceiverActivity.timeout, now: Instant) -> Bool {
        lastMedia.map { now - $0 >= time } ?? true
    }

    /// Returns the activity of the stream if it has changed since the last report. `isConnected` is true while ICE has
    /// a working path.
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

    /// The time at which silence becomes a pause or a loss; nil while the stream is not active.
    var nextDeadline: Instant? {
        activity == .flowing ? lastMedia?.advanced(by: ReceiverActivity.timeout) : nil
    }

    /// Waits for packets as at the beginning, which is reported as any other change.
    mutating func restart() {
        lastMedia = nil
        baseline = nil
        isMissingPackets = false
        hasEnded = false
    }
}
