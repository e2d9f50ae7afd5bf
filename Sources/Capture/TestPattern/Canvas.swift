import RTCShareCYUV
import RTCShareMedia

/// A canvas in red, green and blue; drawing outside is clipped.
struct Canvas: ~Copyable {
    /// A color in libyuv's 0xAARRGGBB.
    struct Colour: Sendable {
        let value: UInt32

        static let white = Colour(value: 0xFFFF_FFFF)
        static let black = Colour(value: 0xFF00_0000)
        static let grey = Colour(value: 0xFFA0_A0A0)
        static let slate = Colour(value: 0xFF20_2830)
        static let red = Colour(value: 0xFFD0_2020)
        static let green = Colour(value: 0xFF30_C040)
        static let blue = Colour(value: 0xFF20_30D0)
        static let yellow = Colour(value: 0xFFF0_E040)
        static let cyan = Colour(value: 0xFF30_D0D0)
        static let magenta = Colour(value: 0xFFC0_30C0)
        static let orange = Colour(value: 0xFFF0_9020)
        static let navy = Colour(value: 0xFF10_1850)
    }

    let size: PixelSize
    private let pixels: UnsafeMutableBufferPointer<UInt32>

    init(size: PixelSize) {
        self.size = size
        pixels = .allocate(capacity: size.area)
        pixels.initialize(repeating: 0)
    }

    deinit {
        pixels.deallocate()
    }

    /// Fills a rectangle.
    func fill(_ x: Int, _ y: Int, _ width: Int, _ height: Int, _ colour: Colour) {
        let columns = max(x, 0)..<max(min(x + width, size.width), max(x, 0))
        guard !columns.isEmpty else { return }
        for row in max(y, 0)..<max(min(y + height, size.height), max(y, 0)) {
            let start = row * size.width
            pixels[start + columns.lowerBound..<start + columns.upperBound].update(repeating: colour.value)
        }
    }

    /// Draws `text` in one line, each of the font's points `scale` pixels wide and high.
    func text(_ text: String, x: Int, y: Int, scale: Int, _ colour: Colour) {
        var left = x
        for character in text.utf8 {
            guard left < size.width else { return }
            for (row, bits) in BitmapFont.rows(of: character).enumerated() where bits != 0 {
                for column in 0..<BitmapFont.width where bits >> UInt8(BitmapFont.width - 1 - column) & 1 == 1 {
                    fill(left + column * scale, y + row * scale, scale, scale, colour)
                }
            }
            left += BitmapFont.advance * scale
        }
    }

    /// Lends the pixels, in rows without gaps.
    func withPixels(_ body: (UnsafePointer<UInt8>, _ stride: Int32) -> Void) {
        pixels.withMemoryRebound(to: UInt8.self) { bytes in
            if let base = bytes.baseAddress { body(base, Int32(size.width * 4)) }
        }
    }
}
