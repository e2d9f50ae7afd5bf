import RTCShareMedia
import Testing

@testable import RTCShareVideoCoding

@Suite("StandingPicture")
struct StandingPictureTests {
    /// Noise in one of the formats, of the picture's bytes, from a seed.
    private func noise(_ size: PixelSize, _ format: PixelFormat, seed: UInt64) -> PixelBuffer {
        var state = seed &* 2 &+ 1
        return PixelBuffer(size: size, format: format) { planes, _ in
            for plane in planes {
                for index in plane.indices {
                    state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
                    plane[index] = UInt8(truncatingIfNeeded: state >> 33)
                }
            }
        }
    }

    /// `picture` with some of its pixels from `other`.
    private func mixed(_ picture: PixelBuffer, _ other: PixelBuffer, in part: PixelRectangle) -> PixelBuffer {
        PixelBuffer(size: picture.size, format: picture.format) { planes, strides in
            picture.withPlanes { one in
                other.withPlanes { two in
                    for plane in planes.indices {
                        planes[plane].copyMemory(from: one.planes[plane])
                        let chroma = picture.format != .bgra && picture.format != .argb && plane > 0
                        let divisor = chroma ? 2 : 1
                        let pixel =
                            picture.format == .nv12 && chroma
                            ? 2 : chroma || plane == 0 && picture.format != .bgra && picture.format != .argb ? 1 : 4
                        for row in part.y / divisor..<(part.y + part.size.height) / divisor {
                            let start = row * strides[plane] + part.x / divisor * pixel
                            for index in start..<start + part.size.width / divisor * pixel {
                                planes[plane][index] = two.planes[plane][index]
                            }
                        }
                    }
                }
            }
        }
    }

    @Test(
        "Updating parts gives the whole frame's I420, and only changed macroblocks are reported",
        arguments: [PixelFormat.bgra, .argb, .nv12, .i420], [(64, 48), (70, 50), (33, 17), (2, 2)])
    func parts(format: PixelFormat, size: (width: Int, height: Int)) throws {
        let size = PixelSize(width: size.width, height: size.height)
        let standing = try StandingPicture(size: size)
        let (before, after) = (noise(size, format, seed: 1), noise(size, format, seed: 2))
        var changed = MacroblockMap(size: size)
        // The first picture is all new, whatever is said.
        try standing.update(from: before, parts: [], changed: &changed)
        #expect(changed.count == changed.cells.count)
        #expect(try samples(standing) == samples(VideoConverter().convert(before, to: size)))
        changed.removeAll()
        try standing.update(from: before, parts: nil, changed: &changed)
        #expect(changed.isEmpty)
        // A macroblock in the middle changed, and far more is looked at.
        let part = PixelRectangle(
            x: min(32, size.width - 2) & ~1, y: min(16, size.height - 2) & ~1, size: PixelSize(width: 2, height: 2))
        let next = mixed(before, after, in: part)
        let expected = part.y / 16 * changed.columns + part.x / 16
        try standing.update(
            from: next, parts: [PixelRectangle(x: -5, y: -5, size: PixelSize(width: 500, height: 500))],
            changed: &changed)
        #expect(changed.cells.indices.filter { changed.cells[$0] == 1 } == [expected])
        #expect(try samples(standing) == samples(VideoConverter().convert(next, to: size)))
        // What lies outside of what is said to have changed is not looked at.
        changed.removeAll()
        try standing.update(from: before, parts: [], changed: &changed)
        #expect(changed.isEmpty)
        #expect(try samples(standing) == samples(VideoConverter().convert(next, to: size)))
        try standing.update(from: before, parts: [part], changed: &changed)
        #expect(changed.count == 1)
        #expect(try samples(standing) == samples(VideoConverter().convert(before, to: size)))
    }

    @Test("A frame of another size is rejected")
    func otherSize() throws {
        let standing = try StandingPicture(size: PixelSize(width: 32, height: 32))
        var changed = MacroblockMap(size: standing.size)
        #expect(throws: VideoCodingError.self) {
            try standing.update(
                from: noise(PixelSize(width: 34, height: 32), .bgra, seed: 1), parts: nil, changed: &changed)
        }
    }
}

