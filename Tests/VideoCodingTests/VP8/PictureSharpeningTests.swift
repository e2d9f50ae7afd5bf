import RTCShareMedia
import TestSupport
import Testing

@testable import RTCShareVideoCoding

/// The frames that a viewer sees of dense text whose key frame would take seconds.
@Suite("PictureSharpening")
struct PictureSharpeningTests {
    private static let size = PixelSize(width: 1280, height: 720)
    private static let text = TextPicture(size: size, seed: 7)

    private func still(bitsPerSecond: Int, telling: Bool = true) throws -> EncodedShare {
        let picture = Self.text.i420
        var share = try EncodedShare(.text, bitsPerSecond: bitsPerSecond, size: Self.size, looks: true) { _ in picture }
        share.isStill = telling
        return share
    }

    @Test(
        "The first frame is encoded within half a second and is sharp when its bits have been sent",
        arguments: [(150_000, 13, true), (300_000, 7, true), (300_000, 7, false), (1_500_000, 2, true)])
    func still(bitsPerSecond: Int, seconds: Int, tellsStillness: Bool) throws {
        var share = try still(bitsPerSecond: bitsPerSecond, telling: tellsStillness)
        try share.run(to: seconds, bitsPerSecond: bitsPerSecond)
        let first = try #require(share.frames.first)
        #expect(first.isKeyFrame && first.arrival <= .milliseconds(500), "\(first)")
        #expect(share.frames.dropFirst().allSatisfy { !$0.isKeyFrame })
        for (one, next) in zip(share.frames, share.frames.dropFirst()) {
            #expect(next.similarity > one.similarity - 0.002, "\(next)")
        }
        let sharp = try #require(share.sharpFrom(0.98))
        #expect(sharp <= .seconds(seconds), "\(sharp)")
        #expect(share.mostBits(from: .zero, to: .seconds(seconds), in: .seconds(1), of: bitsPerSecond) < 1.2)
    }

    @Test(
        "A frame begun at 300 kbit/s is sharp within 1.5 s when the bitrate rises",
        arguments: [(250, 500), (400, 1000)])
    func rising(milliseconds: (first: Int, second: Int)) throws {
        var share = try still(bitsPerSecond: 300_000)
        try share.run(to: 3) { time in
            if time < .milliseconds(milliseconds.first) { return 300_000 }
            return time < .milliseconds(milliseconds.second) ? 900_000 : 2_500_000
        }
        let sharp = try #require(share.sharpFrom(0.98))
        #expect(sharp <= .milliseconds(1500), "\(sharp)")
    }

    @Test("Nothing is blurred when the bitrate suffices", arguments: [2_500_000])
    func wide(bitsPerSecond: Int) throws {
        var share = try still(bitsPerSecond: bitsPerSecond)
        try share.run(to: 2, bitsPerSecond: bitsPerSecond)
        #expect(share.frames[0].similarity > 0.95)
        let sharp = try #require(share.sharpFrom(0.98))
        #expect(sharp <= .seconds(1), "\(sharp)")
    }

    @Test(
        "A new page after a rest is shown within half a second, and unchanged parts are not blurred",
        arguments: [300_000, 700_000])
    func newPage(bitsPerSecond: Int) throws {
        // The upper part stays.
        let kept = 160 * Self.size.width
        let new = TextPicture(size: Self.size, seed: 8)
        let second = TextPicture(size: Self.size, luma: Array(Self.text.luma[..<kept] + new.luma[kept...]))
        let pictures = [Self.text.i420, second.i420]
        var share = try EncodedShare(.text, bitsPerSecond: bitsPerSecond, size: Self.size, looks: true) {
            pictures[$0 < 450 ? 0 : 1]
        }
        (share.isStill, share.changesAt) = (true, 450)
        try share.run(to: 24, bitsPerSecond: bitsPerSecond)
        let before = try #require(share.frames.last { $0.time < .seconds(15) })
        let first = try #require(share.frames.first { $0.time >= .seconds(15) })
        #expect(before.similarity > 0.98 && !first.isKeyFrame)
        #expect(first.arrival <= .seconds(15.5), "\(first)")
        // A quarter of the picture is as sharp as it was; without it there would be much less.
        #expect(first.similarity > 0.4, "\(first)")
        let sharp = try #require(share.frames.first { $0.time >= .seconds(15) && $0.similarity > 0.98 })
        #expect(sharp.arrival < .seconds(23), "\(sharp)")
    }

