import RTCShareMedia
import Testing

@testable import RTCShareRecording

struct PictureLineTests {
    @Test("A video begins with a key frame, also after a restart")
    func keyFrameFirst() {
        var line = PictureLine()
        _ = line.add(.vp8(Samples.interFrame(tag: 1)), as: .vp8, at: .zero)
        _ = line.add(.vp8(Samples.keyFrame(tag: 2)), as: .vp8, at: .milliseconds(33))
        _ = line.add(.vp8(Samples.interFrame(tag: 3)), as: .vp8, at: .milliseconds(66))
        line.restart()
        _ = line.add(.vp8(Samples.interFrame(tag: 4)), as: .vp8, at: .milliseconds(100))
        _ = line.add(
            .vp8(Samples.keyFrame(PixelSize(width: 320, height: 180), tag: 5)), as: .vp8, at: .milliseconds(133))
        let frames = line.take(until: nil)
        #expect(
            frames.map(\.data) == [
                Samples.keyFrame(tag: 2), Samples.interFrame(tag: 3),
                Samples.keyFrame(PixelSize(width: 320, height: 180), tag: 5),
            ])
        #expect(
            frames.map(\.video?.size) == [PixelSize(width: 640, height: 360), nil, PixelSize(width: 320, height: 180)])
    }

    @Test("Frames whose times do not increase follow each other, because none can be dropped")
    func order() {
        var line = PictureLine()
        _ = line.add(.vp8(Samples.keyFrame()), as: .vp8, at: .milliseconds(50))
        for time in [50, 20, 51, 100] { _ = line.add(.vp8(Samples.interFrame()), as: .vp8, at: .milliseconds(time)) }
        #expect(line.take(until: nil).map(\.time) == [50, 51, 52, 53, 100].map { .milliseconds($0) })
    }

    @Test("Several frames in a millisecond are dropped up to a later key frame")
    func flood() {
        var line = PictureLine()
        _ = line.add(.vp8(Samples.keyFrame()), as: .vp8, at: .zero)
        for _ in 0..<10_000 { _ = line.add(.vp8(Samples.interFrame()), as: .vp8, at: .zero) }
        _ = line.add(.vp8(Samples.keyFrame()), as: .vp8, at: .zero)
        #expect(line.take(until: nil).last?.time == PictureLine.longestLead)
        _ = line.add(.vp8(Samples.interFrame()), as: .vp8, at: .seconds(2))
        _ = line.add(.vp8(Samples.keyFrame()), as: .vp8, at: .seconds(3))
        #expect(line.take(until: nil).map(\.time) == [.seconds(3)])
    }

    @Test("A frame that is due later waits")
    func horizon() {
        var line = PictureLine()
        _ = line.add(.vp8(Samples.keyFrame()), as: .vp8, at: .zero)
        for number in 1...4 { _ = line.add(.vp8(Samples.interFrame()), as: .vp8, at: .milliseconds(33 * number)) }
        #expect(line.take(until: .milliseconds(66)).count == 3)
        #expect(line.take(until: .milliseconds(66)).isEmpty)
        #expect(line.take(until: nil).count == 2)
    }

    @Test("A key frame is requested after ten seconds and 300 frames without one, and again if none arrives")
    func pacing() {
        var line = PictureLine()
        let interval = Duration.milliseconds(20)
        _ = line.add(.vp8(Samples.keyFrame()), as: .vp8, at: .zero)
        var asked = (1...1500).filter { line.add(.vp8(Samples.interFrame()), as: .vp8, at: interval * $0) }
        #expect(asked == [500, 1000, 1500])
        _ = line.add(.vp8(Samples.keyFrame()), as: .vp8, at: interval * 1501)
        asked = (1502...2100).filter { line.add(.vp8(Samples.interFrame()), as: .vp8, at: interval * $0) }
        #expect(asked == [2001])
    }

    @Test("A key frame is requested every five minutes for a screen at rest with one frame per second")
    func rest() {
        var line = PictureLine()
        _ = line.add(.vp8(Samples.keyFrame()), as: .vp8, at: .zero)
        let asked = (1...600).first { line.add(.vp8(Samples.interFrame()), as: .vp8, at: .seconds($0)) }
        #expect(asked == 300)
    }

    @Test(
        "Data that is not a frame of its codec is dropped",
        arguments: [[], [0x10], [0x10, 0, 0, 1, 2, 3, 4, 5, 6, 7]] as [[UInt8]])
    func malformed(frame: [UInt8]) {
        var line = PictureLine()
        _ = line.add(.vp8(frame), as: .vp8, at: .zero)
        #expect(line.take(until: nil).isEmpty)
    }
}
