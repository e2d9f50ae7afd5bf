import RTCShareMedia
import RTCShareRTP
import TestSupport
import Testing

@testable import RTCShareVideoCoding

@Suite("AV1PartialFrame", .enabled(if: CodecLibraries.hasAV1, "libaom3 or libdav1d6 is not installed"))
struct AV1PartialFrameTests {
    /// Replaces a part of an image with noise or a gradient.
    private func change(_ image: I420Picture, using numbers: inout SeededNumbers) {
        let samples = image.samples
        let (width, height) = ((image.size.width + 1) / 2, (image.size.height + 1) / 2)
        let planes = [
            (samples.luma, samples.lumaStride, image.size.width, image.size.height),
            (samples.blue, samples.chromaStride, width, height), (samples.red, samples.chromaStride, width, height),
        ]
        for (first, stride, width, height) in planes {
            let (left, top) = (Int.random(in: 0..<width, using: &numbers), Int.random(in: 0..<height, using: &numbers))
            let isNoise = Bool.random(using: &numbers)
            for row in top..<min(top + 50, height) {
                for column in left..<min(left + 70, width) {
                    let value = isNoise ? Int.random(in: 0...255, using: &numbers) : row * 5 + column
                    first[row * stride + column] = UInt8(truncatingIfNeeded: value)
                }
            }
        }
    }

    /// Replaces macroblocks of an image with ones of few colors, or some more, and returns those of few.
    private func paint(_ image: I420Picture, using numbers: inout SeededNumbers) throws -> MacroblockMap {
        var map = MacroblockMap(size: image.size)
        let samples = image.samples
        let density = Int.random(in: 1...6, using: &numbers)
        let usual = (0..<3).map { _ in UInt8.random(in: 0...255, using: &numbers) }
        for index in map.cells.indices where Int.random(in: 0..<density, using: &numbers) == 0 {
            map.insert(index)
            let place = samples.from(x: index % map.columns * 16, y: index / map.columns * 16)
            let planes = [
                (place.luma, place.lumaStride, 16), (place.blue, place.chromaStride, 8),
                (place.red, place.chromaStride, 8),
            ]
            for (first, stride, side) in planes {
                // Colors are those of neighbors, or near each other, or anywhere.
                var colors = usual
                for _ in 0..<Int.random(in: 0...7, using: &numbers) {
                    let step = UInt8.random(in: 0...3, using: &numbers)
                    colors.append(
                        Bool.random(using: &numbers) ? colors[0] &+ step : UInt8.random(in: 0...255, using: &numbers))
                }
                let count = Int.random(in: 1...min(colors.count, 9), using: &numbers)
                colors = Array(colors.shuffled(using: &numbers).prefix(count))
                let run = Int.random(in: 1...20, using: &numbers)
                var color = colors[0]
                for row in 0..<side {
                    for column in 0..<side {
                        if Int.random(in: 0..<run, using: &numbers) == 0 {
                            color = colors.randomElement(using: &numbers) ?? color
                        }
                        first[row * stride + column] = color
                    }
                }
            }
        }
        var few = MacroblockMap(size: image.size)
        var block = BlockColors()
        try image.withPlanePointers { planes in
            for index in map.cells.indices where map.cells[index] != 0 {
                block.read(planes, x: index % map.columns * 16, y: index / map.columns * 16, in: image.size)
                if block.palettes != nil { few.insert(index) }
            }
        }
        return few
    }

