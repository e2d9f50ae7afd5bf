import RTCShareWireFormat

/// A receiver's statistics of one source (RFC 3550 §6.4.1).
package struct ReportBlock: Hashable, Sendable {
    /// The source that this block describes.
    package var source: SynchronizationSource
    /// The fraction of packets lost since the previous report, in 1/256.
    package var fractionLost: UInt8
    /// The number of packets lost since the beginning, as a signed 24-bit value; negative if duplicates outnumber
    /// losses.
    package var cumulativeLost: Int32
    /// The highest sequence number received, with the number of its wraps in the high half.
    package var extendedHighestSequenceNumber: UInt32
    /// The interarrival jitter, in ticks of the source's clock.
    package var jitter: UInt32
    /// LSR: the middle 32 bits of the NTP timestamp of the last sender report received; zero for none.
    package var lastSenderReport: NTPShortTime
    /// DLSR: the time between the arrival of that report and the sending of this block; zero for none.
    package var delaySinceLastSenderReport: NTPShortTime

    package init(
        source: SynchronizationSource, fractionLost: UInt8, cumulativeLost: Int32,
        extendedHighestSequenceNumber: UInt32, jitter: UInt32, lastSenderReport: NTPShortTime,
        delaySinceLastSenderReport: NTPShortTime
    ) {
        self.source = source
        self.fractionLost = fractionLost
        self.cumulativeLost = cumulativeLost
        self.extendedHighestSequenceNumber = extendedHighestSequenceNumber
        self.jitter = jitter
        self.lastSenderReport = lastSenderReport
        self.delaySinceLastSenderReport = delaySinceLastSenderReport
    }

    /// Returns the round-trip time to the sender of the reported source, if the block arrives when the sender's clock
    /// is at `now` (RFC 3550 §6.4.1). Returns nil if the block refers to no sender report or the times are
    /// inconsistent.
    package func roundTripTime(at now: NTPTimestamp) -> Duration? {
        guard lastSenderReport.rawValue != 0 else { return nil }
        let sinceReport = now.middle32.distance(from: lastSenderReport)
        let trip = sinceReport - Int(delaySinceLastSenderReport.rawValue)
        guard sinceReport >= 0, trip >= 0 else { return nil }
        return NTPShortTime(UInt32(truncatingIfNeeded: trip)).duration
    }

    init(_ reader: inout FieldReader) throws(RTPError) {
        source = try reader.source(.reportBlock)
        fractionLost = try reader.uint8(.reportBlock)
        // A shift to the top of 32 bits and back extends the sign of the 24 bits.
        cumulativeLost = Int32(bitPattern: try reader.uint24(.reportBlock) << 8) >> 8
        extendedHighestSequenceNumber = try reader.uint32(.reportBlock)
        jitter = try reader.uint32(.reportBlock)
        lastSenderReport = NTPShortTime(try reader.uint32(.reportBlock))
        delaySinceLastSenderReport = NTPShortTime(try reader.uint32(.reportBlock))
    }

    static func list(_ reader: inout FieldReader, count: UInt8) throws(RTPError) -> [ReportBlock] {
        var blocks: [ReportBlock] = []
        for _ in 0..<count { blocks.append(try ReportBlock(&reader)) }
        return blocks
    }
}

/// SR: a source's statistics of sending, and its media clock at a wallclock time (RFC 3550 §6.4.1).
package struct SenderReport: Hashable, Sendable {
    /// The source that sends the report.
    package var source: SynchronizationSource
    /// The wallclock time of the report.
    package var ntpTimestamp: NTPTimestamp
    /// The same instant on the source's media clock.
    package var rtpTimestamp: RTPTimestamp
    /// The number of packets sent since the beginning.
    package var packetCount: UInt32
    /// The number of payload bytes sent since the beginning, without headers and padding.
    package var octetCount: UInt32
    /// The statistics of the sources that this source receives.
    package var reportBlocks: [ReportBlock]

    package init(
        source: SynchronizationSource, ntpTimestamp: NTPTimestamp, rtpTimestamp: RTPTimestamp, packetCount: UInt32,
        octetCount: UInt32, reportBlocks: [ReportBlock] = []
    ) {
        self.source = source
        self.ntpTimestamp = ntpTimestamp
        self.rtpTimestamp = rtpTimestamp
        self.packetCount = packetCount
        self.octetCount = octetCount
        self.reportBlocks = reportBlocks
    }

    init(_ reader: inout FieldReader, count: UInt8) throws(RTPError) {
        source = try reader.source(.senderSource)
        ntpTimestamp = NTPTimestamp(try reader.uint64(.senderInformation))
        rtpTimestamp = RTPTimestamp(try reader.uint32(.senderInformation))
        packetCount = try reader.uint32(.senderInformation)
        octetCount = try reader.uint32(.senderInformation)
        reportBlocks = try ReportBlock.list(&reader, count: count)
    }
}

/// RR: the reception statistics of a participant that sends no media (RFC 3550 §6.4.2).
package struct ReceiverReport: Hashable, Sendable {
    /// The participant that sends the report.
    package var source: SynchronizationSource
    /// The statistics of the sources that the participant receives.
    package var reportBlocks: [ReportBlock]

    package init(source: SynchronizationSource, reportBlocks: [ReportBlock] = []) {
        self.source = source
        self.reportBlocks = reportBlocks
    }

    init(_ reader: inout FieldReader, count: UInt8) throws(RTPError) {
        source = try reader.source(.senderSource)
        reportBlocks = try ReportBlock.list(&reader, count: count)
    }
}
