import RTCShareMedia
import TestSupport
import Testing

@testable import RTCShareVideoCoding
import RTCShareWireFormat

extension Scroll {
    /// One that can be said, of a part somewhere, with holes or without.
    static func random(size: PixelSize, using numbers: inout SeededNumbers) -> Scroll? {
        func distance(_ side: Int) -> Int {
            let distance = Int.random(in: 1...min(255, side), using: &numbers)
            return Bool.random(using: &numbers) ? distance : -distance
        }
        // Up or down, sideways, or both.
        let kind = Int.random(in: 0..<4, using: &numbers)
        var scroll = Scroll(
            size: size, rows: kind == 0 ? 0 : distance(size.height), columns: kind < 2 ? distance(size.width) : 0,
            moved: [])
        let (columns, count) = scroll.extent
        scroll.moved = Array(repeating: 0, count: columns * count)
        let (down, across) = (scroll.reachableRows, scroll.reachableColumns)
        guard !down.isEmpty, !across.isEmpty else { return nil }
        let (left, other) = (Int.random(in: across, using: &numbers), Int.random(in: across, using: &numbers))
        let (top, bottom) = (Int.random(in: down, using: &numbers), Int.random(in: down, using: &numbers))
        let holes = Int.random(in: 0...3, using: &numbers)
        for row in min(top, bottom)...max(top, bottom) {
            for column in min(left, other)...max(left, other) {
                guard holes < 3 || Int.random(in: 0..<3, using: &numbers) > 0 else { continue }
                scroll.moved[row * columns + column] = 1
            }
        }
        return scroll.isExpressible ? scroll : nil
    }
}

@Suite("ScrollFrame")
struct ScrollFrameTests {
    @Test(
        "The encoder's reference frames equal the decoder's after any series of scrolls, changes and key frames",
        arguments: [(320, 240), (322, 242), (97, 315), (16, 640), (200, 17), (641, 363)])
    func exactness(width: Int, height: Int) throws {
        let size = PixelSize(width: width, height: height)
        var numbers = SeededNumbers(UInt64(width * 1000 + height))
        var configuration = VP8Encoder.Configuration(size: size, bitrate: .kilobitsPerSecond(1000))
        let encoder = try VP8Encoder(configuration: configuration)
        let decoder = try VP8Decoder()
        var picture = ChangingPicture(size: size, seed: 3)
        var shown: [[UInt8]] = []
        var scrolls = 0
        for index in 0..<160 {
            var frame: EncodedVideoFrame?
            if index > 0, Int.random(in: 0..<5, using: &numbers) < 3 {
                let scroll = Scroll.random(size: size, using: &numbers)
                frame = try scroll.flatMap { try encoder.encodeScroll($0, timestamp: .seconds(index) / 30) }
                if frame != nil { scrolls += 1 }
            }
            if frame == nil {
                picture.change(&numbers)
                if Int.random(in: 0..<4, using: &numbers) == 0 {
                    configuration.speed = -Int.random(in: 1...12, using: &numbers)
                    configuration.bitrate = .bitsPerSecond(Int.random(in: 200_000...3_000_000, using: &numbers))
                    try encoder.reconfigure(configuration)
                }
                let part = PixelRectangle(
                    x: Int.random(in: 0..<width, using: &numbers), y: Int.random(in: 0..<height, using: &numbers),
                    size: PixelSize(width: 100, height: 80))
                var changed = MacroblockMap(size: PixelSize(width: width, height: height))
                changed.insert(part)
                let outcome = try encoder.encode(
                    picture.i420, timestamp: .seconds(index) / 30,
                    asKeyFrame: Int.random(in: 0..<12, using: &numbers) == 0,
                    changed: Bool.random(using: &numbers) ? changed : nil)
                if case .encoded(let encoded) = outcome { frame = encoded }
            }
            if let frame {
                shown = try #require(try decoder.decode(frame.data)).pixels
                #expect(decoder.lastQuantizer == frame.quantizer)
            }
            // Where the rate control left a picture out it stays as it was.
            try #require(try encoder.lastFrame() == shown, "frame \(index)")
        }
        #expect(scrolls > 40, "\(scrolls)")
    }