    @Test(
        "Two decoders show the encoder's image after any series of scrolls, palettes, changes and key frames",
        arguments: [(320, 240), (322, 242), (97, 315), (16, 640), (200, 17), (641, 363), (1, 40), (33, 8)])
    func exactness(width: Int, height: Int) throws {
        let size = PixelSize(width: width, height: height)
        var numbers = SeededNumbers(UInt64(width * 1000 + height))
        let coder = try AV1Coder(.init(size: size, threads: 2))
        let decoder = try AV1Decoder()
        let judge = CodecLibraries.hasFFmpeg ? try FFmpegDecoder("libaom-av1") : nil
        let shown = try I420Picture(size: size)
        for _ in 0..<8 { change(shown, using: &numbers) }
        let picture = try I420Picture(size: size)
        var (scrollCount, paintedCount) = (0, 0)
        // libaom's choices change with the number of frames since a key frame.
        let isLong = width == 97
        for index in 0..<(isLong ? 400 : 80) {
            let scrolls = (0..<Int.random(in: 0...2, using: &numbers)).compactMap { _ in
                Scroll.random(size: size, using: &numbers)
            }
            picture.copy(from: shown)
            let map = try paint(picture, using: &numbers)
            let painted = Bool.random(using: &numbers) ? map : MacroblockMap(size: size)
            let update = try coder.update(
                shown, by: scrolls, painting: painted,
                of: picture, keepsLast: Int.random(in: 0..<4, using: &numbers) == 0)
            if update != nil { scrollCount += scrolls.count }
            paintedCount += update == nil ? 0 : painted.count
            if index > 0, Bool.random(using: &numbers) {
                let frame = try #require(try coder.repetition(of: shown))
                let decoded = try #require(try decoder.decode(frame.data))
                try #require(decoded.pixels == samples(shown), "frame \(index) without the library")
                if let judge { try #require(try judge.decode(frame.data, shows: decoded), "frame \(index)") }
            }
            try coder.synchronize(with: shown)
            for _ in 0..<Int.random(in: 0...2, using: &numbers) { change(shown, using: &numbers) }
            let frame = try #require(
                try coder.encode(
                    replacing: shown, quantizer: Int.random(in: 1...63, using: &numbers),
                    asKeyFrame: Int.random(in: 0..<(isLong ? 300 : 12), using: &numbers) == 0,
                    keepsLast: Bool.random(using: &numbers),
                    refines: Bool.random(using: &numbers),
                    isNatural: Bool.random(using: &numbers)))
            let decoded = try #require(try decoder.decode(frame.data))
            try #require(decoded.pixels == samples(shown), "frame \(index)")
            if let judge { try #require(try judge.decode(frame.data, shows: decoded), "frame \(index)") }
        }
        #expect(scrollCount > 20 || height < 32, "\(scrollCount)")
        #expect(paintedCount > 20, "\(paintedCount)")
    }

    /// The sequence header of a key frame of this size.
    private func sequence(_ size: PixelSize) throws -> (bytes: [UInt8], header: AV1SequenceHeader) {
        let coder = try AV1Coder(.init(size: size))
        let frame = try #require(try coder.encode(I420Picture(size: size), quantizer: 50))
        let unit = try #require(try OpenBitstreamUnit.next(in: frame.data.span.bytes, at: 0))
        return (Array(frame.data[unit.bytes]), try AV1SequenceHeader(frame.data.span.bytes, unit))
    }

    private func scroll(_ size: PixelSize, rows: Int, columns: Int = 0) -> Scroll {
        var scroll = Scroll(size: size, rows: rows, columns: columns, moved: [])
        let count = scroll.extent.columns
        scroll.moved = Array(repeating: 0, count: count * scroll.extent.rows)
        for row in scroll.reachableRows {
            for column in scroll.reachableColumns { scroll.moved[row * count + column] = 1 }
        }
        return scroll
    }

    @Test("A scroll of a whole screen takes at most 128 bytes", arguments: [(48, 0), (-57, 0), (7, 9), (0, -200)])
    func byteCount(rows: Int, columns: Int) throws {
        let size = PixelSize(width: 1920, height: 1080)
        let header = try sequence(size).header
        let data = try AV1PartialFrame(
            image: I420Picture(size: size), scroll: scroll(size, rows: rows, columns: columns)
        )
        .data(of: .init(), in: header)
        #expect(try #require(data).count <= 128)
    }

    @Test("A scroll is rejected when a vector cannot express it or the sequence has another size")
    func refusals() throws {
        let size = PixelSize(width: 16, height: 2100)
        let header = try sequence(size).header
        func isWritten(_ scroll: Scroll) -> Bool { AV1PartialFrame.canExpress(scroll, size: size, in: header) }
        #expect(isWritten(scroll(size, rows: 2047)) && isWritten(scroll(size, rows: -2047)))
        #expect(!isWritten(scroll(size, rows: 2048)) && !isWritten(scroll(size, rows: -2048)))
        #expect(!isWritten(scroll(size, rows: 0)) && !isWritten(scroll(size, rows: 1, columns: 20)))
        var outside = scroll(size, rows: 20)
        outside.moved[outside.moved.count - 1] = 1
        #expect(!isWritten(outside))
        #expect(!isWritten(scroll(PixelSize(width: 16, height: 2099), rows: 20)))
        var short = scroll(size, rows: 20)
        short.moved.removeLast()
        #expect(!isWritten(short))
    }

    @Test("A sequence with tools that change the syntax is rejected, and no change of a bit ends the process")
    func tools() throws {
        let size = PixelSize(width: 64, height: 64)
        let (bytes, _) = try sequence(size)
        var rejected = 0
        for bit in 16..<bytes.count * 8 {
            var changed = bytes
            changed[bit / 8] ^= 0x80 >> UInt8(bit % 8)
            guard let unit = try? OpenBitstreamUnit.next(in: changed.span.bytes, at: 0),
                let header = try? AV1SequenceHeader(changed.span.bytes, unit),
                AV1PartialFrame.canExpress(scroll(size, rows: 3), size: size, in: header)
            else {
                rejected += 1
                continue
            }
        }
        #expect(rejected > 20, "\(rejected)")
    }
}
