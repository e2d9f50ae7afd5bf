internal import Glibc
package import RTCShareMedia

/// A screen with two windows, each of which shows some rows of a page of colored text.
package struct WindowScreen: Sendable {
    package let size: PixelSize
    private var luma: [UInt8]
    private var page: [UInt8]
    /// The background behind the windows.
    private let desk: [UInt8]
    /// The place of each window, and the position in the page from which it shows it.
    private var windows: [(place: PixelRectangle, column: Int, row: Int)] = []
    private var numbers: SeededNumbers

    package init(size: PixelSize, seed: UInt64) {
        self.size = size
        numbers = SeededNumbers(seed)
        page = TextPicture(size: PixelSize(width: size.width, height: size.height * 2), seed: seed).luma
        desk = Array(page[..<size.area])
        luma = desk
        let (width, height) = (size.width * 2 / 5, size.height * 4 / 5)
        for x in [size.width / 20, size.width / 2 + 7] {
            let place = PixelRectangle(x: x, y: size.height / 11, size: PixelSize(width: width, height: height))
            windows.append((place, x, 0))
            draw(windows.count - 1)
        }
    }

    private mutating func draw(_ index: Int) {
        let (place, column, first) = windows[index]
        for y in 0..<place.size.height {
            let from = (first + y) * size.width + column
            let to = (place.y + y) * size.width + place.x
            luma.replaceSubrange(to..<to + place.size.width, with: page[from..<from + place.size.width])
        }
    }

    /// A change of the screen.
    package enum Change: Sendable {
        case nothing, letter, line, scroll, scrollOfBoth, drag, jump, film
    }

    /// Makes a change, and returns the changed rectangles.
    package mutating func make(_ change: Change) -> [PixelRectangle] {
        switch change {
        case .nothing: return []
        case .letter: return [draw(width: 12, height: 16)]
        case .line: return [draw(width: 300, height: 20)]
        case .scroll: return [scroll(Int.random(in: 0...1, using: &numbers))]
        case .scrollOfBoth: return [scroll(0), scroll(1)]
        case .drag: return drag(Int.random(in: 0...1, using: &numbers))
        case .jump:
            let index = Int.random(in: 0...1, using: &numbers)
            windows[index].row = Int.random(in: 0..<size.height, using: &numbers)
            draw(index)
            return [windows[index].place]
        case .film: return [draw(width: size.width / 3, height: size.height / 3)]
        }
    }

    private mutating func scroll(_ index: Int) -> PixelRectangle {
        let row = windows[index].row + Int.random(in: -90...90, using: &numbers)
        windows[index].row = min(max(row, 0), size.height - 1)
        draw(index)
        return windows[index].place
    }

    /// Moves a window, and returns its old and its new place.
    private mutating func drag(_ index: Int) -> [PixelRectangle] {
        let old = windows[index].place
        for y in old.y..<old.y + old.size.height {
            let line = y * size.width + old.x..<y * size.width + old.x + old.size.width
            luma.replaceSubrange(line, with: desk[line])
        }
        let x = old.x + Int.random(in: -40...40, using: &numbers)
        let y = old.y + Int.random(in: -25...25, using: &numbers)
        windows[index].place = PixelRectangle(
            x: min(max(x, 0), size.width - old.size.width), y: min(max(y, 0), size.height - old.size.height),
            size: old.size)
        draw(1 - index)
        draw(index)
        return [old, windows[index].place]
    }

    /// Draws random content into a rectangle at a random position.
    private mutating func draw(width: Int, height: Int) -> PixelRectangle {
        let place = PixelRectangle(
            x: Int.random(in: 0...size.width - width, using: &numbers),
            y: Int.random(in: 0...size.height - height, using: &numbers), size: PixelSize(width: width, height: height))
        let seed = UInt8.random(in: 0...255, using: &numbers)
        for y in place.y..<place.y + height {
            for x in place.x..<place.x + width {
                luma[y * size.width + x] = UInt8(truncatingIfNeeded: (x ^ y) &* Int(seed | 1))
            }
        }
        return place
    }

    /// The screen as a source sends it, with colors for dark pixels.
    package var buffer: PixelBuffer {
        PixelBuffer(size: size, format: .i420) { planes, strides in
            luma.withUnsafeBufferPointer { luma in
                for y in 0..<size.height {
                    let line = luma.baseAddress.map { $0 + y * size.width }
                    guard let line, let target = planes[0].baseAddress else { return }
                    memcpy(target + y * strides[0], line, size.width)
                    guard y.isMultiple(of: 2) else { continue }
                    for x in 0..<size.width / 2 {
                        let isDark = line[x * 2] < 100
                        planes[1][y / 2 * strides[1] + x] = isDark ? 90 : 128
                        planes[2][y / 2 * strides[2] + x] = isDark ? 170 : 128
                    }
                }
            }
        }
    }
}
