import RTCShareRTP

/// H.264's name and its headers, for recordings, without the packets.
final class H264TestFormat: VideoPayloadFormat {
    static let shared = H264TestFormat()

    let encodingName = "H264"

    func cut(_ frame: [UInt8], number: FrameNumber, limit: Int) -> FrameCut { FrameCut(frame) }

    func read(_ payload: RawSpan) throws(RTPError) -> (content: PacketContent, piece: Range<Int>) {
        throw .truncated(.nalUnit, offset: 0)
    }

    func join(_ pieces: [[UInt8]]) -> [UInt8] { pieces.flatMap { $0 } }

    func header(of frame: RawSpan) throws(RTPError) -> VideoFrameHeader {
        let header = try H264FrameHeader(parsing: frame)
        guard header.isKeyFrame, let first = header.sequenceParameters.first else {
            return VideoFrameHeader(isKeyFrame: header.isKeyFrame)
        }
        return VideoFrameHeader(isKeyFrame: true, width: first.width, height: first.height)
    }
}