    @Test("Changes during sharpening are shown, and sharpening completes")
    func changes() throws {
        let pictures = (0..<60).map { index in
            var picture = Self.text
            for row in 0..<3 { picture.draw(.max, x: 40 + index * 4, y: 400 + row * 12) }
            return picture.i420
        }
        var share = try EncodedShare(.text, bitsPerSecond: 300_000, size: Self.size, looks: true) {
            pictures[min($0, 59)]
        }
        try share.run(to: 8, bitsPerSecond: 300_000)
        let sharp = try #require(share.sharpFrom(0.98))
        #expect(sharp < .seconds(8), "\(sharp)")
        #expect(share.frames.filter { $0.time < .seconds(2) }.count > 10)
    }

    @Test("A frame that replaces another during sharpening becomes sharp")
    func replaced() throws {
        let pictures = [Self.text.i420, TextPicture(size: Self.size, seed: 8).i420]
        var share = try EncodedShare(.text, bitsPerSecond: 300_000, size: Self.size, looks: true) {
            pictures[$0 < 45 ? 0 : 1]
        }
        (share.isStill, share.changesAt) = (true, 45)
        try share.run(to: 10, bitsPerSecond: 300_000)
        #expect(share.frames.filter(\.isKeyFrame).count == 1)
        #expect(try share.similarity() > 0.98)
    }

    @Test("Frequent key frames leave bits for sharpening between them")
    func keyFrameRequests() throws {
        var share = try still(bitsPerSecond: 300_000)
        // Who keeps asking is given one in three seconds.
        share.wantsKeyFrame = { $0 < 15 * 30 && $0.isMultiple(of: 90) }
        try share.run(to: 24, bitsPerSecond: 300_000)
        let keyFrames = share.frames.filter(\.isKeyFrame)
        #expect(keyFrames.count == 5)
        let bits = keyFrames.filter { $0.time < .seconds(15) }.reduce(0) { $0 + $1.byteCount * 8 }
        #expect(bits < 15 * 300_000 / 5, "\(bits)")
        #expect(share.mostBits(from: .zero, to: .seconds(15), in: .seconds(1), of: 300_000) < 1.3)
        #expect(try share.similarity() > 0.98)
    }

    @Test(
        "Each macroblock is coded once per pass, whatever the frame's size", arguments: [(64, 64), (70, 50), (17, 1)])
    func passes(width: Int, height: Int) throws {
        let size = PixelSize(width: width, height: height)
        let picture = TextPicture(size: size).i420
        let grey = PixelBuffer(size: size, format: .i420) { planes, _ in
            for plane in planes { plane.initializeMemory(as: UInt8.self, repeating: 128) }
        }
        var sharpening = try PictureSharpening(of: picture, blurred: grey)
        let count = (width + 15) / 16 * ((height + 15) / 16)
        var coded: [Int: Int] = [:]
        while let part = try sharpening.next(picture, bitsPerSecond: 3000) {
            #expect(part.map.cells.count == count)
            coded[part.quantizer, default: 0] += part.map.count
            sharpening.record(byteCount: 40)
        }
        #expect(coded == Dictionary(uniqueKeysWithValues: PictureSharpening.passes.map { ($0, count) }))
        // Nothing is left to do, and a picture of another size is no part of this.
        let other = TextPicture(size: PixelSize(width: width + 16, height: height)).i420
        #expect(try sharpening.next(other, bitsPerSecond: 3000) == nil)
    }
}
