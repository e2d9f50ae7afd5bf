package import RTCShareWireFormat

/// Makes the forward error correction of one frame, or a few in a row, after the other (RFC 5109 §8, level 0).
///
/// Its packets go in as they are written, and each is forgotten at once; what is kept are the exclusive ors.
package struct ULPFECEncoder: Sendable {
    /// The exclusive or of some of the frames' packets.
    private struct Correction: Sendable {
        var flags: UInt16 = 0
        var timestamp: UInt32 = 0
        var length: UInt16 = 0
        var mask: UInt64 = 0
        /// Zeros behind what is protected: its room is used again by the next frames.
        var bytes: [UInt8] = []
        var protectionLength = 0

        mutating func begin() {
            bytes.withMutableRawSpan { $0.clear(protectionLength) }
            (flags, timestamp, length, mask, protectionLength) = (0, 0, 0, 0, 0)
        }

        mutating func add(_ piece: RawSpan, at offset: Int) {
            let end = offset + piece.byteCount
            if bytes.count < end { bytes += [UInt8](repeating: 0, count: end - bytes.count) }
            bytes.withMutableRawSpan { $0.formExclusiveOr(piece, at: offset) }
            protectionLength = max(protectionLength, end)
        }
    }

    private var corrections: [Correction] = []
    private var count = 0
    private var packetCount = 0
    private var base = SequenceNumber(0)

    /// An encoder without a frame.
    package init() {}

    /// Begins with another frame, and those that follow until the next beginning, for which `corrections` packets are to be
    /// made, at most ``ULPFECMask/maximumCorrections``.
    package mutating func begin(corrections count: Int) {
        self.count = min(max(0, count), ULPFECMask.maximumCorrections)
        while corrections.count < self.count { corrections.append(Correction()) }
        for index in corrections.indices { corrections[index].begin() }
        packetCount = 0
    }

    /// Takes the frames' next packet, but for its RED header. One that comes after so many that no mask can name it is
    /// left aside.
    /// - Parameters:
    ///   - header: The whole RTP header as it is written, under the payload type of RED.
    ///   - payloadType: The payload type of the payload.
    ///   - payload: What follows the RED header.
    package mutating func add(header: RawSpan, payloadType: PayloadType, payload: RawSpan) {
        guard header.byteCount >= RTPHeader.fixedByteCount else { return }
        func field<T: FixedWidthInteger & BitwiseCopyable>(_ offset: Int, _ type: T.Type) -> T {
            T(bigEndian: header.unsafeLoadUnaligned(fromByteOffset: offset, as: type))
        }
        let number = SequenceNumber(field(2, UInt16.self))
        if packetCount == 0 { base = number }
        let place = number.distance(from: base)
        guard (0..<ULPFECHeader.maximumPackets).contains(place) else { return }
        let rest = header.extracting(RTPHeader.fixedByteCount..<header.byteCount)
        let word = ULPFECMask.corrections(ofPacket: packetCount, count: count)
        packetCount += 1
        for index in 0..<count where word >> UInt16(index) & 1 == 1 {
            corrections[index].flags ^= field(0, UInt16.self) & 0xFF80 | UInt16(payloadType.rawValue)
            corrections[index].timestamp ^= field(4, UInt32.self)
            corrections[index].length ^= UInt16(truncatingIfNeeded: rest.byteCount + payload.byteCount)
            corrections[index].mask |= 1 << UInt64(place)
            corrections[index].add(rest, at: 0)
            corrections[index].add(payload, at: rest.byteCount)
        }
    }

    /// Whether there is a correction of this index: some packet went into it.
    package func hasCorrection(_ index: Int) -> Bool {
        (0..<count).contains(index) && corrections[index].mask != 0
    }

    /// Writes a correction, as it stands behind the RED header. One that there is not writes nothing.
    package func write(_ index: Int, to writer: inout ByteWriter) throws(EndOfBytes) {
        guard hasCorrection(index) else { return }
        let correction = corrections[index]
        let header = ULPFECHeader(
            flags: correction.flags, base: base, timestamp: correction.timestamp, length: correction.length,
            protectionLength: UInt16(clamping: correction.protectionLength), mask: correction.mask)
        try header.write(to: &writer)
        try writer.write(correction.bytes.span.bytes.extracting(0..<correction.protectionLength))
    }
}
