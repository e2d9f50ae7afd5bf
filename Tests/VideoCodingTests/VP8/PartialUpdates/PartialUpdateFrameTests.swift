import RTCShareMedia
import TestSupport
import Testing

@testable import RTCShareVideoCoding
import RTCShareWireFormat

@Suite("Partial updates")
struct PartialUpdateFrameTests {
    /// Returns the largest difference between two frames' samples.
    private func largestError(_ one: [[UInt8]], _ other: [[UInt8]]) -> Int {
        zip(one, other).reduce(0) { largest, planes in
            zip(planes.0, planes.1).reduce(largest) { max($0, abs(Int($1.0) - Int($1.1))) }
        }
    }

    @Test(
        "libvpx's reference frames equal the encoder's, whichever encoder made a frame",
        arguments: [(320, 240, 1), (64, 48, 2), (333, 201, 3), (17, 33, 4), (1280, 32, 5)])
    func exact(width: Int, height: Int, seed: UInt64) throws {
        let size = PixelSize(width: width, height: height)
        var numbers = SeededNumbers(seed)
        let encoder = try VP8Encoder(configuration: .init(size: size, bitrate: .kilobitsPerSecond(20000)))
        let decoder = try VP8Decoder()
        let standing = try StandingPicture(size: size)
        var picture = ChangingPicture(size: size, seed: seed)
        var changed = MacroblockMap(size: size)
        var partialUpdates = 0
        for index in 0..<120 {
            let asKeyFrame = index % 50 == 49
            if index % 40 == 39 { picture = ChangingPicture(size: size, seed: seed + UInt64(index)) }
            if index % 10 != 9 { picture.change(&numbers) }
            try standing.update(from: picture.i420, parts: nil, changed: &changed)
            let outcome = try encoder.encode(
                standing, timestamp: .seconds(index) / 30, asKeyFrame: asKeyFrame, changed: changed)
            guard case .encoded(let frame) = outcome else { continue }
            changed.removeAll()
            if !frame.isKeyFrame, frame.quantizer == 8 { partialUpdates += 1 }
            let seen = try #require(try decoder.decode(frame.data))
            #expect(seen.pixels == (try encoder.lastFrame()), "frame \(index)")
            if let scroll = Scroll.random(size: size, using: &numbers), index % 7 == 6,
                let moved = try encoder.encodeScroll(scroll, timestamp: .seconds(index) / 30 + .milliseconds(1))
            {
                let seen = try #require(try decoder.decode(moved.data))
                #expect(seen.pixels == (try encoder.lastFrame()), "scroll after \(index)")
                // Whatever it shows now, the picture is another.
                changed.insertAll()
            }
        }
        #expect(partialUpdates > 30, "\(partialUpdates)")
    }

    @Test(
        "After many changes at a low bitrate a static screen converges to its source everywhere",
        arguments: [1, 2, 3] as [UInt64])
    func converges(seed: UInt64) throws {
        let size = PixelSize(width: 400, height: 320)
        var numbers = SeededNumbers(seed)
        let pages = (0..<3).map { TextPicture(size: size, seed: seed * 10 + $0) }
        var (page, row) = (0, 0)
        let shown = (0..<240).map { index -> PixelBuffer in
            if index < 150, !index.isMultiple(of: 4) { row += Int.random(in: 0...40, using: &numbers) }
            if index < 150, index % 37 == 36 { page = (page + 1) % 3 }
            return pages[page].scrolled(by: row).i420
        }
        var share = try EncodedShare(.text, bitsPerSecond: 150_000, size: size, looks: true) { shown[min($0, 239)] }
        try share.run(to: 6, bitsPerSecond: 150_000)
        try share.run(to: 16, bitsPerSecond: 1_000_000)
        let seen = try #require(share.seen as? PixelBuffer)
        #expect(largestError(seen.pixels, shown[239].pixels) < 40)
    }

    @Test("A typed letter is encoded finely in one small frame that changes nothing else")
    func letter() throws {
        let size = PixelSize(width: 640, height: 360)
        var text = TextPicture(size: size, seed: 7)
        let encoder = try VP8Encoder(configuration: .init(size: size, bitrate: .kilobitsPerSecond(5000)))
        let decoder = try VP8Decoder()
        let standing = try StandingPicture(size: size)
        var changed = MacroblockMap(size: size)
        var seen: PixelBuffer?
        for index in 0..<60 {
            try standing.update(from: text.i420, parts: nil, changed: &changed)
            guard
                case .encoded(let frame) = try encoder.encode(
                    standing, timestamp: .seconds(index) / 30, changed: changed)
            else { continue }
            changed.removeAll()
            seen = try decoder.decode(frame.data)
        }
        let before = try #require(seen).pixels
        for step in 0..<20 {
            for row in 0..<12 { text.draw(row.isMultiple(of: 2) ? .max : 0, x: 100 + step * 8, y: 100 + row) }
            try standing.update(from: text.i420, parts: nil, changed: &changed)
            #expect((1...4).contains(changed.count))
            guard
                case .encoded(let frame) = try encoder.encode(standing, timestamp: .seconds(3 + step), changed: changed)
            else {
                Issue.record("dropped")
                return
            }
            changed.removeAll()
            #expect(frame.data.count < 700, "\(frame.data.count)")
            #expect(frame.coarsest <= Coarseness.fine)
            seen = try decoder.decode(frame.data)
        }
        let after = try #require(seen)
        #expect(largestError(after.pixels, text.i420.pixels) < 24)
        // Far from the letters all is as it was.
        let rows = 200 * size.width
        #expect(after.pixels[0].suffix(from: rows) == before[0].suffix(from: rows))
        #expect(try StructuralSimilarity.luma(after, text.i420) > 0.99)
    }

    @Test("Unchanged content becomes as fine as possible, but not between the changes of a film of few frames")
    func rest() throws {
        let size = PixelSize(width: 640, height: 360)
        var text = TextPicture(size: size, seed: 7)
        let film = (0..<40).map { index in
            if index < 20 { text.draw(.max, x: 100 + index * 8, y: 100) }
            return text.i420
        }
        // Twenty frames of ten a second, and then the last of them.
        var share = try EncodedShare(.text, bitsPerSecond: 2_500_000, size: size, looks: true) { film[min($0 / 3, 39)] }
        try share.run(to: 2, bitsPerSecond: 2_500_000)
        #expect(!share.frames.contains { $0.quantizer == 0 })
        try share.run(to: 4, bitsPerSecond: 2_500_000)
        #expect(share.frames.contains { $0.quantizer == 0 })
        let seen = try #require(share.seen as? PixelBuffer)
        #expect(try StructuralSimilarity.peakSignalToNoiseRatio(seen, text.i420) > 52)
        let last = try #require(share.frames.last)
        #expect(last.byteCount < 100)
    }
}
