import RTCShareMedia
import TestSupport
import Testing

@testable import RTCShareVideoCoding

/// A window of text that lies somewhere on a desk of other text.
private struct Desk {
    private static let page = TextPage(width: 640, height: 1300)
    private let size: PixelSize
    private let window: PixelSize
    /// The additional brightness that distinguishes frames with the window at the same place.
    var flicker: UInt8 = 0
    /// Whether the window has a bar like that for scrolling beside its text.
    var hasBar = false
    /// Whether chroma is not one colour.
    var isColoured = false

    init(_ size: PixelSize, window: PixelSize) {
        (self.size, self.window) = (size, window)
    }

    func picture(windowAt x: Int, _ y: Int) -> PixelBuffer {
        let content = Self.page.shown(window, from: 700)
        var picture = Self.page.shown(size, from: 0)
        let place = PixelRectangle(x: x, y: y, size: window)
        picture.fill(place) {
            let column = $0 - x
            if hasBar, column > window.width / 2 { return (200..<206).contains(column) ? 40 : 230 }
            return content.luma[($1 - y) * window.width + column] &+ flicker
        }
        return PixelBuffer(size: size, format: .i420) { planes, strides in
            for y in 0..<size.height {
                for x in 0..<size.width { planes[0][y * strides[0] + x] = picture.luma[y * size.width + x] }
            }
            for row in 0..<(size.height + 1) / 2 {
                for column in 0..<(size.width + 1) / 2 {
                    let isInside =
                        (x..<x + window.width).contains(column * 2) && (y..<y + window.height).contains(row * 2)
                    let colour = isColoured && isInside ? UInt8(((column - x / 2) * 3 + (row - y / 2) * 5) & 127) : 128
                    planes[1][row * strides[1] + column] = colour
                    planes[2][row * strides[2] + column] = 120
                }
            }
        }
    }
}

@Suite("SidewaysSearch")
struct SidewaysSearchTests {
    private static let size = PixelSize(width: 608, height: 432)
    private static let window = PixelSize(width: 320, height: 240)

    private func find(_ before: PixelBuffer, _ now: PixelBuffer) throws -> ScrollSearch.Finding? {
        var search = ScrollSearch()
        let signature = PictureSignature(size: before.size)
        try signature.update(before)
        signature.commit()
        try signature.update(now)
        let finding = try search.find(in: signature, of: now)
        if let finding { try finding.check(before, now) }
        return finding
    }

    @Test(
        "A dragged window is found in any direction, in frames of any size",
        arguments: [(1, 0), (-1, 0), (2, 3), (-7, 1), (16, 0), (-16, 32), (31, -40), (-90, 77), (150, -100)],
        [(608, 432), (600, 421), (615, 440)])
    func drags(offset: (columns: Int, rows: Int), size: (width: Int, height: Int)) throws {
        let desk = Desk(PixelSize(width: size.width, height: size.height), window: Self.window)
        let (x, y) = (offset.columns < 0 ? 157 : 40, offset.rows < 0 ? 130 : 37)
        let (before, now) = (
            desk.picture(windowAt: x, y), desk.picture(windowAt: x + offset.columns, y + offset.rows)
        )
        let finding = try #require(try find(before, now))
        // Where it came from is to the other side.
        #expect(finding.scrolls.map(\.columns) == [-offset.columns] && finding.rows == -offset.rows)
        // All that lies within the window is said by vectors, but for its edges.
        let inside = ((x + offset.columns + 31) / 16 + 1..<(x + offset.columns + Self.window.width) / 16 - 1)
        for row in (y + offset.rows + 15) / 16..<(y + offset.rows + Self.window.height) / 16 {
            for column in inside {
                #expect(finding.remaining[row * finding.columns + column] == 0, "\(column) \(row)")
            }
        }
    }

