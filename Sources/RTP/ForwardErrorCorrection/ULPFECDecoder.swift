package import RTCShareWireFormat

/// Recovers lost packets of one source from received packets and their forward error correction (RFC 5109 §9).
///
/// ```
/// media packet ──▶ stored for a while ──┐
///                                       ├──▶ a correction that lacks one packet recovers it ──▶ stored and returned
/// correction ────▶ stored for a while ──┘
/// ```
///
/// A recovered packet can complete another correction. The number and the age of all stored packets are limited.
package struct ULPFECDecoder: Sendable {
    /// The fields of a packet that the corrections protect with exclusive ors.
    private struct Packet: Sendable {
        let number: SequenceNumber
        let flags: UInt16
        let timestamp: UInt32
        /// The bytes after the fixed header.
        let bytes: [UInt8]
        let arrival: Instant
    }

    private struct Correction: Sendable {
        let header: ULPFECHeader
        let bytes: [UInt8]
        let arrival: Instant
    }

    /// The maximum number of stored packets, a power of two: more than a frame's corrections can name.
    private static let packetCapacity = 128
    /// The maximum number of stored corrections.
    private static let correctionCapacity = 32
    /// The maximum age of stored packets and corrections. Sequence numbers take longer than this to repeat.
    private static let maximumAge = Duration.seconds(2)
    /// The maximum size of a recovered packet.
    private static let maximumPacket = 1500

    private let source: SynchronizationSource
    private var packets: [Packet?] = Array(repeating: nil, count: packetCapacity)
    private var corrections: [Correction] = []
    private var recovered: [[UInt8]] = []

    package init(source: SynchronizationSource) {
        self.source = source
    }

    /// Stores a received media packet.
    /// - Parameters:
    ///   - header: The RTP header, whose payload type is that of RED.
    /// The packet from which the header was parsed.
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

    /// Stores a correction: the payload after the RED header.
    package mutating func receive(correction payload: RawSpan, now: Instant) throws(RTPError) {
        let (header, start) = try ULPFECHeader.parse(payload)
        let bytes = [UInt8](payload.extracting(start..<start + Int(header.protectionLength)))
        if corrections.count == Self.correctionCapacity { corrections.removeFirst() }
        corrections.append(Correction(header: header, bytes: bytes, arrival: now))
        recover(now: now)
    }

    /// Returns the next recovered packet, whole, as it was before RED. Fields that a sender writes after it has
    /// computed its corrections are not reliable, such as libwebrtc's transport-wide sequence number.
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

    /// Recovers all packets that it can. Each round removes a correction.
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

    /// Returns the only packet that a correction lacks; nil if the result is not a whole packet.
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
