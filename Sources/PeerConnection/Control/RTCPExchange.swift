internal import RTCShareRTP
internal import RTCShareWireFormat

/// The state of RTCP with the peer: the queue, the reporting sources, and the limit of reports.
struct RTCPExchange {
    /// The packets to protect and send.
    private(set) var waiting: [[UInt8]] = []
    /// The sources that the peer has reported as, without a goodbye.
    private(set) var reporters: Set<SynchronizationSource> = []
    /// The limit of the peer's reports on this side's packets.
    private var allowance = FeedbackAllowance()

    /// The maximum number of stored sources of the peer.
    static var maximumReporters: Int { 32 }

    /// Parses a decrypted compound packet; nil if it is malformed.
    mutating func parse(_ compound: RawSpan, now: Instant) -> [RTCPPacket]? {
        allowance.refill(now: now)
        return try? RTCPPacket.parse(compound: compound, statuses: &allowance.left)
    }

    /// Stores a reporting source.
    mutating func note(reporter source: SynchronizationSource) {
        if reporters.count < Self.maximumReporters { reporters.insert(source) }
    }

    /// Removes a source after its goodbye.
    mutating func forget(reporter source: SynchronizationSource) {
        reporters.remove(source)
    }

    /// Queues packets.
    mutating func queue(_ datagrams: [[UInt8]]) {
        waiting += datagrams
    }

    /// Returns the next packet to send; nil if there is none.
    mutating func poll() -> [UInt8]? {
        waiting.takeFirst()
    }

    /// Discards the queued packets.
    mutating func clear() {
        if !waiting.isEmpty { waiting = [] }
    }
}