    @Test("A dragged window is found that has a bar whose parts only move sideways", arguments: [9, 13, -8])
    func bar(distance: Int) throws {
        var desk = Desk(Self.size, window: Self.window)
        desk.hasBar = true
        let moved = desk.picture(windowAt: 100 + distance, 60 + distance)
        let finding = try #require(try find(desk.picture(windowAt: 100, 60), moved))
        #expect(finding.scrolls.map(\.rows) == [-distance] && finding.scrolls.map(\.columns) == [-distance])
    }

    @Test("Chroma moves by whole samples, and is smeared by moves of half a sample")
    func colours() throws {
        var desk = Desk(Self.size, window: Self.window)
        desk.isColoured = true
        for (columns, rows) in [(20, 12), (21, 12), (20, 13), (17, 9)] {
            let finding = try #require(
                try find(desk.picture(windowAt: 96, 96), desk.picture(windowAt: 96 + columns, 96 + rows)))
            let index = 14 * finding.columns + 16
            #expect(finding.moved[index] == 1 && finding.remaining[index] == 0)
            #expect(finding.smeared[index] == (columns == 20 && rows == 12 ? 0 : 1))
        }
        // One colour is the same wherever it comes from.
        desk.isColoured = false
        let finding = try #require(try find(desk.picture(windowAt: 96, 96), desk.picture(windowAt: 113, 105)))
        #expect(finding.smeared.allSatisfy { $0 == 0 })
    }

    @Test("A slide with large letters that is pushed aside by another is found", arguments: [16, 48, 100, 240])
    func slides(columns: Int) throws {
        let size = PixelSize(width: 1280, height: 720)
        let pages = [TextPage(width: 160, height: 90, seed: 3), TextPage(width: 160, height: 90, seed: 4)]
            .map { $0.shown(PixelSize(width: 160, height: 90), from: 0) }
        // The first lies to the left of the second, whose paper is another.
        func picture(from first: Int) -> PixelBuffer {
            var picture = TextPicture(size: size)
            picture.fill(PixelRectangle(x: 0, y: 0, size: size)) { x, y in
                let (page, column) = ((x + first) / size.width, (x + first) % size.width)
                let letter = pages[page].luma[y / 8 * 160 + column / 8]
                return page == 0 ? letter : letter / 2
            }
            return picture.i420
        }
        for (from, to) in [(0, columns), (300, 300 + columns), (300 + columns, 300)] {
            let finding = try #require(try find(picture(from: from), picture(from: to)))
            #expect(finding.rows == 0 && finding.scrolls.map(\.columns) == [to - from])
        }
    }

    @Test("Vertical moves are still found, and flicker or moves that are too far are not")
    func others() throws {
        var desk = Desk(Self.size, window: Self.window)
        let before = desk.picture(windowAt: 100, 60)
        let down = try #require(try find(before, desk.picture(windowAt: 100, 81)))
        #expect(down.rows == -21 && down.scrolls.map(\.columns) == [0])
        #expect(try find(before, before) == nil)
        #expect(try find(desk.picture(windowAt: 0, 60), desk.picture(windowAt: 260, 60)) == nil)
        desk.flicker = 1
        #expect(try find(before, desk.picture(windowAt: 120, 60)) == nil)
    }

    @Test("During other constant changes the search runs occasionally, and finds a move within four frames")
    func rests() throws {
        var desk = Desk(Self.size, window: Self.window)
        var search = ScrollSearch()
        let signature = PictureSignature(size: Self.size)
        try signature.update(desk.picture(windowAt: 100, 60))
        signature.commit()
        var found: [Int] = []
        for index in 1...24 {
            // For half of the time the same place is brighter and brighter.
            desk.flicker = UInt8(min(index, 12))
            let picture = desk.picture(windowAt: 100 + max(index - 12, 0) * 5, 60 + max(index - 12, 0) * 3)
            try signature.update(picture)
            if try search.find(in: signature, of: picture) != nil { found.append(index) }
            signature.commit()
        }
        let first = try #require(found.first)
        #expect((13...16).contains(first))
        #expect(found == Array(first...24))
    }
}
