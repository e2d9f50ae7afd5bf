package import RTCShareWireFormat

/// Computes the forward error correction of one frame, or of several consecutive frames, at a time (RFC 5109 §8, level
/// 0).
///
/// Packets are added when they are written. Only their exclusive ors are stored.
package struct ULPFECEncoder: Sendable {
    /// The exclusive or of some of the frames' packets.
    private struct Correction: Sendable {
        var flags: UInt16 = 0
        var timestamp: UInt32 = 0
        var length: UInt16 = 0
        var mask: UInt64 = 0
        /// The protected bytes, followed by zeros. The next frames reuse the memory.
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

    package init() {}

    /// Starts the correction of the next frames, for which `corrections` packets are computed, at most
    /// ``ULPFECMask/maximumCorrections``.
    package mutating func begin(corrections count: Int) {
        self.count = min(max(0, count), ULPFECMask.maximumCorrections)
        while corrections.count < self.count { corrections.append(Correction()) }
        for index in corrections.indices { corrections[index].begin() }
        packetCount = 0
    }

    /// Adds the next packet of the frames, without its RED header. A packet that no mask can name any more is ignored.
    /// - Parameters:
    /// The whole RTP header as written, with the payload type of RED.
    ///   - payloadType: The payload type of the payload.
    /// The bytes after the RED header.
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

    /// Whether a correction with this index exists: at least one packet was added to it.
    package func hasCorrection(_ index: Int) -> Bool {
        (0..<count).contains(index) && corrections[index].mask != 0
    }

    /// Writes a correction in its format after the RED header. If the correction does not exist, this writes no bytes.
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
