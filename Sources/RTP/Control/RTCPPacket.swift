/// A packet of the RTP control protocol (RFC 3550 §6, RFC 4585 §6, RFC 5104 §4).
package enum RTCPPacket: Hashable, Sendable {
    /// SR: a source's statistics of sending and of reception.
    case senderReport(SenderReport)
    /// RR: a receiver's statistics of reception.
    case receiverReport(ReceiverReport)
    /// SDES: descriptions of sources.
    case sourceDescription(SourceDescription)
    /// BYE: sources that leave.
    case goodbye(Goodbye)
    /// APP: data that only an application understands.
    case application(ApplicationPacket)
    /// Generic NACK: a receiver's list of lost packets.
    case genericNACK(GenericNACK)
    /// Transport-wide feedback: the arrival times of packets.
    case transportFeedback(TransportFeedback)
    /// PLI: a request for a key frame from a receiver that can't continue decoding.
    case pictureLossIndication(PictureLossIndication)
    /// FIR: a request for a key frame from a receiver that starts to decode.
    case fullIntraRequest(FullIntraRequest)
    /// TMMBR and TMMBN: limits of the bitrates of streams.
    case temporaryMaximumBitrate(TemporaryMaximumBitrate)
    /// REMB: a receiver's estimate of the bitrate that the path can carry.
    case receiverEstimatedMaximumBitrate(ReceiverEstimatedMaximumBitrate)
    /// A packet of an unknown type, or with malformed content.
    case opaque(OpaqueRTCPPacket)
}

/// An RTCP packet as received: its type is unknown, or its content is malformed.
package struct OpaqueRTCPPacket: Hashable, Sendable {
    /// The packet type (PT), 192 to 223.
    package var packetType: UInt8
    /// The five bits after the padding bit: a count, a subtype or a feedback message type.
    package var count: UInt8
    /// The content after the first four bytes, without padding. A writer pads its last word with zeros.
    package var body: [UInt8]
    /// The error in the content; nil for an unknown type.
    package var error: RTPError?

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

/// Feedback message types within types 205 and 206 (RFC 4585 §6.2, §6.3, RFC 5104 §4.2, §4.3.1).
enum FeedbackMessageType {
    static let genericNACK: UInt8 = 1
    static let temporaryMaximumBitrateRequest: UInt8 = 3
    static let temporaryMaximumBitrateNotification: UInt8 = 4
    static let transportFeedback: UInt8 = 15
    static let pictureLossIndication: UInt8 = 1
    static let fullIntraRequest: UInt8 = 4
    static let applicationLayerFeedback: UInt8 = 15
}

extension RTCPPacket {
    /// Parses the packets of a decrypted compound or reduced-size packet (RFC 3550 §6.1, RFC 5506 §3.4).
    ///
    /// A packet with an invalid header (version, length, padding) invalidates all packets. A packet with invalid
    /// content becomes ``opaque(_:)`` with the error, so that the others still count.
    package static func parse(compound: RawSpan) throws(RTPError) -> [RTCPPacket] {
        var statuses = TransportFeedback.maximumStatusCount
        return try parse(compound: compound, statuses: &statuses)
    }

    /// Parses packets in the same way as ``parse(compound:)``, with a limit on the packet statuses in transport-wide
    /// feedback, which can announce thousands of packets in a few bytes. Each feedback reduces `statuses` by its number
    /// of packets, and feedback with more packets than that is not read.
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

    /// The maximum number of packets in one datagram that ``parse(compound:)`` accepts.
    package static let maximumPacketCount = 128
}

/// The common header of an RTCP packet and the range of its content.
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
            // RFC 3550 §6.4.1 requires a multiple of four, but browsers pad transport-wide feedback by 1 to 3 bytes.
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
            case FeedbackMessageType.temporaryMaximumBitrateRequest:
                return .temporaryMaximumBitrate(try TemporaryMaximumBitrate(&reader, isNotification: false))
            case FeedbackMessageType.temporaryMaximumBitrateNotification:
                return .temporaryMaximumBitrate(try TemporaryMaximumBitrate(&reader, isNotification: true))
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
