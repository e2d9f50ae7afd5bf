/// An error in bytes that are not the expected RTP or RTCP packet.
package enum RTPError: Error, Hashable, Sendable {
    /// The bytes ended within `field`, which starts at `offset`.
    case truncated(RTPField, offset: Int)
    /// `field` at `offset` has a value that the format does not allow.
    case invalid(RTPField, offset: Int)
    /// The packet has more of `field` than this implementation accepts.
    case tooMany(RTPField, limit: Int, offset: Int)
}

extension RTPError: CustomStringConvertible {
    /// The error in one line, with the field and the byte offset.
    package var description: String {
        switch self {
        case .truncated(let field, let offset): "the packet ends within the \(field.rawValue) at byte \(offset)"
        case .invalid(let field, let offset): "the \(field.rawValue) at byte \(offset) is not valid"
        case .tooMany(let field, let limit, let offset):
            "more than \(limit) of \(field.rawValue), the last at byte \(offset)"
        }
    }
}

/// A field of a packet, for errors. The raw value is its name in the RFCs' words.
package enum RTPField: String, Sendable {
    /// The two version bits, always 2.
    case version
    /// The fixed header of an RTP packet.
    case header = "RTP header"
    /// The list of contributing sources.
    case contributingSources = "CSRC list"
    /// The header extension block.
    case headerExtension = "header extension"
    /// The padding and the count in its last byte.
    case padding
    /// The VP8 payload descriptor.
    case payloadDescriptor = "payload descriptor"
    /// The payload of a packet with H.264.
    case nalUnitPayload = "payload of NAL units"
    /// The header of a video frame.
    case frameHeader = "frame header"
    /// An OBU of AV1.
    case openBitstreamUnit = "OBU"
    /// A sequence header of AV1.
    case sequenceHeader = "sequence header"
    /// The first byte of a payload of AV1.
    case aggregationHeader = "aggregation header"
    /// The length of an OBU element of AV1, or the bytes that it announces.
    case elementLength = "OBU element length"
    /// The bytes of a frame.
    case frameBytes = "bytes of a frame"
    /// A start code before a NAL unit of H.264.
    case startCode = "start code"
    /// A NAL unit of H.264.
    case nalUnit = "NAL unit"
    /// A sequence parameter set of H.264.
    case sequenceParameterSet = "sequence parameter set"
    /// The table of contents, the first byte of an Opus packet.
    case opusTableOfContents = "Opus TOC byte"
    /// The count of frames in an Opus packet.
    case opusFrameCount = "Opus frame count"
    /// The padding of an Opus packet, or the bytes of its length.
    case opusPadding = "Opus padding"
    /// The length of a frame in an Opus packet, explicit or implied.
    case opusFrameLength = "Opus frame length"
    /// The original sequence number of a retransmission.
    case originalSequenceNumber = "original sequence number"
    /// The header of a block in a RED packet.
    case redHeader = "RED header"
    /// The header of a ULPFEC packet.
    case fecHeader = "FEC header"
    /// The header of level 0 of a ULPFEC packet, or the bytes that it announces.
    case fecLevelHeader = "FEC level header"
    /// The common header of an RTCP packet.
    case commonHeader = "RTCP common header"
    /// The length field of an RTCP packet, or the bytes that it announces.
    case length = "RTCP length"
    /// The packets of one compound packet.
    case compound = "compound packet"
    /// The synchronization source that sent a packet.
    case senderSource = "SSRC of packet sender"
    /// The synchronization source to which the feedback refers.
    case mediaSource = "SSRC of media source"
    /// The sender information of a sender report.
    case senderInformation = "sender information"
    /// A report block.
    case reportBlock = "report block"
    /// A chunk of a source description.
    case sourceDescriptionChunk = "SDES chunk"
    /// An item of a source description.
    case sourceDescriptionItem = "SDES item"
    /// The reason for leaving in a BYE packet.
    case goodbyeReason = "BYE reason"
    /// The four characters that name an application-defined packet.
    case applicationName = "APP name"
    /// Feedback control information.
    case feedbackControl = "feedback control information"
    /// The header of transport-wide feedback.
    case transportFeedbackHeader = "transport feedback header"
    /// The number of packets in transport-wide feedback.
    case packetStatusCount = "packet status count"
    /// A chunk of packet statuses in transport-wide feedback.
    case packetStatusChunk = "packet status chunk"
    /// An arrival time difference in transport-wide feedback.
    case receiveDelta = "receive delta"
    /// The first line of an rtpdump file.
    case dumpSignature = "rtpdump signature line"
    /// The binary header of an rtpdump file.
    case dumpHeader = "rtpdump file header"
    /// A packet of an rtpdump file.
    case dumpPacket = "rtpdump packet"
}
