import RTCShareMedia
import TestSupport
import Testing

@testable import RTCShareVideoCoding
import RTCShareWireFormat

@Suite("FrameHeader")
struct FrameHeaderTests {
    @Test("A frame's header states which other reference frames the frame replaces")
    func updates() throws {
        let size = PixelSize(width: 320, height: 240)
        let encoder = try VP8Encoder(configuration: .init(size: size, bitrate: .kilobitsPerSecond(500)))
        var text = TextPicture(size: size)
        let pictures = (0..<90).map { index in
            text.draw(0x5A_1234_55AA, x: index * 8 % 320, y: index / 40 * 16 + 100)
            return text.i420
        }
        let frames = try encoder.encode(pictures).compactMap { $0 }
        let updates = try frames.map { try #require(FrameHeader(frame: $0.data)).updates }
        #expect(updates[0] == .all && frames[0].isKeyFrame)
        // libvpx keeps a golden picture for some frames.
        #expect(updates.dropFirst().contains { $0.golden } && updates.contains { !$0.golden })
    }

    @Test("A truncated header is not parsed")
    func truncation() {
        let frame = ScrollFrame.data(
            Scroll(size: PixelSize(width: 16, height: 16), rows: 1, moved: [0]), quantizer: 20,
            updates: ReferenceUpdates(golden: true, alternate: false))
        #expect(FrameHeader(frame: frame)?.updates == ReferenceUpdates(golden: true, alternate: false))
        for count in 0..<5 { #expect(FrameHeader(frame: Array(frame[..<count])) == nil) }
    }
}
