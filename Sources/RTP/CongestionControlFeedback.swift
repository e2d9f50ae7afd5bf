import RTCShareWireFormat

/// Congestion control feedback: which packets of each stream arrived, and when (RFC 8888 §3.1).
package struct CongestionControlFeedback: Hashable, Sendable {
    /// Explicit congestion notification as a packet arrived with it (RFC 3168 §5).
    package enum CongestionMark: UInt8, Hashable, Sendable {
        /// Not ECN-capable.
        case none = 0
        /// ECT(1).
        case capable1 = 1
        /// ECT(0).
        case capable0 = 2
        /// CE: a queue on the way was too long.
        case experienced = 3
    }

    /// How long before the report a packet arrived.
    package enum Offset: Hashable, Sendable {
        /// This long before, in 1/1024 s.
        case time(Duration)
        /// Longer ago than can be said: more than 8189/1024 s.
        case tooLongAgo
        /// After the report's time, or not known.
        case unavailable
    }

    /// What is said of one packet that arrived.
    package struct Arrival: Hashable, Sendable {
        /// The mark that it bore.
        package var mark: CongestionMark
        /// When it arrived.
        package var offset: Offset

        /// An arrival of these values.
        package init(mark: CongestionMark, offset: Offset) {
            self.mark = mark
            self.offset = offset
        }
    }

    /// What is said of one stream.
    package struct StreamReport: Hashable, Sendable {
        /// The stream.
        package var source: SynchronizationSource
        /// The number of the first packet that is reported.
        package var beginSequenceNumber: SequenceNumber
        /// For each packet from there on: nil where it did not arrive.
        package var arrivals: [Arrival?]

        /// A report of these packets.
        package init(source: SynchronizationSource, beginSequenceNumber: SequenceNumber, arrivals: [Arrival?]) {
            self.source = source
            self.beginSequenceNumber = beginSequenceNumber
            self.arrivals = arrivals
        }
    }

    /// Most packets that one stream's report tells of (§3.1).
    package static let maximumReportCount = 16384
    private static let unavailableOffset: UInt16 = 0x1FFF
    private static let longOffset: UInt16 = 0x1FFE

    /// Who received the packets.
    package var sender: SynchronizationSource
    /// What is said of each stream.
    package var streams: [StreamReport]
    /// When the report was made, on the receiver's clock.
    package var timestamp: NTPShortTime

    /// Feedback of these values.
    package init(sender: SynchronizationSource, streams: [StreamReport], timestamp: NTPShortTime) {
        self.sender = sender
        self.streams = streams
        self.timestamp = timestamp
    }

    init(_ reader: inout FieldReader) throws(RTPError) {
        sender = try reader.source(.senderSource)
        streams = []
        while reader.remaining > 4 {
            let source = try reader.source(.mediaSource)
            let begin = SequenceNumber(try reader.uint16(.feedbackControl))
            let countOffset = reader.offset
            // The text of RFC 8888 can be read as one more than this; all that is deployed counts the entries.
            let count = Int(try reader.uint16(.packetStatusCount))
            guard count <= Self.maximumReportCount else {
                throw .tooMany(.packetStatusCount, limit: Self.maximumReportCount, offset: countOffset)
            }
            // Before anything is allocated for them.
            guard count * 2 <= reader.remaining else { throw .truncated(.packetStatusCount, offset: countOffset) }
            var arrivals: [Arrival?] = []
            arrivals.reserveCapacity(count)
            for _ in 0..<count { arrivals.append(Self.arrival(try reader.uint16(.packetStatusChunk))) }
            if count % 2 != 0 { try reader.skip(2, .packetStatusChunk) }
            streams.append(StreamReport(source: source, beginSequenceNumber: begin, arrivals: arrivals))
        }
        timestamp = NTPShortTime(try reader.uint32(.feedbackControl))
    }

    private static func arrival(_ word: UInt16) -> Arrival? {
        guard word & 0x8000 != 0 else { return nil }
        let mark = CongestionMark(rawValue: UInt8(word >> 13 & 3)) ?? .none
        switch word & unavailableOffset {
        case unavailableOffset: return Arrival(mark: mark, offset: .unavailable)
        case longOffset: return Arrival(mark: mark, offset: .tooLongAgo)
        case let units: return Arrival(mark: mark, offset: .time(.nanoseconds(Int64(units) * 1_000_000_000 / 1024)))
        }
    }

    /// The 16 bits that stand for a packet.
    static func word(of arrival: Arrival?) -> UInt16 {
        guard let arrival else { return 0 }
        let units =
            switch arrival.offset {
            case .unavailable: unavailableOffset
            case .tooLongAgo: longOffset
            case .time(let time):
                UInt16(clamping: Int64(min(max(0, time.seconds * 1024 + 0.5), Double(longOffset)).rounded(.down)))
            }
        return 0x8000 | UInt16(arrival.mark.rawValue) << 13 | units
    }
}
