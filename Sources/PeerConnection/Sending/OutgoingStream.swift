internal import RTCShareCongestionControl
internal import RTCShareRTP
internal import RTCShareWireFormat

/// An outgoing stream of one audio or video source: its numbers, its header extensions, and the peer's reports on it.
///
/// Sequence numbers are assigned when a packet is sent, so that a packet that is never sent causes no gap.
struct OutgoingStream: Sendable {
    /// The negotiated parameters of this media section.
    struct Parameters: Sendable {
        let mid: String
        /// The `a=rid` of a layer of a simulcast; nil for a single stream.
        var layer: String?
        let source: SynchronizationSource
        /// The payload type of audio, or of the preferred codec of video.
        let payloadType: PayloadType
        /// The codecs of video in order of preference; empty for audio.
        let formats: [NegotiatedFormat]
        /// The source of retransmissions (RFC 4588); nil if the peer does not accept any.
        let retransmissionSource: SynchronizationSource?
        /// The payload types of forward error correction; nil if the peer accepts none, or no retransmissions.
        var forwardErrorCorrection: ForwardErrorCorrectionTypes?
        let extensions: HeaderExtensionMap
        let isContent: Bool

        /// Returns the payload types of a frame's codec; nil if the peer does not accept it.
        func format(of frame: PacketizedFrame) -> NegotiatedFormat? {
            formats.first { $0.format === frame.format }
        }

        /// Returns the source and the payload type of retransmissions of a frame; nil if the peer does not accept any.
        func retransmission(of frame: PacketizedFrame) -> (source: SynchronizationSource, payloadType: PayloadType)? {
            guard let retransmissionSource, let type = format(of: frame)?.retransmission else { return nil }
            return (retransmissionSource, type)
        }
    }

    /// The negotiated parameters. A later description can change all of them except the source.
    var parameters: Parameters
    var statistics = OutboundStatistics()
    var reports: ReceiverReportTracker
    /// Whether the peer has reported on the source, and so knows its section. Until then every packet names it.
    var isSourceKnown = false
    /// The sequence number of the next packet.
    private(set) var sequenceNumber: SequenceNumber
    let timestampOffset: RTPTimestamp

    init(parameters: Parameters, clockRate: Int, random: inout some RandomNumberGenerator) {
        self.parameters = parameters
        reports = ReceiverReportTracker(clockRate: clockRate)
        // The first number is in the lower half, as libsrtp2's guess of the rollover counter requires (RFC 3711
        // §3.3.1).
        sequenceNumber = SequenceNumber(.random(in: 1..<0x8000, using: &random))
        timestampOffset = RTPTimestamp(random.next())
    }

    var source: SynchronizationSource { parameters.source }

    /// Resumes the stream after a goodbye: the peer may not know the source's section any more.
    mutating func resume() {
        isSourceKnown = false
    }

    /// Returns the header extensions of every packet.
    mutating func stampedExtensions(
        _ transportSequenceNumber: inout TransportSequenceNumber, now: Instant
    ) -> HeaderExtensions {
        var extensions = HeaderExtensions()
        extensions.absoluteSendTime = AbsoluteSendTime(now)
        if !isSourceKnown {
            extensions.mediaIdentification = parameters.mid
            extensions.streamIdentification = parameters.layer
        }
        guard parameters.extensions[.transportSequenceNumber] != nil else { return extensions }
        extensions.transportSequenceNumber = transportSequenceNumber
        transportSequenceNumber = transportSequenceNumber.next
        return extensions
    }

    /// Counts a packet that was written with the current sequence number, and moves to the next number.
    mutating func advance(payload: Int, header: Int) {
        statistics.countPacket(payload: payload, header: header)
        sequenceNumber = sequenceNumber.next
    }

    /// Returns the number of packets that a report covers, before it is processed: those since the previous report, and
    /// at most those that were sent. A report that the path has delayed behind a newer one covers none.
    func packetsReported(by report: LossReport) -> Int {
        let sent = Int(clamping: statistics.packetsSent - statistics.separatePacketsSent)
        guard let before = reports.newest else { return sent }
        let step = report.extendedHighestSequenceNumber &- before.extendedHighestSequenceNumber
        return Int32(bitPattern: step) > 0 ? min(Int(step), sent) : 0
    }

    /// Returns the sender report of an instant at which the media clock is at `timestamp` (RFC 3550 §6.4.1). It counts
    /// the packets of this source, while the statistics include RTX.
    func senderReport(timestamp: RTPTimestamp, wallclock: NTPTimestamp) -> SenderReport {
        SenderReport(
            source: source, ntpTimestamp: wallclock, rtpTimestamp: timestamp,
            packetCount: UInt32(truncatingIfNeeded: statistics.packetsSent - statistics.separatePacketsSent),
            octetCount: UInt32(truncatingIfNeeded: statistics.bytesSent - statistics.separateBytesSent))
    }
}
