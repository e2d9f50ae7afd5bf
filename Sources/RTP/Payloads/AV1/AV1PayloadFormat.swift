/// A stand-in until the payload format is there.
package final class AV1PayloadFormat: VideoPayloadFormat {
    fileprivate static let shared = AV1PayloadFormat()

    package let encodingName = "AV1"

    private init() {}

    package func cut(_ frame: [UInt8], number: FrameNumber, limit: Int) -> FrameCut {
        var cut = FrameCut(frame)
        cut.append(frame.indices, room: limit - 1) { _, _ in PayloadPrefix([0]) }
        return cut
    }

    package func read(_ payload: RawSpan) throws(RTPError) -> (content: PacketContent, piece: Range<Int>) {
        throw .truncated(.openBitstreamUnit, offset: 0)
    }

    package func join(_ pieces: [[UInt8]]) -> [UInt8] { pieces.flatMap { $0 } }

    package func header(of frame: RawSpan) throws(RTPError) -> VideoFrameHeader {
        let header = try AV1FrameHeader(parsing: frame)
        return VideoFrameHeader(isKeyFrame: header.isKeyFrame, width: header.width, height: header.height)
    }
}

extension VideoPayloadFormat where Self == AV1PayloadFormat {
    package static var av1: AV1PayloadFormat { .shared }
}
