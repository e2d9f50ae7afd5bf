/// A packet of an rtpdump file.
package struct RTPDumpPacket: Hashable, Sendable {
    /// The arrival time since the start of the recording, in whole milliseconds.
    package let time: Duration
    /// Whether the recorder treated the packet as RTCP: the file contains no RTP length for such packets.
    package let isControl: Bool
    /// The length of the packet on the wire. It is greater than that of `bytes` if only headers were recorded, and zero
    /// for RTCP.
    package let wireByteCount: Int
    /// The recorded bytes of the packet.
    package let bytes: [UInt8]
}

/// A reader of recordings by rtpdump and of browsers' RTP dumps: `#!rtpplay1.0`, a binary header, then packets.
package struct RTPDumpReader: Sendable {
    /// The source of the packets in the first line: an address and a port.
    package let source: String
    /// The start of the recording, since 1970.
    package let start: Duration

    private let bytes: [UInt8]
    private var offset: Int

    /// Reads the header of a file.
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
        // The source in binary, and padding.
        try head.skip(8, .dumpHeader)
        offset = head.offset
        self.bytes = bytes
    }

    /// The maximum number of bytes in the first line.
    private static let maximumLineByteCount = 256

    /// Returns the packets from here to the end of the file, or to the first unreadable one.
    package func readablePackets() -> [RTPDumpPacket] {
        var reader = self
        var packets: [RTPDumpPacket] = []
        while let packet = try? reader.next() { packets.append(packet) }
        return packets
    }

    /// Returns the next packet; nil at the end of the file.
    package mutating func next() throws(RTPError) -> RTPDumpPacket? {
        guard offset < bytes.count else { return nil }
        var reader = FieldReader(bytes.span.bytes.extracting(offset..<bytes.count), base: offset)
        let length = Int(try reader.uint16(.dumpPacket))
        let wireByteCount = Int(try reader.uint16(.dumpPacket))
        let milliseconds = try reader.uint32(.dumpPacket)
        // The length includes the eight bytes of the record's header.
        guard length >= 8 else { throw .invalid(.dumpPacket, offset: offset) }
        let packet = try reader.array(length - 8, .dumpPacket)
        offset = reader.offset
        return RTPDumpPacket(
            time: .milliseconds(Int64(milliseconds)), isControl: wireByteCount == 0, wireByteCount: wireByteCount,
            bytes: packet)
    }
}
