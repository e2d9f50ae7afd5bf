internal import RTCShareCongestionControl
internal import RTCShareRTP
internal import RTCShareWireFormat

/// The forward error correction of what a video sender sends: how much there is, and what it is made of.
struct FrameProtection: Sendable {
    /// The payload types that the peer takes it under.
    let payloadTypes: ForwardErrorCorrectionTypes
    var policy: LossPolicy
    var encoder = ULPFECEncoder()

    /// What goes on from a description before keeps what is known of the path.
    init(_ payloadTypes: ForwardErrorCorrectionTypes, resuming old: FrameProtection?) {
        self.payloadTypes = payloadTypes
        policy = old?.policy ?? LossPolicy()
    }

    /// Bytes of a correction beside those of the packets that it protects: RED, FEC and level header, and the header
    /// extension of those packets.
    static let overhead = REDPayload.headerByteCount + 18 + 12

    /// How many packets of correction follow a frame that is about to be queued.
    mutating func corrections(for frame: PacketizedFrame, now: Instant) -> Int {
        policy.corrections(
            forPackets: frame.fragmentCount, bytesEach: Self.size(of: frame) + RTPHeader.fixedByteCount, now: now)
    }

    /// Bytes of the payload of a frame's correction, about.
    static func size(of frame: PacketizedFrame) -> Int { frame.payloadByteCount(at: 0) + overhead }

    /// Whether a piece of a frame that has corrections is protected. Of a frame with more pieces than libwebrtc keeps
    /// packets to correct by, the last are: those before can be asked for while these leave.
    static func protects(_ fragment: Int, of frame: PacketizedFrame) -> Bool {
        fragment >= firstProtected(of: frame)
    }

    /// The first piece that is protected.
    static func firstProtected(of frame: PacketizedFrame) -> Int {
        max(0, frame.fragmentCount - ULPFECHeader.maximumPackets)
    }
}

extension VideoSender {
    /// Whether this index names a correction of the frame that left last.
    func hasCorrection(_ index: Int) -> Bool { protection?.encoder.hasCorrection(index) == true }

    /// Writes a correction of the frame that left last. It has a number of the media's own, as libwebrtc's receiver wants
    /// it; no history keeps it, for by the time it is asked for it is of no use.
    mutating func writeCorrection(
        _ index: Int, to writer: inout ByteWriter, transportSequenceNumber: inout TransportSequenceNumber, now: Instant
    ) throws(EndOfBytes) {
        guard let protection, let newestTimestamp else { return }
        let start = writer.offset
        let header = OutgoingRTPHeader(
            marker: false, payloadType: protection.payloadTypes.red, sequenceNumber: stream.sequenceNumber,
            timestamp: newestTimestamp, source: stream.source,
            extensions: stream.stampedExtensions(&transportSequenceNumber, now: now))
        try header.write(to: &writer, map: stream.parameters.extensions)
        try REDPayload.writeHeader(protection.payloadTypes.ulpfec, to: &writer)
        let payloadStart = writer.offset
        try protection.encoder.write(index, to: &writer)
        let payload = writer.offset - payloadStart
        stream.advance(payload: payload, header: payloadStart - start)
        stream.statistics.countCorrection(payload: payload)
    }
}
