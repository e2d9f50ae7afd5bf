package import RTCShareRTP

/// The payload format of a codec that does not exist.
///
/// A frame begins with `K` if it is a key frame of 32 by 16 pixels, and otherwise with another byte. Packets have its
/// bytes in reverse order, behind a byte whose lowest bits mark the start of a frame and of a key frame.
package final class TestPayloadFormat: VideoPayloadFormat {
    package static let shared = TestPayloadFormat()
    /// The first byte of a key frame.
    package static let key = UInt8(ascii: "K")

    package let encodingName = "TEST"

    private init() {}

    package func cut(_ frame: [UInt8], number: FrameNumber, limit: Int) -> FrameCut {
        let flags: UInt8 = frame.first == Self.key ? 3 : 1
        var cut = FrameCut(frame.reversed())
        cut.append(frame.indices, room: limit - 1) { index, _ in PayloadPrefix([index == 0 ? flags : 0]) }
        return cut
    }

    package func read(_ payload: RawSpan) throws(RTPError) -> (content: PacketContent, piece: Range<Int>) {
        guard payload.byteCount > 0 else { throw .truncated(.header, offset: 0) }
        let flags = payload.unsafeLoad(as: UInt8.self)
        return (
            PacketContent(format: self, startsFrame: flags & 1 != 0, startsKeyFrame: flags & 3 == 3),
            1..<payload.byteCount
        )
    }

    package func join(_ pieces: [[UInt8]]) -> [UInt8] { pieces.flatMap { $0 }.reversed() }

    package func header(of frame: RawSpan) throws(RTPError) -> VideoFrameHeader {
        guard frame.byteCount > 0 else { throw .truncated(.header, offset: 0) }
        let isKeyFrame = frame.unsafeLoad(as: UInt8.self) == Self.key
        return VideoFrameHeader(isKeyFrame: isKeyFrame, width: isKeyFrame ? 32 : 0, height: isKeyFrame ? 16 : 0)
    }
}
