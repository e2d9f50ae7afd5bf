internal import RTCShareCongestionControl
internal import RTCShareRTP
internal import RTCShareWireFormat

/// The forward error correction of a video stream: its amount and its content.
struct FrameProtection: Sendable {
    /// The negotiated payload types.
    let payloadTypes: ForwardErrorCorrectionTypes
    var policy: LossPolicy
    var encoder = ULPFECEncoder()

    /// Creates the protection. That of an earlier description provides its knowledge of the path.
    init(_ payloadTypes: ForwardErrorCorrectionTypes, resuming old: FrameProtection?) {
        self.payloadTypes = payloadTypes
        policy = old?.policy ?? LossPolicy()
    }

    /// The number of bytes of a correction in addition to those of its packets: RED, FEC and level header, and the
    /// header extension of those packets.
    static let overhead = REDPayload.headerByteCount + 18 + 12

    /// The frames that were sent without a correction, which a later frame can provide.
    private var uncorrected: (packets: Int, byteCount: Int, since: Instant)?

    /// Returns the correction packets after a frame that will be queued: their group, their number and their
    /// approximate size.
    ///
    /// A frame has its own corrections if their share of the rate allows it. If it does not, later frames have one
    /// correction together, as soon as it does: if the path loses single packets, one correction recovers any of them.
    /// Frames older than a round trip were requested by then.
    mutating func corrections(
        for frame: PacketizedFrame, isProtected: Bool, now: Instant
    ) -> (group: CorrectionGroup, count: Int, byteCount: Int) {
        // To a receiver of frames without numbers, a lost correction is as bad as a lost packet of a frame.
        guard policy.isActive, isProtected else {
            uncorrected = nil
            return (.none, 0, 0)
        }
        let ownByteCount = Self.size(of: frame)
        if let others = uncorrected, others.packets + frame.fragmentCount <= ULPFECHeader.maximumPackets,
            now - others.since <= policy.roundTripTime
        {
            let (packets, byteCount) = (others.packets + frame.fragmentCount, max(others.byteCount, ownByteCount))
            let count = corrections(of: packets, byteCount: byteCount, atMost: 1, now: now)
            uncorrected = count > 0 ? nil : (packets, byteCount, others.since)
            return (.ofFramesBefore, count, byteCount)
        }
        let count = corrections(
            of: frame.fragmentCount, byteCount: ownByteCount, atMost: ULPFECMask.maximumCorrections, now: now)
        let isWhole = frame.fragmentCount <= ULPFECHeader.maximumPackets
        uncorrected = count == 0 && isWhole ? (frame.fragmentCount, ownByteCount, now) : nil
        guard count > 0 || isWhole else { return (.none, 0, 0) }
        return (.begun(corrections: UInt8(clamping: max(count, 1))), count, ownByteCount)
    }

    private mutating func corrections(of packets: Int, byteCount: Int, atMost most: Int, now: Instant) -> Int {
        policy.corrections(
            forPackets: packets, bytesEach: byteCount + RTPHeader.fixedByteCount, atMost: most, now: now)
    }

    /// Returns the approximate number of payload bytes in a frame's correction.
    static func size(of frame: PacketizedFrame) -> Int { frame.payloadByteCount(at: 0) + overhead }

    /// Whether a piece of a frame with corrections is protected. If a frame has more pieces than libwebrtc stores
    /// packets for correction, only the last ones are: the others can be requested while these are sent.
    static func protects(_ fragment: Int, of frame: PacketizedFrame) -> Bool {
        fragment >= firstProtected(of: frame)
    }

    /// Returns the first piece that is protected.
    static func firstProtected(of frame: PacketizedFrame) -> Int {
        max(0, frame.fragmentCount - ULPFECHeader.maximumPackets)
    }
}

extension VideoRTPStream {
    /// Whether a correction of the last sent frames has this index.
    func hasCorrection(_ index: Int) -> Bool { protection?.encoder.hasCorrection(index) == true }

    /// Writes a correction of the last sent frames. It has a sequence number of the media, as libwebrtc's receiver
    /// requires. The history does not store it, since it would be useless when it is requested.
    mutating func writeCorrection(
        _ index: Int, to writer: inout ByteWriter, transportSequenceNumber: inout TransportSequenceNumber, now: Instant
    ) throws(EndOfBytes) {
        guard let protection, let newestTimestamp else { return }
        let start = writer.offset
        // The protected packets name their section. Without `mid` the correction is short enough for every path.
        var extensions = stream.stampedExtensions(&transportSequenceNumber, now: now)
        extensions.mediaIdentification = nil
        let header = OutgoingRTPHeader(
            marker: false, payloadType: protection.payloadTypes.red, sequenceNumber: stream.sequenceNumber,
            timestamp: newestTimestamp, source: stream.source, extensions: extensions)
        try header.write(to: &writer, map: stream.parameters.extensions)
        try REDPayload.writeHeader(protection.payloadTypes.ulpfec, to: &writer)
        let payloadStart = writer.offset
        try protection.encoder.write(index, to: &writer)
        let payload = writer.offset - payloadStart
        stream.advance(payload: payload, header: payloadStart - start)
        stream.statistics.countCorrection(payload: payload)
    }
}
