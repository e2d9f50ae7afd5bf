/// A packet of an rtpdump file.
package struct RTPDumpPacket: Hashable, Sendable {
    /// When the packet came, after the start of the recording; milliseconds are the file's grain.
    package let time: Duration
    /// Whether the recorder took the packet for RTCP: the file states no RTP length for those.
    package let isControl: Bool
    /// The length that the packet had on the wire; greater than that of `bytes` where only headers were recorded, zero
    /// for RTCP.
    package let wireByteCount: Int
    /// What was recorded of the packet.
    package let bytes: [UInt8]
}

/// Reads the recordings of rtpdump and of browsers' RTP dumps: `#!rtpplay1.0`, a binary header, then packets.
package struct RTPDumpReader: Sendable {
    /// Where the packets came from, as the first line says it: an address and a port.
    package let source: String
    /// When the recording began, since 1970.
    package let start: Duration

    private let bytes: [UInt8]
    private var offset: Int

    /// Reads the head of a file.
    package init(_ bytes: [UInt8]) throws(RTPError) {
        let signature = [UInt8]("#!rtpplay1.0 ".utf8)
        guard bytes.starts(with: signature) else { throw .invalid(.dumpSignature, offset: 0) }
        let line = bytes.prefix(Self.maximumLineByteCount)
        guard let end = line.firstIndex(of: 0x0A) else {
            throw .truncated(.dumpSignature, offset: signature.count)
        }
        source = String(decoding: bytes[signature.count..<end], as: UTF8.self)
        var head = FieldReader(bytes.span.bytes.extracting((end + 1)..<bytes.count), base: end + 1)
        let seconds = try head.uint32(.dumpHeader)
        let microseconds = try head.uint32(.dumpHeader)
        start = .seconds(Int64(seconds)) + .microseconds(Int64(microseconds))
        // The source once more, in binary, and padding.
        try head.skip(8, .dumpHeader)
        offset = head.offset
        self.bytes = bytes
    }

    /// The longest first line that is taken for one.
    private static let maximumLineByteCount = 256

    /// The next packet; nil at the end of the file.
    package mutating func next() throws(RTPError) -> RTPDumpPacket? {
        guard offset < bytes.count else { return nil }
        var reader = FieldReader(bytes.span.bytes.extracting(offset..<bytes.count), base: offset)
        let length = Int(try reader.uint16(.dumpPacket))
        let wireByteCount = Int(try reader.uint16(.dumpPacket))
        let milliseconds = try reader.uint32(.dumpPacket)
        // The length counts the eight bytes of this record's own head.
        guard length >= 8 else { throw .invalid(.dumpPacket, offset: offset) }
        let packet = try reader.array(length - 8, .dumpPacket)
        offset = reader.offset
        return RTPDumpPacket(
            time: .milliseconds(Int64(milliseconds)), isControl: wireByteCount == 0, wireByteCount: wireByteCount,
            bytes: packet)
    }
}
