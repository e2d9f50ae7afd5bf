/// The RTP payload format of VP8 (RFC 7741).
///
/// Frames are sent with a 15-bit PictureID, and in the base layer with its TL0PICIDX, since a stream has one temporal
/// layer.
package final class VP8PayloadFormat: VideoPayloadFormat {
    fileprivate static let shared = VP8PayloadFormat()

    private init() {}

    package func cut(_ frame: [UInt8], number: FrameNumber, limit: Int) -> FrameCut {
        // The encoder makes one partition and pieces are not aligned to partitions, so that PID stays 0.
        var first = PayloadPrefix([0x90, 0xE0, 0, 0, 0, 0])
        setNumber(number, in: &first)
        var others = first
        others[0] = 0x80
        var cut = FrameCut(frame)
        cut.append(frame.indices, room: limit - first.byteCount) { index, _ in index == 0 ? first : others }
        return cut
    }

    package func setNumber(_ number: FrameNumber, in prefix: inout PayloadPrefix) {
        prefix[2] = 0x80 | UInt8(truncatingIfNeeded: number.rawValue >> 8)
        prefix[3] = UInt8(truncatingIfNeeded: number.rawValue)
        prefix[4] = prefix[3]
    }
}

extension VideoPayloadFormat where Self == VP8PayloadFormat {
    /// The RTP payload format of VP8 (RFC 7741).
    package static var vp8: VP8PayloadFormat { .shared }
}
