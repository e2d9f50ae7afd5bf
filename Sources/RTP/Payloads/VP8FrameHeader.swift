import RTCShareWireFormat

/// What the first bytes of a VP8 frame say without decoding it (RFC 7741 §4.3, RFC 6386 §9.1).
package struct VP8FrameHeader: Hashable, Sendable {
    /// Whether the frame decodes on its own.
    package let isKeyFrame: Bool
    /// The bitstream version: 0 to 3 are defined.
    package let version: UInt8
    /// Whether the frame is meant to be shown.
    package let isShown: Bool
    /// Bytes of the first partition.
    package let firstPartitionByteCount: Int
    /// Width in pixels, of a key frame; zero for others.
    package let width: Int
    /// Height in pixels, of a key frame; zero for others.
    package let height: Int

    /// Reads the header at the start of a frame: three bytes, and seven more of a key frame.
    package init(parsing frame: RawSpan) throws(RTPError) {
        var reader = FieldReader(frame)
        let tag = try reader.uint24(.frameHeader)
        // The tag's 24 bits are little-endian: the first byte, on top here, holds its low bits.
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
        // Each side is 14 bits little-endian below two bits of scaling, which a decoder leaves to its caller.
        width = Int((try reader.uint16(.frameHeader)).byteSwapped & 0x3FFF)
        height = Int((try reader.uint16(.frameHeader)).byteSwapped & 0x3FFF)
        guard width > 0, height > 0 else { throw .invalid(.frameHeader, offset: 6) }
    }
}
