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

/// The planes of an I420 frame under construction.
struct Planes {
    let planes: [UnsafeMutableRawBufferPointer]
    let strides: [Int]

    /// Returns the address of a plane's sample at column `x`, row `y` of that plane.
    private func address(_ plane: Int, _ x: Int, _ y: Int) -> UnsafeMutablePointer<UInt8>? {
        planes[plane].baseAddress?.advanced(by: y * strides[plane] + x).assumingMemoryBound(to: UInt8.self)
    }

    /// Draws a rectangle, whose position and size are even, through a canvas.
    func draw(_ rectangle: PixelRectangle, _ body: (borrowing Canvas) -> Void) {
        let canvas = Canvas(size: rectangle.size)
        body(canvas)
        let (x, y) = (rectangle.x, rectangle.y)
        canvas.withPixels { pixels, stride in
            _ = ARGBToI420(
                pixels, stride, address(0, x, y), Int32(strides[0]), address(1, x / 2, y / 2), Int32(strides[1]),
                address(2, x / 2, y / 2), Int32(strides[2]), Int32(rectangle.size.width),
                Int32(rectangle.size.height))
        }
    }

    /// Copies a part of an I420 frame; positions and sizes are even.
    func copy(_ source: borrowing PlaneSet, from origin: (x: Int, y: Int), to rectangle: PixelRectangle) {
        for plane in 0..<3 {
            let divisor = plane == 0 ? 1 : 2
            let offset = origin.y / divisor * source.strides[plane] + origin.x / divisor
            CopyPlane(
                source.planes[plane].baseAddress?.advanced(by: offset).assumingMemoryBound(to: UInt8.self),
                Int32(source.strides[plane]), address(plane, rectangle.x / divisor, rectangle.y / divisor),
                Int32(strides[plane]), Int32(rectangle.size.width / divisor),
                Int32(rectangle.size.height / divisor))
        }
    }
}
