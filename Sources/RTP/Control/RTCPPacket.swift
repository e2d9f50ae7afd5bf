/// A packet of the RTP control protocol (RFC 3550 §6, RFC 4585 §6, RFC 5104 §4).
package enum RTCPPacket: Hashable, Sendable {
    /// SR: what a sender has sent, and what it has received.
    case senderReport(SenderReport)
    /// RR: what a receiver has received.
    case receiverReport(ReceiverReport)
    /// SDES: who the sources are.
    case sourceDescription(SourceDescription)
    /// BYE: sources that leave.
    case goodbye(Goodbye)
    /// APP: something that only an application understands.
    case application(ApplicationPacket)
    /// Generic NACK: packets that a receiver lacks.
    case genericNACK(GenericNACK)
    /// Transport-wide feedback: when packets arrived.
    case transportFeedback(TransportFeedback)
    /// PLI: a receiver can't decode on and wants a key frame.
    case pictureLossIndication(PictureLossIndication)
    /// FIR: a receiver that starts wants a key frame.
    case fullIntraRequest(FullIntraRequest)
    /// REMB: how much a receiver believes the path can carry.
    case receiverEstimatedMaximumBitrate(ReceiverEstimatedMaximumBitrate)
    /// A packet of a type that is not read here, or whose content can't be read.
    case opaque(OpaqueRTCPPacket)
}

/// A packet kept as it came: its type is not known here, or its content is not what its type promises.
package struct OpaqueRTCPPacket: Hashable, Sendable {
    /// PT, 192 to 223.
    package var packetType: UInt8
    /// The five bits after the padding bit: a count, a subtype or a feedback message type.
    package var count: UInt8
    /// What follows the first four bytes, padding left aside. Zeros fill its last word where it is written.
    package var body: [UInt8]
    /// Why the content could not be read; nil for a type that is not known here.
    package var error: RTPError?

    /// A packet of these parts.
    package init(packetType: UInt8, count: UInt8, body: [UInt8], error: RTPError? = nil) {
        self.packetType = packetType
        self.count = count
        self.body = body
        self.error = error
    }
}

/// Numbers of the RTCP packet types (RFC 3550 §12.1, RFC 4585 §6.1).
enum RTCPPacketType {
    static let senderReport: UInt8 = 200
    static let receiverReport: UInt8 = 201
    static let sourceDescription: UInt8 = 202
    static let goodbye: UInt8 = 203
    static let application: UInt8 = 204
    static let transportLayerFeedback: UInt8 = 205
    static let payloadSpecificFeedback: UInt8 = 206
}

/// Feedback message types within types 205 and 206 (RFC 4585 §6.2, §6.3, RFC 5104 §4.3.1).
enum FeedbackMessageType {
    static let genericNACK: UInt8 = 1
    static let transportFeedback: UInt8 = 15
    static let pictureLossIndication: UInt8 = 1
    static let fullIntraRequest: UInt8 = 4
    static let applicationLayerFeedback: UInt8 = 15
}

extension RTCPPacket {
    /// The packets of a compound or of a reduced-size packet (RFC 3550 §6.1, RFC 5506 §3.4), decrypted.
    ///
    /// A packet whose frame is wrong (version, length, padding) spoils all; one whose content is wrong comes out as
    /// ``opaque(_:)`` with the error, so that the others still count.
    package static func parse(compound: RawSpan) throws(RTPError) -> [RTCPPacket] {
        var statuses = TransportFeedback.maximumStatusCount
        return try parse(compound: compound, statuses: &statuses)
    }

    /// As ``parse(compound:)``, where `statuses` is how many packets transport-wide feedback may still report: a few bytes
    /// of it announce thousands. What it announces is taken off, and feedback that announces more than is left is not
    /// read.
    package static func parse(compound: RawSpan, statuses: inout Int) throws(RTPError) -> [RTCPPacket] {
        var packets: [RTCPPacket] = []
        var offset = 0
        guard compound.byteCount > 0 else { throw .truncated(.commonHeader, offset: 0) }
        while offset < compound.byteCount {
            guard packets.count < maximumPacketCount else {
                throw .tooMany(.compound, limit: maximumPacketCount, offset: offset)
            }
            let frame = try RTCPFrame(parsing: compound, at: offset)
            packets.append(frame.packet(in: compound, statuses: &statuses))
            offset = frame.end
        }
        return packets
    }

