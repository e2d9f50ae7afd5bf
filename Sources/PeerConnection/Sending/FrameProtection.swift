internal import RTCShareCongestionControl
internal import RTCShareRTP
internal import RTCShareWireFormat

/// The forward error correction of a video stream: how much there is, and what it is made of.
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

    /// Pictures that have left without a correction, which one that follows may bring.
    private var uncorrected: (packets: Int, byteCount: Int, since: Instant)?

    /// What follows a frame that is about to be queued: how many packets of correction, about so large, of which frames.
    ///
    /// A frame has corrections of its own where their share of the rate allows. Where it does not, the frames that follow have
    /// one together, as soon as it does: of a few packets that a path loses one by one, one correction makes any again. What
    /// is older than a round trip was asked for meanwhile.
    mutating func corrections(
        for frame: PacketizedFrame, now: Instant
    ) -> (group: CorrectionGroup, count: Int, byteCount: Int) {
        guard policy.isActive else {
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

    /// Bytes of the payload of a frame's correction, about.
    static func size(of frame: PacketizedFrame) -> Int { frame.payloadByteCount(at: 0) + overhead }

    /// Whether a piece of a frame with corrections is protected. Of a frame with more pieces than libwebrtc keeps
    /// packets to correct by, the last are: those before can be asked for while these leave.
    static func protects(_ fragment: Int, of frame: PacketizedFrame) -> Bool {
        fragment >= firstProtected(of: frame)
    }

    /// The first piece that is protected.
    static func firstProtected(of frame: PacketizedFrame) -> Int {
        max(0, frame.fragmentCount - ULPFECHeader.maximumPackets)
    }
}

extension VideoRTPStream {
    /// Whether this index names a correction of the frames that left last.
    func hasCorrection(_ index: Int) -> Bool { protection?.encoder.hasCorrection(index) == true }

    /// Writes a correction of the frames that left last. It has a number of the media's own, as libwebrtc's receiver wants
    /// it; no history keeps it, for by the time it is asked for it is of no use.
    mutating func writeCorrection(
        _ index: Int, to writer: inout ByteWriter, transportSequenceNumber: inout TransportSequenceNumber, now: Instant
    ) throws(EndOfBytes) {
        guard let protection, let newestTimestamp else { return }
        let start = writer.offset
        // The packets that it protects say for which section they are; without that it is short enough for every path.
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
