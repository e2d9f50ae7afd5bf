internal import RTCShareRTP
internal import RTCShareWireFormat

/// What is kept of the RTCP with the peer: what waits to be sent, who reports, and how much may still be told.
struct RTCPExchange {
    /// Packets that wait to be protected and sent.
    private(set) var waiting: [[UInt8]] = []
    /// The sources that the peer reports in the name of, and has not said goodbye for.
    private(set) var reporters: Set<SynchronizationSource> = []
    /// What the peer may still tell of this side's packets.
    private var allowance = FeedbackAllowance()

    /// The most sources that a peer is remembered to report for.
    static var maximumReporters: Int { 32 }

    /// Takes a decrypted compound packet apart; nil where it can't be read.
    mutating func parse(_ compound: RawSpan, now: Instant) -> [RTCPPacket]? {
        allowance.refill(now: now)
        return try? RTCPPacket.parse(compound: compound, statuses: &allowance.left)
    }

    /// Takes note of who reports.
    mutating func note(reporter source: SynchronizationSource) {
        if reporters.count < Self.maximumReporters { reporters.insert(source) }
    }

    /// Takes note of a goodbye.
    mutating func forget(reporter source: SynchronizationSource) {
        reporters.remove(source)
    }

    /// Has packets wait to be sent.
    mutating func queue(_ datagrams: [[UInt8]]) {
        waiting += datagrams
    }

    /// The next packet to send; nil where none waits.
    mutating func poll() -> [UInt8]? {
        waiting.takeFirst()
    }

    /// Lets go of what waits.
    mutating func clear() {
        if !waiting.isEmpty { waiting = [] }
    }
}