    @Test(
        "Scrolled and new parts are decoded exactly, in one frame or several, at any bitrate",
        arguments: [(320, 240, 300_000), (335, 421, 2_000_000), (416, 1000, 120_000)])
    func scrolledUpdates(width: Int, height: Int, bitsPerSecond: Int) throws {
        let size = PixelSize(width: width, height: height)
        var numbers = SeededNumbers(UInt64(bitsPerSecond + width))
        let pages = (1...3).map { TextPage(width: width, height: height + 1000, seed: $0) }
        let encoder = try VP8Encoder(configuration: .init(size: size, bitrate: .bitsPerSecond(bitsPerSecond)))
        let decoder = try VP8Decoder()
        let signature = PictureSignature(size: size)
        var search = ScrollSearch()
        var (page, row, single, several) = (0, 0, 0, 0)
        for index in 0..<90 {
            if Int.random(in: 0..<12, using: &numbers) == 0 { page = Int.random(in: 0..<3, using: &numbers) }
            row =
                Int.random(in: 0..<4, using: &numbers) == 0
                ? .random(in: 0...1000, using: &numbers)
                : min(max(row + .random(in: -50...90, using: &numbers), 0), 1000)
            let window = PixelRectangle(x: 20, y: 9, size: PixelSize(width: width - 40, height: height - 30))
            let picture = pages[0].shown(size, from: index / 9, windows: [(window, row)]).coloured(page)
            try signature.update(picture)
            let time = Duration.seconds(index) / 30
            var frames: [EncodedVideoFrame] = []
            var outcome = EncodingOutcome.dropped
            var ledger = encoder.ledger
            ledger.pass(to: time)
            if index > 0, let finding = search.find(in: signature),
                let encoded = try encoder.encode(
                    picture, after: finding, timestamp: time, rotation: .upright, ledger: ledger)
            {
                (frames, outcome) = encoded
                if frames.isEmpty { single += 1 } else { several += 1 }
            } else {
                outcome = try encoder.encode(picture, timestamp: time)
            }
            if case .encoded(let frame) = outcome { frames.append(frame) }
            var shown: [[UInt8]]?
            for frame in frames {
                shown = try #require(try decoder.decode(frame.data)).pixels
                #expect(decoder.lastQuantizer == frame.quantizer)
            }
            signature.commit()
            if let shown { try #require(try encoder.lastFrame() == shown, "frame \(index)") }
        }
        #expect(single > 20, "\(single) \(several)")
    }

    @Test("A scroll after a golden frame update is decoded exactly")
    func golden() throws {
        let size = PixelSize(width: 320, height: 240)
        let encoder = try VP8Encoder(configuration: .init(size: size, bitrate: .kilobitsPerSecond(800)))
        let decoder = try VP8Decoder()
        var text = TextPicture(size: size)
        var scroll = Scroll(size: size, rows: 37, moved: Array(repeating: 0, count: size.macroblocks))
        for index in 20..<220 { scroll.moved[index] = 1 }
        var scrolls = 0
        for index in 0..<150 {
            text.draw(0x5A_1234_55AA, x: index * 8 % 320, y: index / 40 * 16 + 100)
            let time = Duration.seconds(index) / 30
            // What follows finds the same again in the golden frame.
            let picture = encoder.model.lastUpdates?.golden == true ? text.scrolled(by: 37) : text
            guard case .encoded(let frame) = try encoder.encode(picture.i420, timestamp: time) else { continue }
            let decoded = try #require(try decoder.decode(frame.data))
            try #require(try encoder.lastFrame() == decoded.pixels, "frame \(index)")
            guard encoder.model.lastUpdates?.golden == true else { continue }
            let scrolled = try #require(try encoder.encodeScroll(scroll, timestamp: time + .milliseconds(1)))
            let shown = try #require(try decoder.decode(scrolled.data))
            try #require(try encoder.lastFrame() == shown.pixels, "frame \(index)")
            #expect(FrameHeader(frame: scrolled.data)?.updates == encoder.model.lastUpdates)
            scrolls += 1
        }
        #expect(scrolls > 2)
    }

    @Test("A scroll is rejected when the next frame cannot build on it or a vector cannot express it")
    func refusals() throws {
        let size = PixelSize(width: 640, height: 640)
        var configuration = VP8Encoder.Configuration(size: size, bitrate: .kilobitsPerSecond(1000))
        let encoder = try VP8Encoder(configuration: configuration)
        func scroll(
            _ rows: Int, row: Int = 20, columns: Int = 0, column: Int = 0, size: PixelSize = size
        ) -> Scroll {
            var scroll = Scroll(size: size, rows: rows, columns: columns, moved: [])
            scroll.moved = Array(repeating: 0, count: size.macroblocks)
            if row * 40 + column < scroll.moved.count { scroll.moved[row * 40 + column] = 1 }
            return scroll
        }
        func isTaken(_ scroll: Scroll) throws -> Bool { try encoder.encodeScroll(scroll, timestamp: .zero) != nil }
        let text = TextPicture(size: size)
        #expect(try !isTaken(scroll(10)))
        _ = try encoder.encode([text.i420])
        #expect(try isTaken(scroll(10)))
        // Too far, from above, from below, from the last rows, and nothing.
        for (rows, row) in [(256, 20), (-256, 20), (-1, 0), (1, 39), (-20, 1), (255, 30), (0, 20), (10, 400)] {
            #expect(try !isTaken(scroll(rows, row: row)), "\(rows) \(row)")
        }
        for (rows, row) in [(255, 20), (-255, 20), (16, 38), (-16, 1)] {
            #expect(try isTaken(scroll(rows, row: row)), "\(rows) \(row)")
        }
        // The same sideways.
        for (columns, column) in [(256, 20), (-256, 20), (-1, 0), (1, 39), (-20, 1), (255, 30), (0, 20)] {
            #expect(try !isTaken(scroll(0, columns: columns, column: column)), "\(columns) \(column)")
            #expect(try columns == 0 || !isTaken(scroll(10, columns: columns, column: column)), "\(columns) \(column)")
        }
        for (columns, column) in [(255, 20), (-255, 20), (16, 38), (-16, 1)] {
            #expect(try isTaken(scroll(0, columns: columns, column: column)), "\(columns) \(column)")
            #expect(try isTaken(scroll(-255, columns: columns, column: column)), "\(columns) \(column)")
        }
        #expect(try !isTaken(scroll(10, size: PixelSize(width: 640, height: 624))))
        var short = scroll(10)
        short.moved.removeLast()
        #expect(try !isTaken(short))
        // A new size needs a key frame.
        configuration.size = PixelSize(width: 640, height: 624)
        try encoder.reconfigure(configuration)
        #expect(try !isTaken(scroll(10, size: configuration.size)))
        _ = try encoder.encode([TextPicture(size: configuration.size).i420], from: 2)
        #expect(try isTaken(scroll(10, size: configuration.size)))
    }

    @Test("A scroll is rejected while a blurred key frame is being sharpened")
    func sharpening() throws {
        let size = PixelSize(width: 640, height: 480)
        let encoder = try VP8Encoder(configuration: .init(size: size, bitrate: .kilobitsPerSecond(100), hint: .text))
        let first = try #require(try encoder.encode([TextPicture(size: size).i420])[0])
        #expect(first.isUnfinished)
        let scroll = Scroll(size: size, rows: 0, moved: Array(repeating: 1, count: size.macroblocks))
        var (up, reachable) = (scroll, scroll)
        up.rows = 16
        reachable.rows = 16
        reachable.moved.replaceSubrange((size.macroblocks - 40)..., with: repeatElement(0, count: 40))
        #expect(!up.isExpressible && reachable.isExpressible)
        #expect(try encoder.encodeScroll(reachable, timestamp: .seconds(1)) == nil)
    }

    @Test("A scroll frame is an inter frame with the previous frame's quantizer")
    func place() throws {
        let size = PixelSize(width: 320, height: 240)
        let encoder = try VP8Encoder(configuration: .init(size: size, bitrate: .kilobitsPerSecond(500)))
        let first = try #require(try encoder.encode([TextPicture(size: size).i420])[0])
        var scroll = Scroll(size: size, rows: 5, moved: Array(repeating: 0, count: size.macroblocks))
        for index in 0..<200 { scroll.moved[index] = 1 }
        let frame = try #require(try encoder.encodeScroll(scroll, timestamp: .seconds(1), rotation: .half))
        #expect(!frame.isKeyFrame && frame.size == size && frame.rotation == .half)
        #expect(frame.timestamp == .seconds(1) && frame.quantizer == first.quantizer)
        #expect(frame.data.count < 200)
    }

    @Test("Scroll frames halve the bytes of a scrolling page without loss of sharpness", arguments: [23, 40])
    func savings(rows: Int) throws {
        let size = PixelSize(width: 1280, height: 720)
        let page = TextPage(width: 1280, height: 720 + 24 * rows)
        func run(scrolls: Bool) throws -> (byteCount: Int, similarity: Double) {
            var configuration = VP8Encoder.Configuration(size: size, bitrate: .kilobitsPerSecond(2500))
            configuration.hint = .text
            let encoder = try VP8Encoder(configuration: configuration)
            let decoder = try VP8Decoder()
            let signature = PictureSignature(size: size)
            var search = ScrollSearch()
            let first = page.shown(size, from: 0).i420
            for frame in try encoder.encode(Array(repeating: first, count: 24)) {
                if let frame { _ = try decoder.decode(frame.data) }
            }
            try signature.update(first)
            signature.commit()
            var (byteCount, similarity) = (0, 0.0)
            for index in 1...24 {
                let picture = page.shown(size, from: index * rows).i420
                let time = Duration.seconds(24 + index) / 30
                var shown: PixelBuffer?
                var rest: MacroblockMap?
                try signature.update(picture)
                if scrolls {
                    let found = search.find(in: signature)
                    let finding = try #require(found)
                    #expect(finding.rows == rows)
                    for scroll in finding.scrolls {
                        let frame = try #require(try encoder.encodeScroll(scroll, timestamp: time))
                        byteCount += frame.data.count
                        shown = try decoder.decode(frame.data)
                    }
                    var remaining = MacroblockMap(size: picture.size)
                    for index in finding.remaining.indices where finding.remaining[index] == 1 {
                        remaining.insert(index)
                    }
                    rest = remaining
                }
                signature.commit()
                let outcome = try encoder.encode(picture, timestamp: time + .milliseconds(1), changed: rest)
                if case .encoded(let frame) = outcome {
                    byteCount += frame.data.count
                    shown = try decoder.decode(frame.data)
                }
                similarity += try StructuralSimilarity.luma(try #require(shown), picture)
            }
            return (byteCount, similarity / 24)
        }
        let (with, without) = (try run(scrolls: true), try run(scrolls: false))
        #expect(with.byteCount * 2 < without.byteCount, "\(with) \(without)")
        #expect(with.similarity >= without.similarity, "\(with) \(without)")
    }
}
