import RTCShareMedia
import RTCShareRTP
import TestSupport
import Testing

@testable import RTCShareVideoCoding

@Suite("Repetitions in H.264", .enabled(if: CodecLibraries.hasH264, "libopenh264-7 is not installed"))
struct H264RepetitionsTests {
    @Test(
        "Repetitions and the library's frames between them show in two decoders what the library coded",
        arguments: [(320, 240), (53, 47), (16, 16)])
    func decoding(width: Int, height: Int) throws {
        let size = PixelSize(width: width, height: height)
        var numbers = SeededNumbers(UInt64(width))
        let coder = try H264Coder(.init(size: size))
        let (decoder, plain) = (try H264Decoder(), try H264Decoder())
        let judge = CodecLibraries.hasFFmpeg ? try FFmpegDecoder("h264") : nil
        var repetitions = H264Repetitions()
        var picture = ChangingPicture(size: size, seed: 5)
        for index in 0..<70 {
            let frame = try #require(try coder.encode(picture.i420, quantizer: 34, asKeyFrame: index == 50))
            let expected = try #require(try plain.decode(frame.data))
            var shown = [try repetitions.following(frame)]
            for _ in 0..<[0, 2, 0, 1, 0, 0, 50][index % 7] {
                let next = repetitions.next()
                shown.append(try #require(next))
            }
            for (number, data) in shown.enumerated() {
                #expect(number == 0 || data.count < 24)
                let seen = try #require(try decoder.decode(data), "frame \(index), repetition \(number)")
                #expect(samples(seen) == samples(expected), "frame \(index), repetition \(number)")
                guard let judge else { continue }
                #expect(try judge.decode(data, shows: expected), "frame \(index), repetition \(number)")
            }
            if index % 5 == 0 { picture.change(&numbers) }
        }
    }

    @Test("A frame of the library comes after many repetitions in a row, and before the first frame")
    func longestRow() throws {
        let picture = TextPicture(size: PixelSize(width: 64, height: 64)).i420
        let coder = try H264Coder(.init(size: picture.size))
        var repetitions = H264Repetitions()
        let first = repetitions.next()
        #expect(first == nil)
        for _ in 0..<2 {
            _ = try repetitions.following(#require(try coder.encode(picture, quantizer: 30)))
            let row = (0...H264Repetitions.longestRow).map { _ in repetitions.next() }
            #expect(row.dropLast().allSatisfy { $0 != nil } && row.last == .some(nil))
        }
    }

    @Test("A frame with other parameter sets or slices is not repeated, and fails only after repetitions")
    func others() throws {
        let picture = TextPicture(size: PixelSize(width: 64, height: 64)).i420
        let coder = try H264Coder(.init(size: picture.size))
        let key = try #require(try coder.encode(picture, quantizer: 30))
        let delta = try #require(try coder.encode(picture, quantizer: 30))
        let units = try AnnexB.units(of: key.data.span.bytes)
        for (unit, offset) in [(0, 4), (0, 5), (1, 1)] {
            var data = key.data
            data[units[unit].bytes.lowerBound + offset] ^= 0x40
            var repetitions = H264Repetitions()
            let key = try repetitions.following(
                .init(data: data, isKeyFrame: true, quantizer: 30, size: picture.size))
            let next = repetitions.next()
            #expect(key == data && next == nil)
        }
        var repetitions = H264Repetitions()
        _ = try repetitions.following(key)
        _ = repetitions.next()
        let twice = H264Coder.Frame(data: delta.data + delta.data, isKeyFrame: false, quantizer: 30, size: picture.size)
        #expect(throws: VideoCodingError.self) { try repetitions.following(twice) }
        let next = repetitions.next()
        #expect(next == nil)
        repetitions = H264Repetitions()
        _ = try repetitions.following(key)
        let following = try repetitions.following(twice)
        #expect(following == twice.data)
    }

    @Test("At rest, once everything is fine, OpenH264 is not called")
    func rest() throws {
        let page = TextPicture(size: PixelSize(width: 320, height: 240), seed: 3).i420
        var share = try EncodedShare(
            .text, codec: .h264, bitsPerSecond: 2_000_000, size: page.size, looks: true
        ) { _ in page }
        share.isStill = true
        try share.run(to: 8, bitsPerSecond: 2_000_000)
        let rest = share.seconds.suffix(2)
        #expect(rest.allSatisfy { $0.frames > 0 && $0.largest < 24 }, "\(share.seconds)")
        #expect(share.frames.last?.similarity ?? 0 > 0.99)
        let encoder = try #require(share.encoder as? ScreenEncoder<H264FrameCoder>)
        #expect(samples(try #require(share.seen)) == samples(encoder.shown))
    }
}
