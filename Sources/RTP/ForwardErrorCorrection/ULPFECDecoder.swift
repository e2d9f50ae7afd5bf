package import RTCShareWireFormat

/// Makes lost packets of one source again, of those that came and of their forward error correction (RFC 5109 §9).
///
/// ```
/// media packet ──▶ kept for a while ──┐
///                                     ├──▶ a correction that lacks one packet makes it ──▶ kept, and given out
/// correction ────▶ waits ─────────────┘
/// ```
///
/// What a packet makes may be what another correction lacked. All that is kept is bounded in number and in time.
package struct ULPFECDecoder: Sendable {
    /// A packet as it is protected: what the corrections have exclusive ors of.
    private struct Packet: Sendable {
        let number: SequenceNumber
        let flags: UInt16
        let timestamp: UInt32
        /// What follows the fixed header.
        let bytes: [UInt8]
        let arrival: Instant
    }

    private struct Correction: Sendable {
        let header: ULPFECHeader
        let bytes: [UInt8]
        let arrival: Instant
    }

    /// Packets that are kept, a power of two: more than a frame's corrections can name.
    private static let packetCapacity = 128
    /// Corrections that wait.
    private static let correctionCapacity = 32
    /// How long they are kept. Numbers come again, after as many packets as would take longer than this.
    private static let maximumAge = Duration.seconds(2)
    /// The largest packet that is made.
    private static let maximumPacket = 1500

    private let source: SynchronizationSource
    private var packets: [Packet?] = Array(repeating: nil, count: packetCapacity)
    private var corrections: [Correction] = []
    private var recovered: [[UInt8]] = []

    /// A decoder for the packets of a source.
    package init(source: SynchronizationSource) {
        self.source = source
    }

    /// Takes a packet that was protected.
    /// - Parameters:
    ///   - header: The RTP header, whose payload type is that of RED.
    ///   - packet: The packet that it was read from.
    ///   - payloadType: The payload type of the RED packet's block.
    package mutating func receive(
        _ header: RTPHeader, in packet: RawSpan, payloadType: PayloadType, now: Instant
    ) {
        let block = header.payloadRange.lowerBound + REDPayload.headerByteCount
        guard block <= packet.byteCount, RTPHeader.fixedByteCount <= header.byteCount else { return }
        let first = UInt16(bigEndian: packet.unsafeLoadUnaligned(fromByteOffset: 0, as: UInt16.self))
        let rest = [UInt8](packet.extracting(RTPHeader.fixedByteCount..<header.byteCount))
        keep(
            Packet(
                number: header.sequenceNumber, flags: first & 0x3F80 | UInt16(payloadType.rawValue),
                timestamp: header.timestamp.rawValue,
                bytes: rest + [UInt8](packet.extracting(block..<packet.byteCount)),
                arrival: now))
        recover(now: now)
    }

    /// Takes a correction: what stands behind the RED header.
    package mutating func receive(correction payload: RawSpan, now: Instant) throws(RTPError) {
        let (header, start) = try ULPFECHeader.parse(payload)
        let bytes = [UInt8](payload.extracting(start..<start + Int(header.protectionLength)))
        if corrections.count == Self.correctionCapacity { corrections.removeFirst() }
        corrections.append(Correction(header: header, bytes: bytes, arrival: now))
        recover(now: now)
    }

    /// The next packet that was made, whole, as it was before it was put into a RED packet. Fields that a sender writes
    /// after it has made its corrections are not to be relied on, as libwebrtc's transport-wide number.
    package mutating func pollRecovered() -> [UInt8]? {
        recovered.isEmpty ? nil : recovered.removeFirst()
    }

    private mutating func keep(_ packet: Packet) {
        packets[Int(packet.number.rawValue) & (Self.packetCapacity - 1)] = packet
    }

    private func packet(_ number: SequenceNumber, now: Instant) -> Packet? {
        guard let packet = packets[Int(number.rawValue) & (Self.packetCapacity - 1)], packet.number == number,
            now - packet.arrival <= Self.maximumAge
        else { return nil }
        return packet
    }

    /// Each turn uses up a correction.
    private mutating func recover(now: Instant) {
        corrections.removeAll { now - $0.arrival > Self.maximumAge }
        var index = 0
        while index < corrections.count {
            switch missing(of: corrections[index].header, now: now) {
            case .several:
                index += 1
            case .none:
                corrections.remove(at: index)
            case .one(let number):
                let correction = corrections.remove(at: index)
                guard let packet = make(number, of: correction, now: now) else { continue }
                keep(packet)
                recovered.append(whole(packet))
                index = 0
            }
        }
    }

    private enum Missing {
        case none
        case one(SequenceNumber)
        case several
    }

    private func missing(of header: ULPFECHeader, now: Instant) -> Missing {
        var result = Missing.none
        for number in header.numbers where packet(number, now: now) == nil {
            guard case .none = result else { return .several }
            result = .one(number)
        }
        return result
    }

    /// The one packet that a correction lacks; nil where it comes out as none that was protected whole.
    private func make(_ number: SequenceNumber, of correction: Correction, now: Instant) -> Packet? {
        var (flags, timestamp) = (correction.header.flags, correction.header.timestamp)
        var length = correction.header.length
        var bytes = correction.bytes
        for other in correction.header.numbers {
            guard let packet = packet(other, now: now) else { continue }
            flags ^= packet.flags
            timestamp ^= packet.timestamp
            length ^= UInt16(truncatingIfNeeded: packet.bytes.count)
            let piece = min(packet.bytes.count, bytes.count)
            bytes.withMutableRawSpan { $0.formExclusiveOr(packet.bytes.span.bytes.extracting(0..<piece), at: 0) }
        }
        guard Int(length) <= bytes.count, Int(length) + RTPHeader.fixedByteCount <= Self.maximumPacket else {
            return nil
        }
        return Packet(
            number: number, flags: flags, timestamp: timestamp, bytes: Array(bytes[..<Int(length)]), arrival: now)
    }

    private func whole(_ packet: Packet) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(RTPHeader.fixedByteCount + packet.bytes.count)
        bytes.append(bigEndian: 0x8000 | packet.flags)
        bytes.append(bigEndian: packet.number.rawValue)
        bytes.append(bigEndian: packet.timestamp)
        bytes.append(bigEndian: source.rawValue)
        return bytes + packet.bytes
    }
}
