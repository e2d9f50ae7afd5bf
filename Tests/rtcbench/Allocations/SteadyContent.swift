internal import RTCShareMedia
internal import RTCShareNetworkSimulation

/// Frames of a screen in a ring with the changes of each, created before anything is counted.
struct SteadyContent: Sendable {
    let content: ScreenContent
    private let buffers: [PixelBuffer]
    private let damage: [[PixelRectangle]]

    /// The number of rows of a scroll, and of frames in a ring that scrolls or moves.
    private static let step = 16
    private static let count = 12
    private static let glyph = PixelSize(width: 8, height: 12)

    /// Creates the frames of `content` on a screen of `size`, the same on each machine.
    init(_ content: ScreenContent, size: PixelSize) {
        self.content = content
        var random = SeededGenerator(seed: 5)
        let whole = PixelRectangle(x: 0, y: 0, size: size)
        switch content {
        case .motion, .video, .switching:
            let pictures = (0..<Self.count).map { _ in Self.page(size, &random, colours: true) }
            buffers = pictures.map { Self.buffer($0, size, from: 0) }
            damage = Array(repeating: [whole], count: Self.count)
        case .scrolling:
            // The ring continues with the first after the last.
            let page = Self.page(
                PixelSize(width: size.width, height: size.height + Self.step * (Self.count - 1)), &random)
            buffers = (0..<Self.count).map { Self.buffer(page, size, from: $0 * Self.step) }
            damage = Array(repeating: [whole], count: Self.count)
        case .typing, .still:
            let page = Self.page(size, &random)
            var (buffers, damage) = ([Self.buffer(page, size, from: 0)], [[PixelRectangle]]())
            let letters = content == .typing ? Self.count : 0
            let line = PixelRectangle(
                x: 64, y: 64, size: PixelSize(width: letters * Self.glyph.width, height: Self.glyph.height))
            for index in 0..<letters {
                let place = PixelRectangle(x: 64 + index * Self.glyph.width, y: 64, size: Self.glyph)
                var letters = page
                for column in 64..<place.x + Self.glyph.width {
                    for row in 64..<64 + Self.glyph.height where (column * 5 + row * 3) % 7 < 3 {
                        letters[row * size.width + column] ^= 0xFFFFFF
                    }
                }
                buffers.append(Self.buffer(letters, size, from: 0))
                damage.append([place])
            }
            self.buffers = buffers
            // The first frame has the content before all letters.
            self.damage = [[line]] + damage
        }
    }

    /// Returns the frame with this number, captured now.
    func frame(_ index: Int, timestamp: Duration) -> VideoFrame {
        let place = index % buffers.count
        return VideoFrame(
            buffer: buffers[place], timestamp: timestamp, damage: content == .still && index > 0 ? [] : damage[place])
    }

    /// Returns letters of random dots in lines, or colored squares.
    private static func page(
        _ size: PixelSize, _ random: inout SeededGenerator, colours: Bool = false
    ) -> [UInt32] {
        var pixels = [UInt32](repeating: 0xFFFFFF, count: size.area)
        for top in stride(from: 0, to: size.height, by: 16) {
            for left in stride(from: 0, to: size.width, by: 8) {
                let dots = random.next()
                let ink = colours ? UInt32(truncatingIfNeeded: dots) & 0xFFFFFF : 0x202020
                for row in 0..<min(12, size.height - top) {
                    for column in 0..<min(7, size.width - left)
                    where colours || dots >> UInt64((row * 7 + column) % 61) & 3 == 0 {
                        pixels[(top + row) * size.width + left + column] = ink
                    }
                }
            }
        }
        return pixels
    }

    /// Returns a frame of `size` from a row of `pixels` on.
    private static func buffer(_ pixels: [UInt32], _ size: PixelSize, from first: Int) -> PixelBuffer {
        ScreenCanvas.picture(Array(pixels[first * size.width..<first * size.width + size.area]), size: size)
    }
}