@Suite("MacroblockMap")
struct MacroblockMapTests {
    @Test(
        "A rectangle covers the macroblocks of its pixels, and none outside the frame",
        arguments: [
            (0, 0, 16, 16, [0]), (15, 15, 2, 2, [0, 1, 3, 4]), (32, 16, 8, 8, [5]), (-20, -20, 21, 21, [0]),
            (-20, 0, 20, 16, []), (48, 0, 16, 16, []), (0, 32, 16, 16, []), (16, 0, Int.max, Int.max, [1, 2, 4, 5]),
            (5, 5, 0, 0, []), (Int.min, Int.min, Int.max, Int.max, []), (0, 0, -3, 5, []),
        ])
    func rectangles(x: Int, y: Int, width: Int, height: Int, expected: [Int]) {
        var map = MacroblockMap(size: PixelSize(width: 40, height: 24))
        map.insert(PixelRectangle(x: x, y: y, size: PixelSize(width: width, height: height)))
        #expect(map.cells.indices.filter { map.cells[$0] == 1 } == expected)
        #expect(map.count == expected.count && map.share == Double(expected.count) / 6)
        // The same of its cells, over whatever was there.
        let size = PixelSize(width: 40, height: 24)
        #expect(MacroblockMap(size: size, cells: map.cells) == map)
        var other = MacroblockMap(size: size)
        other.insertAll()
        other.replace(with: map.cells)
        #expect(other == map)
    }
}

@Suite("CodedQuality")
struct CodedQualityTests {
    private func map(_ indices: [Int]) -> MacroblockMap {
        var map = MacroblockMap(size: PixelSize(width: 64, height: 16))
        for index in indices { map.insert(index) }
        return map
    }

    @Test("Coarsely coded macroblocks are coarse until they are coded more finely")
    func coarse() {
        var quality = CodedQuality(of: map([]))
        #expect(quality.coarsest == 127 && quality.coarser(than: 60) == map([0, 1, 2, 3]))
        quality.didCode(nil, coarseness: 60)
        #expect(quality.coarser(than: 60).isEmpty && quality.coarser(than: 59) == map([0, 1, 2, 3]))
        quality.didCode(map([0, 1]), coarseness: 10)
        #expect(quality.coarsest == 60)
        #expect(quality.coarser(than: 15) == map([2, 3]))
        quality.didCode(map([2, 3]), coarseness: Coarseness.fine)
        #expect(quality.coarsest == Coarseness.fine)
        quality.didCode(map([]), coarseness: 100)
        #expect(quality.coarsest == Coarseness.fine)
    }

    @Test("Coarse macroblocks are refined in turn alongside constant changes")
    func turns() {
        let size = PixelSize(width: 16 * 80, height: 16)
        var quality = CodedQuality(of: MacroblockMap(size: size))
        var film = MacroblockMap(size: size)
        film.insert(70)
        quality.didCode(nil, coarseness: 100)
        quality.didCode(film, coarseness: 40)
        for turn in 1...50 {
            let map = quality.withSomeCoarse(film)
            #expect(map.cells[70] == 1 && map.count <= 3)
            quality.didCode(map, coarseness: 40)
            guard quality.coarsest == 40 else { continue }
            #expect(turn >= 39)
            break
        }
        #expect(quality.coarsest == 40 && quality.withSomeCoarse(film) == film)
    }

    @Test("Moved macroblocks are as coarse as their source, and smeared chroma is coarse")
    func moved() {
        let size = PixelSize(width: 16, height: 64)
        var quality = CodedQuality(of: MacroblockMap(size: size))
        var first = MacroblockMap(size: size)
        quality.didCode(nil, coarseness: 4)
        first.insert(3)
        quality.didCode(first, coarseness: 50)
        quality.move(Scroll(size: size, rows: 40, moved: [1, 0, 0, 0]))
        #expect(quality.coarser(than: 10).cells == [1, 0, 0, 1] && quality.coarsest == 50)
        quality.smear([0, 1, 0, 0])
        #expect(quality.coarser(than: 55).cells == [0, 1, 0, 0])
    }
}
