import RTCShareWireFormat

/// The properties of a VP8 frame in its first bytes, known without decoding it (RFC 7741 §4.3, RFC 6386 §9.1).
package struct VP8FrameHeader: Hashable, Sendable {
    /// Whether the frame is a key frame, which decodes without other frames.
    package let isKeyFrame: Bool
    /// The bitstream version: 0 to 3 are defined.
    package let version: UInt8
    /// Whether the decoder shows the frame.
    package let isShown: Bool
    /// The number of bytes in the first partition.
    package let firstPartitionByteCount: Int
    /// The width of a key frame in pixels; zero for other frames.
    package let width: Int
    /// The height of a key frame in pixels; zero for other frames.
    package let height: Int

    /// Parses the header at the start of a frame: three bytes, and seven more of a key frame.
    package init(parsing frame: RawSpan) throws(RTPError) {
        var reader = FieldReader(frame)
        let tag = try reader.uint24(.frameHeader)
        // The tag's 24 bits are little-endian: the first byte, here the highest, contains its low bits.
        let first = UInt8(truncatingIfNeeded: tag >> 16)
        isKeyFrame = first & 1 == 0
        version = first >> 1 & 7
        isShown = first & 0x10 != 0
        firstPartitionByteCount = Int(first >> 5) | Int(tag >> 8 & 0xFF) << 3 | Int(tag & 0xFF) << 11
        guard isKeyFrame else {
            width = 0
            height = 0
            return
        }
        guard try reader.uint24(.frameHeader) == 0x9D012A else { throw .invalid(.frameHeader, offset: 3) }
        // Each dimension is 14 bits little-endian below two bits of scaling, which a decoder leaves to its caller.
        width = Int((try reader.uint16(.frameHeader)).byteSwapped & 0x3FFF)
        height = Int((try reader.uint16(.frameHeader)).byteSwapped & 0x3FFF)
        guard width > 0, height > 0 else { throw .invalid(.frameHeader, offset: 6) }
    }
}
