import RTCShareMedia
import RTCShareRTP
import RTCShareVideoCoding
import RTCShareWireFormat
import Testing

@testable import RTCShareStreams

/// The capture times of an encoding's frames, by which peers that are moved to it order them.
@Suite struct EncodingTests {
    private func frame(at milliseconds: Int, isKeyFrame: Bool = false) -> EncodedVideoFrame {
        EncodedVideoFrame(
            data: [0], format: .vp8, isKeyFrame: isKeyFrame, size: PixelSize(width: 16, height: 16),
            timestamp: .milliseconds(milliseconds))
    }

    @Test("A key frame is later than the frames of the encoding before, and its own followers are later still")
    func takeover() throws {
        var encoding = Encoding(
            try VideoEncoder(.vp8, settings: .init(bitrate: .kilobitsPerSecond(1000))) { _, _ in })
        func captureTime(_ frame: EncodedVideoFrame, after newest: Int?) -> Duration {
            encoding.packets(of: frame, index: 1, after: newest.map { .milliseconds($0) }).captureTime
        }
        #expect(captureTime(frame(at: 100, isKeyFrame: true), after: nil) == .milliseconds(100))
        #expect(captureTime(frame(at: 133), after: nil) == .milliseconds(133))
        // The encoding before has sent the frame of the same capture, and four after it.
        #expect(captureTime(frame(at: 166, isKeyFrame: true), after: 300) == .milliseconds(301))
        #expect(captureTime(frame(at: 200), after: nil) == .milliseconds(302))
        #expect(captureTime(frame(at: 333), after: nil) == .milliseconds(333))
    }
}
