import RTCShareRTP
import Testing

@testable import RTCSharePeerConnection

@Suite struct PictureNumberingTests {
    private static func frame(
        _ number: UInt16, layer: UInt8?, of stream: Int, at seconds: Int, isKeyFrame: Bool = false
    ) -> PacketizedFrame {
        PacketizedFrame(
            vp8: [1, 2, 3],
            descriptor: VP8PayloadDescriptor(
                startsPartition: true, pictureID: .long(number), temporalLevelZeroIndex: layer),
            isKeyFrame: isKeyFrame, captureTime: .seconds(seconds), width: 16, height: 16, stream: stream,
            maximumPayloadByteCount: 1000)
    }

    @Test("One stream's numbers are passed through unchanged")
    func oneStream() {
        var numbering = PictureNumbering()
        for number in [7, 8, 20] as [UInt16] {
            let frame = Self.frame(number, layer: 3, of: 2, at: Int(number))
            let follows = numbering.follows(frame)
            #expect(follows)
            numbering.begin(frame)
            #expect(numbering.offset == .none)
        }
    }

    @Test("Numbers continue when another stream takes over, and back, across their wrap")
    func numbersRunOn() {
        var numbering = PictureNumbering()
        var seen: [VP8PayloadDescriptor] = []
        let frames = [
            Self.frame(0x7FFE, layer: 254, of: 0, at: 1), Self.frame(0x7FFF, layer: 255, of: 0, at: 2),
            Self.frame(100, layer: 9, of: 1, at: 3, isKeyFrame: true), Self.frame(101, layer: 10, of: 1, at: 4),
            Self.frame(5, layer: 1, of: 0, at: 5, isKeyFrame: true), Self.frame(6, layer: 2, of: 0, at: 6),
        ]
        for frame in frames {
            let follows = numbering.follows(frame)
            #expect(follows)
            numbering.begin(frame)
            var descriptor = frame.descriptor
            descriptor.add(numbering.offset)
            seen.append(descriptor)
        }
        #expect(seen.map(\.pictureID) == [0x7FFE, 0x7FFF, 0, 1, 2, 3].map { .long($0) })
        #expect(seen.map(\.temporalLevelZeroIndex) == [254, 255, 0, 1, 2, 3])
    }

    @Test("Another stream takes over only with a key frame of a later picture ID")
    func takeover() {
        var numbering = PictureNumbering()
        let frames = [
            (Self.frame(1, layer: nil, of: 0, at: 5), true), (Self.frame(1, layer: nil, of: 1, at: 6), false),
            (Self.frame(1, layer: nil, of: 1, at: 5, isKeyFrame: true), false),
            (Self.frame(2, layer: nil, of: 1, at: 6, isKeyFrame: true), true),
            (Self.frame(2, layer: nil, of: 0, at: 7), false), (Self.frame(3, layer: nil, of: 1, at: 7), true),
        ]
        for (frame, expected) in frames {
            let follows = numbering.follows(frame)
            #expect(follows == expected)
        }
    }
}
