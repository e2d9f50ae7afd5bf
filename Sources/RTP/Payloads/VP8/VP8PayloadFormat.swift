/// The RTP payload format of VP8 (RFC 7741).
///
/// Frames are sent with a 15-bit PictureID, and in the base layer with its TL0PICIDX, since a stream has one temporal
/// layer.
package final class VP8PayloadFormat: VideoPayloadFormat {
    fileprivate static let shared = VP8PayloadFormat()

    package let encodingName = "VP8"

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

    package func read(_ payload: RawSpan) throws(RTPError) -> (content: PacketContent, piece: Range<Int>) {
        let (descriptor, count) = try VP8PayloadDescriptor.parse(payload)
        let piece = count..<payload.byteCount
        // RFC 6386 §9.1: the lowest bit of the first byte is zero in a key frame.
        var frame = FieldReader(payload.extracting(piece))
        let first = try? frame.uint8(.frameHeader)
        let content = PacketContent(
            format: self, startsFrame: descriptor.startsFrame,
            startsKeyFrame: descriptor.startsFrame && first.map { $0 & 1 == 0 } ?? false,
            pictureID: descriptor.pictureID, temporalLevelZeroIndex: descriptor.temporalLevelZeroIndex,
            temporalLayer: descriptor.temporalLayer, isNonReference: descriptor.isNonReference)
        return (content, piece)
    }

    package func join(_ pieces: [[UInt8]]) -> [UInt8] {
        guard pieces.count > 1 else { return pieces.first ?? [] }
        var frame: [UInt8] = []
        frame.reserveCapacity(pieces.reduce(0) { $0 + $1.count })
        for piece in pieces { frame += piece }
        return frame
    }

    package func header(of frame: RawSpan) throws(RTPError) -> VideoFrameHeader {
        let header = try VP8FrameHeader(parsing: frame)
        return VideoFrameHeader(isKeyFrame: header.isKeyFrame, width: header.width, height: header.height)
    }

    package func explain(_ payload: RawSpan) throws(RTPError) -> String {
        let (descriptor, count) = try VP8PayloadDescriptor.parse(payload)
        var parts = ["S=\(descriptor.startsPartition ? 1 : 0) PID=\(descriptor.partitionIndex)"]
        if descriptor.isNonReference { parts.append("N=1") }
        if let id = descriptor.pictureID { parts.append("picture=\(id.value)") }
        if let index = descriptor.temporalLevelZeroIndex { parts.append("TL0PICIDX=\(index)") }
        if let layer = descriptor.temporalLayer {
            parts.append("TID=\(layer.index) Y=\(layer.dependsOnBaseOnly ? 1 : 0)")
        }
        if let index = descriptor.keyFrameIndex { parts.append("KEYIDX=\(index)") }
        if descriptor.startsFrame {
            let frame = try VP8FrameHeader(parsing: payload.extracting(count..<payload.byteCount))
            parts.append(frame.isKeyFrame ? "key frame \(frame.width)x\(frame.height)" : "frame")
        }
        return parts.joined(separator: " ")
    }
}

extension VideoPayloadFormat where Self == VP8PayloadFormat {
    /// The RTP payload format of VP8 (RFC 7741).
    package static var vp8: VP8PayloadFormat { .shared }
}
