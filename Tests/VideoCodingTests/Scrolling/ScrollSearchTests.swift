import RTCShareMedia
import TestSupport
import Testing

@testable import RTCShareVideoCoding

/// A page of text that is longer than the picture, of which a part is shown.
struct TextPage {
    private let text: TextPicture

    init(width: Int, height: Int, seed: UInt64 = 11) {
        text = TextPicture(size: PixelSize(width: width, height: height), seed: seed)
    }

    /// Returns a frame with the page from `row` on and windows that each show the page from another row on.
    func shown(_ size: PixelSize, from row: Int, windows: [(PixelRectangle, row: Int)] = []) -> TextPicture {
        var picture = TextPicture(size: size)
        picture.fill(PixelRectangle(x: 0, y: 0, size: size)) { text.luma[($1 + row) * text.size.width + $0] }
        for (place, row) in windows {
            picture.fill(place) { text.luma[($1 + row) * text.size.width + $0] }
        }
        return picture
    }
}

extension TextPicture {
    /// Other luma in a rectangle, by column and row.
    mutating func fill(_ place: PixelRectangle, _ value: (_ x: Int, _ y: Int) -> UInt8) {
        var changed = luma
        for y in place.y..<min(place.y + place.size.height, size.height) {
            for x in place.x..<min(place.x + place.size.width, size.width) { changed[y * size.width + x] = value(x, y) }
        }
        self = TextPicture(size: size, luma: changed)
    }
}

extension Scroll {
    /// Whether what moves of chroma moves by whole samples.
    fileprivate var isWholeForChroma: Bool { rows.isMultiple(of: 2) && columns.isMultiple(of: 2) }
}

extension ScrollSearch.Finding {
    var rows: Int { scrolls.reduce(0) { $0 + $1.rows } }
    var moved: [UInt8] { scrolls.last?.moved ?? [] }
    var columns: Int { scrolls[0].extent.columns }

    /// Verifies the finding, sample by sample.
    func check(
        _ before: PixelBuffer, _ now: PixelBuffer, largestDistance: Int = Scroll.largestDistance
    ) throws {
        let size = before.size
        let columns = (size.width + 15) / 16
        var shown = before.pixels
        for scroll in scrolls {
            #expect(scroll.isWithinFrame && max(abs(scroll.rows), abs(scroll.columns)) <= largestDistance)
            let source = shown
            for plane in 0..<3 where plane == 0 || scroll.isWholeForChroma {
                let (block, part) = plane == 0 ? (16, 1) : (8, 2)
                let extent = PixelFormat.i420.planeExtent(plane, of: size)
                for index in scroll.moved.indices where scroll.moved[index] != 0 {
                    for y in index / columns * block..<min(index / columns * block + block, extent.rows) {
                        for x in index % columns * block..<min(index % columns * block + block, extent.rowBytes) {
                            // What is beyond the last row and column is not shown.
                            let from = min(y + scroll.rows / part, extent.rows - 1)
                            let column = min(x + scroll.columns / part, extent.rowBytes - 1)
                            shown[plane][y * extent.rowBytes + x] = source[plane][from * extent.rowBytes + column]
                        }
                    }
                }
            }
        }
        let wanted = now.pixels
        for plane in 0..<3 where plane == 0 || scrolls.allSatisfy(\.isWholeForChroma) {
            let block = plane == 0 ? 16 : 8
            let extent = PixelFormat.i420.planeExtent(plane, of: size)
            for place in shown[plane].indices where shown[plane][place] != wanted[plane][place] {
                let index = place / extent.rowBytes / block * columns + place % extent.rowBytes / block
                try #require(remaining[index] == 1, "macroblock \(index) of \(columns) a row, plane \(plane)")
            }
        }
    }
}

@Suite("ScrollSearch")
struct ScrollSearchTests {
    private static let size = PixelSize(width: 400, height: 360)
    private static let page = TextPage(width: 640, height: 1300)

    private func find(
        _ before: PixelBuffer, _ now: PixelBuffer, changed: [UInt8]? = nil,
        largestDistance: Int = Scroll.largestDistance
    ) throws -> ScrollSearch.Finding? {
        var search = ScrollSearch(largestDistance: largestDistance)
        let signature = PictureSignature(size: before.size)
        try signature.update(before)
        signature.commit()
        try signature.update(now, changed: changed)
        let finding = search.find(in: signature)
        try finding?.check(before, now, largestDistance: largestDistance)
        return finding
    }

