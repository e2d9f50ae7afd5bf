internal import RTCShareCongestionControl
internal import RTCShareRTP
internal import RTCShareWireFormat

/// One source of media as it leaves, be it sound or pictures: its numbers, what packets carry besides, what the peer
/// reports on it.
///
/// Sequence numbers are given where a packet leaves, so that one that never leaves makes no gap.
struct OutgoingStream: Sendable {
    /// The negotiated parameters of this media section.
    struct Parameters: Sendable {
        let mid: String
        let source: SynchronizationSource
        let payloadType: PayloadType
        /// Source and payload type of retransmissions (RFC 4588); nil where the peer took none.
        let retransmission: (source: SynchronizationSource, payloadType: PayloadType)?
        /// Payload types of forward error correction; nil where the peer took none, or no retransmissions.
        var forwardErrorCorrection: ForwardErrorCorrectionTypes?
        let extensions: HeaderExtensionMap
        let isContent: Bool
        /// The parameters that the peer wants of the codec, as its description writes them.
        let formatParameters: String?
    }

    /// A later description may change all of it but the source.
    var parameters: Parameters
    var statistics = OutboundStatistics()
    var reports: ReceiverReportTracker
    /// The peer knows which section a source belongs to once it reports on it; until then every packet says so.
    var isSourceKnown = false
    /// The number of the next packet.
    private(set) var sequenceNumber: SequenceNumber
    let timestampOffset: RTPTimestamp

    init(parameters: Parameters, clockRate: Int, random: inout some RandomNumberGenerator) {
        self.parameters = parameters
        reports = ReceiverReportTracker(clockRate: clockRate)
        // Below half the circle, as libsrtp2's guess of the rollover counter wants it of a first packet (RFC 3711 §3.3.1).
        sequenceNumber = SequenceNumber(.random(in: 1..<0x8000, using: &random))
        timestampOffset = RTPTimestamp(random.next())
    }

    var source: SynchronizationSource { parameters.source }

    /// Begins again after a goodbye: the peer may have forgotten whose source this is.
    mutating func resume() {
        isSourceKnown = false
    }

    /// The extensions that every packet carries.
    mutating func stampedExtensions(
        _ transportSequenceNumber: inout TransportSequenceNumber, now: Instant
    ) -> HeaderExtensions {
        var extensions = HeaderExtensions()
        extensions.absoluteSendTime = AbsoluteSendTime(now)
        if !isSourceKnown { extensions.mediaIdentification = parameters.mid }
        guard parameters.extensions[.transportSequenceNumber] != nil else { return extensions }
        extensions.transportSequenceNumber = transportSequenceNumber
        transportSequenceNumber = transportSequenceNumber.next
        return extensions
    }

    /// Counts a packet that was written under the current sequence number, and goes on to the next.
    mutating func advance(payload: Int, header: Int) {
        statistics.countPacket(payload: payload, header: header)
        sequenceNumber = sequenceNumber.next
    }

    /// How many packets a report stands for, told before it is taken: those since the one before, and no more than were
    /// sent.
    func packetsReported(by report: LossReport) -> Int {
        let sent = Int(clamping: statistics.packetsSent - statistics.separatePacketsSent)
        guard let before = reports.newest else { return sent }
        let step = report.extendedHighestSequenceNumber &- before.extendedHighestSequenceNumber
        return min(Int(step), sent)
    }

    /// The sender report of an instant at which the media clock reads `timestamp` (RFC 3550 §6.4.1). It counts what this
    /// source sent, unlike the statistics, which have RTX in them.
    func senderReport(timestamp: RTPTimestamp, wallclock: NTPTimestamp) -> SenderReport {
        SenderReport(
            source: source, ntpTimestamp: wallclock, rtpTimestamp: timestamp,
            packetCount: UInt32(truncatingIfNeeded: statistics.packetsSent - statistics.separatePacketsSent),
            octetCount: UInt32(truncatingIfNeeded: statistics.bytesSent - statistics.separateBytesSent))
    }
}
