import RTCShareWireFormat

/// What a receiver says of one source that it hears (RFC 3550 §6.4.1).
package struct ReportBlock: Hashable, Sendable {
    /// The source that this block is about.
    package var source: SynchronizationSource
    /// The share of packets lost since the report before, in 1/256.
    package var fractionLost: UInt8
    /// Packets lost since the beginning; negative where duplicates outnumber losses. 24 bits, signed.
    package var cumulativeLost: Int32
    /// The highest sequence number received, with the count of its wraps in the high half.
    package var extendedHighestSequenceNumber: UInt32
    /// The interarrival jitter, in ticks of the source's clock.
    package var jitter: UInt32
    /// LSR: the middle of the NTP timestamp of the last sender report heard; zero for none.
    package var lastSenderReport: NTPShortTime
    /// DLSR: the time from that report's arrival to this block; zero for none.
    package var delaySinceLastSenderReport: NTPShortTime

    /// A block of these values.
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

    /// The round trip that this block shows to the sender it reports on, where it arrives at `now` of that sender's
    /// clock (RFC 3550 §6.4.1); nil where it answers no report or the clocks make no sense.
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
        // Shifted to the top of 32 bits and back, the 24-bit sign spreads.
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

/// SR: what a source has sent, and how its clock stands to wallclock time (RFC 3550 §6.4.1).
package struct SenderReport: Hashable, Sendable {
    /// The source that reports.
    package var source: SynchronizationSource
    /// Wallclock time of the report.
    package var ntpTimestamp: NTPTimestamp
    /// The same instant on the source's media clock.
    package var rtpTimestamp: RTPTimestamp
    /// Packets sent since the beginning.
    package var packetCount: UInt32
    /// Payload bytes sent since the beginning, without headers and padding.
    package var octetCount: UInt32
    /// What the source hears of others.
    package var reportBlocks: [ReportBlock]

    /// A report of these values.
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

/// RR: what a participant that sends nothing hears of others (RFC 3550 §6.4.2).
package struct ReceiverReport: Hashable, Sendable {
    /// The participant that reports.
    package var source: SynchronizationSource
    /// What it hears.
    package var reportBlocks: [ReportBlock]

    /// A report of these values.
    package init(source: SynchronizationSource, reportBlocks: [ReportBlock] = []) {
        self.source = source
        self.reportBlocks = reportBlocks
    }

    init(_ reader: inout FieldReader, count: UInt8) throws(RTPError) {
        source = try reader.source(.senderSource)
        reportBlocks = try ReportBlock.list(&reader, count: count)
    }
}