    @Test(
        "Moved text is found at any distance, up and down, in frames of any size",
        arguments: [1, 2, 5, 16, 17, 40, 100, 255], [(400, 360), (333, 351)])
    func distances(rows: Int, size: (width: Int, height: Int)) throws {
        let size = PixelSize(width: size.width, height: size.height)
        let (one, other) = (Self.page.shown(size, from: 10).i420, Self.page.shown(size, from: 10 + rows).i420)
        for (before, now, expected) in [(one, other, rows), (other, one, -rows)] {
            let finding = try #require(try find(before, now))
            #expect(finding.rows == expected)
            // What is left is what came into sight, and lines of macroblocks that are partly new.
            let exposed = (rows + 15) / 16 + 2
            let left = finding.remaining.count { $0 == 1 }
            #expect(left <= exposed * finding.columns, "\(left)")
            // In the middle there is no other vector than the one.
            #expect(finding.moved.count { $0 == 1 } > 0)
        }
    }

    @Test(
        "A move beyond a vector's range is split into several, and one that is too far is not found",
        arguments: [256, 300, 495, 496, 735, 736, 850, 976])
    func far(rows: Int) throws {
        let size = PixelSize(width: 333, height: 1200)
        let page = TextPage(width: 336, height: 2200)
        let window = PixelRectangle(x: 40, y: 33, size: PixelSize(width: 280, height: 1160))
        func picture(_ row: Int) -> PixelBuffer {
            var picture = page.shown(size, from: 0, windows: [(window, row)])
            // Blank before and after: on the way something would stay here.
            picture.fill(PixelRectangle(x: 96, y: 300, size: PixelSize(width: 64, height: 80))) { _, _ in 235 }
            return picture.i420
        }
        for (before, now, expected) in [(picture(0), picture(rows), rows), (picture(rows), picture(0), -rows)] {
            let finding = try find(before, now)
            guard rows <= ScrollSearch.largestDistance else {
                #expect(finding == nil)
                continue
            }
            #expect(finding?.rows == expected)
            #expect(finding?.scrolls.count == (rows - Scroll.largestDistance + 239) / 240 + 1)
            // Vectors of AV1 reach farther, and no place on the way is overwritten.
            let single = try find(before, now, largestDistance: AV1PartialFrame.largestDistance)
            let left = try [single, finding].map { try #require($0).remaining.count { $0 != 0 } }
            #expect(single?.scrolls.count == 1 && single?.rows == expected && left[0] <= left[1], "\(left)")
        }
    }

    @Test("A column of text in a blank page is found to move alone")
    func blank() throws {
        let place = PixelRectangle(x: 112, y: 48, size: PixelSize(width: 96, height: 240))
        func picture(_ row: Int) -> TextPicture {
            var picture = Self.page.shown(Self.size, from: 0, windows: [(place, row)])
            picture.fill(PixelRectangle(x: 0, y: 0, size: PixelSize(width: 112, height: 360))) { _, _ in 235 }
            picture.fill(PixelRectangle(x: 208, y: 0, size: PixelSize(width: 192, height: 360))) { _, _ in 235 }
            return picture
        }
        let finding = try #require(try find(picture(3).i420, picture(26).i420))
        #expect(finding.rows == 23)
        let columns = finding.columns
        let inside = finding.moved.indices.filter { finding.remaining[$0] == 1 }
        #expect(inside.allSatisfy { (7..<13).contains($0 % columns) && (3..<18).contains($0 / columns) })
    }

    @Test("Changes of a blank page's brightness or content are not moves")
    func flat() throws {
        var (light, dark) = (TextPicture(size: Self.size), TextPicture(size: Self.size))
        let all = PixelRectangle(x: 0, y: 0, size: Self.size)
        light.fill(all) { _, _ in 235 }
        dark.fill(all) { _, _ in 30 }
        #expect(try find(light.i420, dark.i420) == nil)
        #expect(try find(light.i420, Self.page.shown(Self.size, from: 0).i420) == nil)
        #expect(try find(Self.page.shown(Self.size, from: 0).i420, light.i420) == nil)
    }

    @Test("Noise, another page and an unchanged frame are not moves")
    func nothing() throws {
        var numbers = SeededNumbers(5)
        let noise = (0..<2).map { _ in
            var picture = TextPicture(size: Self.size)
            picture.fill(PixelRectangle(x: 0, y: 0, size: Self.size)) { _, _ in .random(in: 0...255, using: &numbers) }
            return picture.i420
        }
        #expect(try find(noise[0], noise[1]) == nil)
        #expect(try find(noise[0], noise[0]) == nil)
        let other = TextPage(width: 400, height: 360, seed: 12).shown(Self.size, from: 0)
        #expect(try find(Self.page.shown(Self.size, from: 0).i420, other.i420) == nil)
    }

    @Test("The larger of two windows that move differently is found")
    func twoWindows() throws {
        let left = PixelRectangle(x: 5, y: 20, size: PixelSize(width: 230, height: 300))
        let right = PixelRectangle(x: 250, y: 20, size: PixelSize(width: 140, height: 300))
        let before = Self.page.shown(Self.size, from: 0, windows: [(left, 100), (right, 200)])
        let now = Self.page.shown(Self.size, from: 0, windows: [(left, 137), (right, 179)])
        let finding = try #require(try find(before.i420, now.i420))
        #expect(finding.rows == 37)
        let columns = finding.columns
        #expect(finding.moved.indices.allSatisfy { finding.moved[$0] == 0 || $0 % columns < 16 })
        #expect(finding.remaining[10 * columns + 20] == 1)
    }

    @Test("A small moving window gets no scroll frame")
    func small() throws {
        let place = PixelRectangle(x: 64, y: 64, size: PixelSize(width: 80, height: 80))
        let before = Self.page.shown(Self.size, from: 0, windows: [(place, 100)])
        let now = Self.page.shown(Self.size, from: 0, windows: [(place, 120)])
        #expect(try find(before.i420, now.i420) == nil)
    }

    @Test("Chroma moved by half a row is left to be encoded, while whole rows are moved")
    func colours() throws {
        func picture(_ row: Int) -> PixelBuffer {
            let text = Self.page.shown(Self.size, from: row)
            return PixelBuffer(size: Self.size, format: .i420) { planes, strides in
                for y in 0..<Self.size.height {
                    for x in 0..<Self.size.width {
                        planes[0][y * strides[0] + x] = text.luma[y * Self.size.width + x]
                        planes[1][y / 2 * strides[1] + x / 2] = x < 200 ? 128 : UInt8((y + row) / 2 * 37 & 127)
                        planes[2][y / 2 * strides[2] + x / 2] = 120
                    }
                }
            }
        }
        for rows in [20, 21] {
            let finding = try #require(try find(picture(0), picture(rows)))
            #expect(finding.rows == rows)
            let columns = finding.columns
            #expect(finding.moved[8 * columns + 4] == 1 && finding.remaining[8 * columns + 4] == 0)
            #expect(finding.moved[8 * columns + 20] == 1)
            #expect(finding.remaining[8 * columns + 20] == 0)
            #expect(finding.smeared[8 * columns + 20] == (rows == 20 ? 0 : 1))
        }
    }

    @Test("The search covers the changed macroblocks and compares with the committed frame")
    func maps() throws {
        let signature = PictureSignature(size: Self.size)
        var search = ScrollSearch()
        try signature.update(Self.page.shown(Self.size, from: 0).i420)
        signature.commit()
        let place = PixelRectangle(x: 160, y: 96, size: PixelSize(width: 160, height: 240))
        let columns = 25
        var map = [UInt8](repeating: 0, count: columns * 23)
        for row in 6..<21 { for column in 10..<20 { map[row * columns + column] = 1 } }
        for step in 1...5 {
            let windows = [(place, row: step * 30)]
            let picture = Self.page.shown(Self.size, from: 0, windows: windows).i420
            try signature.update(picture, changed: map)
            let found = search.find(in: signature)
            let finding = try #require(found)
            #expect(finding.rows == 30)
            #expect(finding.moved.indices.allSatisfy { finding.moved[$0] == 0 || map[$0] == 1 })
            // Not committed yet: the same again.
            let again = search.find(in: signature)
            #expect(again == finding)
            signature.commit()
            let nothing = search.find(in: signature)
            #expect(nothing == nil)
        }
        #expect(throws: VideoCodingError.self) {
            try signature.update(Self.page.shown(Self.size, from: 0).i420, changed: [1])
        }
    }
}
