internal import Glibc
internal import RTCShareMedia

/// The colors of a block with at most eight (AV1 §5.11.46). A color is a luma sample, or a blue one and a red one.
struct Palette: Equatable {
    /// The maximum number of colors (AV1 §3, PALETTE_COLORS).
    static let mostColors = 8

    /// The colors in ascending order; those after ``count`` have no meaning. Of chroma, blue is the upper byte.
    private(set) var colors = SIMD8<UInt16>(repeating: 0)
    /// The number of colors; zero for none.
    private(set) var count = 0

    /// The colors in ascending order.
    var values: [UInt16] { (0..<count).map { colors[$0] } }

    /// Creates an empty palette.
    init() {}

    /// Creates the palette of a block's colors; nil if there are too many.
    init?(_ block: UnsafeBufferPointer<UInt16>) {
        guard var last = block.first else { return }
        let found = withUnsafeTemporaryAllocation(of: UInt16.self, capacity: Self.mostColors) { colors in
            colors[0] = last
            var count = 1
            for color in block where color != last {
                last = color
                var place = 0
                while place < count, colors[place] < color { place += 1 }
                if place < count, colors[place] == color { continue }
                guard count < Self.mostColors else { return nil as Self? }
                for index in stride(from: count, to: place, by: -1) { colors[index] = colors[index - 1] }
                colors[place] = color
                count += 1
            }
            var palette = Self()
            for index in 0..<count { palette.colors[index] = colors[index] }
            palette.count = count
            return palette
        }
        guard let found else { return nil }
        self = found
    }

    /// Adds a color that is not used if there is only one, as in luma a palette has at least two different ones.
    mutating func fill(distinctly: Bool) {
        guard count == 1 else { return }
        count = 2
        colors[1] = colors[0]
        guard distinctly else { return }
        if colors[0] == 255 { colors[0] = 254 } else { colors[1] = colors[0] + 1 }
    }

    /// Returns the index of a color of the palette.
    @inline(__always)
    func index(of color: UInt16) -> Int {
        var index = 0
        while index < count - 1, colors[index] != color { index += 1 }
        return index
    }
}

/// The colors of a macroblock, or the part of one that is within the frame: whole cells of 8 by 8 pixels.
struct BlockColors {
    private(set) var luma: [UInt16] = Array(repeating: 0, count: 256)
    private(set) var chroma: [UInt16] = Array(repeating: 0, count: 64)
    /// The size in pixels.
    private(set) var width = 16
    private(set) var height = 16

    /// Reads the block at a pixel of an I420 image of `size`. Pixels outside the image are those at its edge.
    mutating func read(_ image: PlanePointers, x: Int, y: Int, in size: PixelSize) {
        width = min(16, (size.width - x + 7) & ~7)
        height = min(16, (size.height - y + 7) & ~7)
        let (lastX, lastY) = (size.width - 1, size.height - 1)
        for row in 0..<height {
            let line = image.first.first + min(y + row, lastY) * Int(image.first.stride)
            for column in 0..<width { luma[row * width + column] = UInt16(line[min(x + column, lastX)]) }
        }
        for row in 0..<height / 2 {
            let line = min(y / 2 + row, lastY / 2)
            let (blue, red) = (line * Int(image.second.stride), line * Int(image.third.stride))
            for column in 0..<width / 2 {
                let place = min(x / 2 + column, lastX / 2)
                chroma[row * width / 2 + column] =
                    UInt16(image.second.first[blue + place]) << 8 | UInt16(image.third.first[red + place])
            }
        }
    }

    /// The smallest difference between the colors of text. libaom codes a gradient in fewer bits.
    private static let leastContrast: UInt16 = 24

    /// The approximate bits that the block takes as palettes, as measured with text; nil if there are too many colors, or
    /// if it is a gradient or noise.
    var paintingBits: Double? {
        let (least, most, lumaChanges) = Self.changes(luma, width * height)
        guard least == most || most - least >= Self.leastContrast, lumaChanges <= width * height / 2,
            let (luma, chroma) = palettes
        else { return nil }
        let chromaChanges = Self.changes(self.chroma, width * height / 4).count
        return 8 + (luma.count == 1 ? 0 : Double(6 * luma.count) + 2 * log2(Double(luma.count)) * Double(lumaChanges))
            + (chroma.count == 1
                ? 0 : Double(14 * chroma.count) + 2.9 * log2(Double(chroma.count)) * Double(chromaChanges))
    }

    /// Returns the least and the largest color, and the number of samples of another color than the one before.
    private static func changes(_ samples: [UInt16], _ length: Int) -> (least: UInt16, most: UInt16, count: Int) {
        samples.withUnsafeBufferPointer { samples in
            var (least, most, count) = (samples[0], samples[0], UInt16(0))
            for place in 1..<length {
                least = min(least, samples[place])
                most = max(most, samples[place])
                count &+= samples[place] != samples[place - 1] ? 1 : 0
            }
            return (least, most, Int(count))
        }
    }

    /// The palettes; nil if there are too many colors.
    var palettes: (luma: Palette, chroma: Palette)? {
        let count = width * height
        guard let luma = luma.withUnsafeBufferPointer({ Palette(UnsafeBufferPointer(rebasing: $0[..<count])) }),
            let chroma = chroma.withUnsafeBufferPointer({ Palette(UnsafeBufferPointer(rebasing: $0[..<(count / 4)])) })
        else { return nil }
        return (luma, chroma)
    }
}