    /// Most packets that ``parse(compound:)`` takes from one datagram.
    package static let maximumPacketCount = 128
}

/// The common header of an RTCP packet and where its content is.
struct RTCPFrame {
    let packetType: UInt8
    let count: UInt8
    let body: Range<Int>
    let end: Int

    init(parsing compound: RawSpan, at start: Int) throws(RTPError) {
        var reader = FieldReader(compound.extracting(start..<compound.byteCount), base: start)
        guard reader.remaining >= 4 else { throw .truncated(.commonHeader, offset: start) }
        let first = try reader.uint8(.commonHeader)
        guard first >> 6 == 2 else { throw .invalid(.version, offset: start) }
        count = first & 0x1F
        packetType = try reader.uint8(.commonHeader)
        let length = Int(try reader.uint16(.length)) * 4
        guard length <= reader.remaining else { throw .truncated(.length, offset: start + 2) }
        let bodyStart = start + 4
        end = bodyStart + length
        var padding = 0
        if first & 0x20 != 0 {
            guard length > 0 else { throw .truncated(.padding, offset: bodyStart) }
            padding = Int(compound.unsafeLoadUnaligned(fromByteOffset: end - 1, as: UInt8.self))
            // RFC 3550 §6.4.1 wants a multiple of four; transport-wide feedback of browsers is padded by 1 to 3 bytes.
            guard padding > 0, padding <= length else { throw .invalid(.padding, offset: end - 1) }
        }
        body = bodyStart..<end - padding
    }

    func packet(in compound: RawSpan, statuses: inout Int) -> RTCPPacket {
        let bytes = compound.extracting(body)
        do {
            if let packet = try content(bytes, statuses: &statuses) { return packet }
            return opaque(bytes, error: nil)
        } catch {
            return opaque(bytes, error: error)
        }
    }

    private func opaque(_ bytes: RawSpan, error: RTPError?) -> RTCPPacket {
        .opaque(OpaqueRTCPPacket(packetType: packetType, count: count, body: copy(bytes), error: error))
    }

    private func copy(_ bytes: RawSpan) -> [UInt8] {
        var reader = FieldReader(bytes)
        return reader.remainingArray()
    }

    private func content(_ bytes: RawSpan, statuses: inout Int) throws(RTPError) -> RTCPPacket? {
        var reader = FieldReader(bytes, base: body.lowerBound)
        switch packetType {
        case RTCPPacketType.senderReport:
            return .senderReport(try SenderReport(&reader, count: count))
        case RTCPPacketType.receiverReport:
            return .receiverReport(try ReceiverReport(&reader, count: count))
        case RTCPPacketType.sourceDescription:
            return .sourceDescription(try SourceDescription(&reader, count: count))
        case RTCPPacketType.goodbye:
            return .goodbye(try Goodbye(&reader, count: count))
        case RTCPPacketType.application:
            return .application(try ApplicationPacket(&reader, subtype: count))
        case RTCPPacketType.transportLayerFeedback:
            switch count {
            case FeedbackMessageType.genericNACK: return .genericNACK(try GenericNACK(&reader))
            case FeedbackMessageType.transportFeedback:
                return .transportFeedback(try TransportFeedback(&reader, statuses: &statuses))
            default: return nil
            }
        case RTCPPacketType.payloadSpecificFeedback:
            switch count {
            case FeedbackMessageType.pictureLossIndication:
                return .pictureLossIndication(try PictureLossIndication(&reader))
            case FeedbackMessageType.fullIntraRequest:
                return .fullIntraRequest(try FullIntraRequest(&reader))
            case FeedbackMessageType.applicationLayerFeedback:
                return try ReceiverEstimatedMaximumBitrate(&reader).map { .receiverEstimatedMaximumBitrate($0) }
            default: return nil
            }
        default:
            return nil
        }
    }
}
