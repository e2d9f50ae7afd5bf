import RTCShareWireFormat

/// Transport-wide feedback: the arrival times of a transport's packets
/// (draft-holmer-rmcat-transport-wide-cc-extensions-01 §3.1).
package struct TransportFeedback: Hashable, Sendable {
    /// The receiver of the packets.
    package var sender: SynchronizationSource
    /// Any stream of the transport.
    package var media: SynchronizationSource
    /// The number of the first reported packet.
    package var baseSequenceNumber: TransportSequenceNumber
    /// The base of the first delta on the receiver's clock, in 64 milliseconds, as a signed 24-bit value.
    package var referenceTime: Int32
    /// A counter of feedback packets, which reveals their loss.
    package var feedbackPacketCount: UInt8
    /// A value for each packet from the base: nil if it did not arrive, otherwise the time since the previous reported
    /// arrival (or the reference time) in units of 250 microseconds.
    package var deltas: [Int16?]

    package init(
        sender: SynchronizationSource, media: SynchronizationSource, baseSequenceNumber: TransportSequenceNumber,
        referenceTime: Int32, feedbackPacketCount: UInt8, deltas: [Int16?]
    ) {
        self.sender = sender
        self.media = media
        self.baseSequenceNumber = baseSequenceNumber
        self.referenceTime = referenceTime
        self.feedbackPacketCount = feedbackPacketCount
        self.deltas = deltas
    }

    /// The result for one packet in the feedback.
    package struct PacketResult: Hashable, Sendable {
        /// The number of the packet.
        package let sequenceNumber: TransportSequenceNumber
        /// The arrival time on the receiver's clock, which wraps after some 2³⁰ seconds; nil if the packet did not
        /// arrive.
        package let arrival: Duration?
    }

    /// The results for all packets, in the order of their numbers.
    package var results: [PacketResult] {
        var ticks = Int64(referenceTime) * Self.ticksPerReference
        var number = baseSequenceNumber
        var results: [PacketResult] = []
        results.reserveCapacity(deltas.count)
        for delta in deltas {
            if let delta { ticks += Int64(delta) }
            let arrival = delta.map { _ in Duration.microseconds(ticks * 250) }
            results.append(PacketResult(sequenceNumber: number, arrival: arrival))
            number = number.next
        }
        return results
    }

    /// Returns the time between the reference times of two feedback packets, along the shorter direction of their 24
    /// bits. If you add it to arrival times of this packet, they are comparable with those of `earlier`.
    package func referenceDuration(since earlier: TransportFeedback) -> Duration {
        let difference = ((referenceTime &- earlier.referenceTime) << 8) >> 8
        return .milliseconds(Int64(difference) * 64)
    }

    /// The maximum number of packets in one feedback packet, and in one compound packet. A few chunks can announce
    /// 65535 packets. A receiver that reports at least once per second is far below this limit.
    package static let maximumStatusCount = 16384

    /// 64 milliseconds in units of 250 microseconds.
    static let ticksPerReference: Int64 = 256

    /// The status of a packet, two bits on the wire.
    enum Symbol: UInt16 {
        case notReceived = 0
        case smallDelta = 1
        case largeDelta = 2
    }

    static func symbol(of delta: Int16?) -> Symbol {
        guard let delta else { return .notReceived }
        return (0...255).contains(delta) ? .smallDelta : .largeDelta
    }

    /// Parses feedback and subtracts its number of packets from `statuses`, which limits it.
    init(_ reader: inout FieldReader, statuses: inout Int) throws(RTPError) {
        sender = try reader.source(.senderSource)
        media = try reader.source(.mediaSource)
        baseSequenceNumber = TransportSequenceNumber(try reader.uint16(.transportFeedbackHeader))
        let countOffset = reader.offset
        let count = Int(try reader.uint16(.packetStatusCount))
        let limit = max(0, min(statuses, Self.maximumStatusCount))
        guard count <= limit else { throw .tooMany(.packetStatusCount, limit: limit, offset: countOffset) }
        statuses -= count
        referenceTime = Int32(bitPattern: try reader.uint24(.transportFeedbackHeader) << 8) >> 8
        feedbackPacketCount = try reader.uint8(.transportFeedbackHeader)
        var symbols: [Symbol] = []
        symbols.reserveCapacity(count)
        while symbols.count < count {
            let offset = reader.offset
            let chunk = try reader.uint16(.packetStatusChunk)
            try Self.read(chunk, at: offset, limit: count, into: &symbols)
        }
        var deltas: [Int16?] = []
        deltas.reserveCapacity(count)
        for symbol in symbols {
            switch symbol {
            case .notReceived: deltas.append(nil)
            case .smallDelta: deltas.append(Int16(try reader.uint8(.receiveDelta)))
            case .largeDelta: deltas.append(Int16(bitPattern: try reader.uint16(.receiveDelta)))
            }
        }
        self.deltas = deltas
    }

    /// Appends the statuses of a chunk, up to `limit` in all (§3.1.3, §3.1.4).
    private static func read(
        _ chunk: UInt16, at offset: Int, limit: Int, into symbols: inout [Symbol]
    ) throws(RTPError) {
        if chunk & 0x8000 == 0 {
            guard let symbol = Symbol(rawValue: chunk >> 13) else {
                throw .invalid(.packetStatusChunk, offset: offset)
            }
            let count = min(Int(chunk & 0x1FFF), limit - symbols.count)
            // A run of length zero is invalid: a packet of such chunks would take long to parse.
            guard count > 0 else { throw .invalid(.packetStatusChunk, offset: offset) }
            symbols.append(contentsOf: repeatElement(symbol, count: count))
            return
        }
        let width: UInt16 = chunk & 0x4000 == 0 ? 1 : 2
        var shift: UInt16 = 14
        while shift > 0, symbols.count < limit {
            shift -= width
            guard let symbol = Symbol(rawValue: chunk >> shift & (width == 1 ? 1 : 3)) else {
                throw .invalid(.packetStatusChunk, offset: offset)
            }
            symbols.append(symbol)
        }
    }
}
