import RTCShareRTP
import Testing

@testable import RTCSharePeerConnection

@Suite struct PictureNumberingTests {
    private static func frame(
        _ number: UInt16, of stream: Int, at seconds: Int, isKeyFrame: Bool = false
    ) -> PacketizedFrame {
        PacketizedFrame(
            [1, 2, 3], format: .vp8, number: FrameNumber(number), isKeyFrame: isKeyFrame,
            captureTime: .seconds(seconds), width: 16, height: 16, stream: stream)
    }

    @Test("One stream's numbers are passed through unchanged")
    func oneStream() {
        var numbering = PictureNumbering()
        for number in [7, 8, 20] as [UInt16] {
            let frame = Self.frame(number, of: 2, at: Int(number))
            let follows = numbering.follows(frame)
            #expect(follows)
            numbering.begin(frame)
            #expect(numbering.number == frame.number)
        }
    }

    @Test("Numbers continue when another stream takes over, and back, across their wrap")
    func numbersRunOn() {
        var numbering = PictureNumbering()
        var seen: [FrameNumber] = []
        let frames = [
            Self.frame(0xFFFE, of: 0, at: 1), Self.frame(0xFFFF, of: 0, at: 2),
            Self.frame(100, of: 1, at: 3, isKeyFrame: true), Self.frame(101, of: 1, at: 4),
            Self.frame(5, of: 0, at: 5, isKeyFrame: true), Self.frame(6, of: 0, at: 6), Self.frame(9, of: 0, at: 7),
        ]
        for frame in frames {
            let follows = numbering.follows(frame)
            #expect(follows)
            numbering.begin(frame)
            seen.append(numbering.number)
        }
        #expect(seen == [0xFFFE, 0xFFFF, 0, 1, 2, 3, 6].map { FrameNumber($0) })
    }

    @Test("Another stream takes over only with a later key frame")
    func takeover() {
        var numbering = PictureNumbering()
        let frames = [
            (Self.frame(1, of: 0, at: 5), true), (Self.frame(1, of: 1, at: 6), false),
            (Self.frame(1, of: 1, at: 5, isKeyFrame: true), false),
            (Self.frame(2, of: 1, at: 6, isKeyFrame: true), true),
            (Self.frame(2, of: 0, at: 7), false), (Self.frame(3, of: 1, at: 7), true),
        ]
        for (frame, expected) in frames {
            let follows = numbering.follows(frame)
            #expect(follows == expected)
        }
    }
}
