internal import RTCShareMedia

/// The amount of content in a frame. The encoded size at one quantizer is about proportional to it, for text, video or
/// a blurred page.
///
/// The value of a macroblock is the root mean square of the differences between a luma pixel and its neighbors to the
/// right and below.
struct PictureActivity: Sendable, Equatable {
    /// The sum of the macroblocks with more colors than a palette has, or of all.
    private(set) var natural = 0.0
    /// The sum of the macroblocks that a palette can hold, where these are told apart.
    private(set) var flat = 0.0
    /// The step between the evaluated rows of a macroblock: every fourth row is sufficient, in a quarter of the time.
    private static let step = 4

    static func + (one: Self, other: Self) -> Self {
        Self(natural: one.natural + other.natural, flat: one.flat + other.flat)
    }

    static func - (one: Self, other: Self) -> Self {
        Self(natural: one.natural - other.natural, flat: one.flat - other.flat)
    }

    static func * (one: Self, factor: Double) -> Self { Self(natural: one.natural * factor, flat: one.flat * factor) }

    /// Returns the sum of the macroblocks' values (of `map`; nil for all).
    ///
    /// - Parameter hasPalettes: Whether macroblocks with few colors are told apart.
    static func sum(
        of picture: any PixelPlanes, in map: MacroblockMap? = nil, hasPalettes: Bool = false
    ) throws(VideoCodingError) -> Self {
        var total = Self()
        try forEach(of: picture, in: map, hasPalettes: hasPalettes) { _, activity in
            total = total + activity
            return true
        }
        return total
    }

    /// Calls `body` with the index and the value of each macroblock (of `map`; nil for all), until it returns false.
    static func forEach(
        of picture: any PixelPlanes, in map: MacroblockMap?, hasPalettes: Bool = false,
        _ body: (_ index: Int, _ activity: Self) -> Bool
    ) throws(VideoCodingError) {
        let size = picture.size
        let columns = (size.width + 15) / 16
        try picture.withPlanePointers { (planes) throws(VideoCodingError) in
            let (luma, stride) = (planes.first.first, Int(planes.first.stride))
            for top in Swift.stride(from: 0, to: size.height, by: 16) {
                for left in Swift.stride(from: 0, to: size.width, by: 16) {
                    let index = top / 16 * columns + left / 16
                    if let map, map.cells[index] == 0 { continue }
                    let (width, height) = (min(16, size.width - left), min(16, size.height - top))
                    let place = luma + top * stride + left
                    let right = min(width, size.width - left - 1)
                    let below = min(height, size.height - top - 1)
                    let squares =
                        distance(place, place + 1, stride, width: right, height: height)
                        + distance(place, place + stride, stride, width: width, height: below)
                    let activity = (Double(squares) / Double(width * height * 2 / step + 1)).squareRoot()
                    let isFlat = hasPalettes && isFlat(place, stride, width: width, height: height)
                    guard body(index, isFlat ? Self(flat: activity) : Self(natural: activity)) else { return }
                }
            }
        }
    }

    private static func distance(
        _ one: UnsafePointer<UInt8>, _ other: UnsafePointer<UInt8>, _ stride: Int, width: Int, height: Int
    ) -> UInt64 {
        guard width > 0, height > 0 else { return 0 }
        return PlanePointer.sumOfSquaredDifferences(
            one, other, (stride * step, stride * step), width: width, height: (height + step - 1) / step)
    }

    private static let eachByte: UInt64 = 0x0101_0101_0101_0101

    /// Whether a macroblock has at most as many colors as a palette.
    private static func isFlat(_ place: UnsafePointer<UInt8>, _ stride: Int, width: Int, height: Int) -> Bool {
        // A byte for each color, of which those not found yet are the first one.
        var colors = UInt64(place[0]) &* Self.eachByte
        var count = 1
        var last = place[0]
        for row in Swift.stride(from: 0, to: height, by: step) {
            for column in 0..<width {
                let color = place[row * stride + column]
                guard color != last else { continue }
                last = color
                // A byte that is zero is that of the color.
                let differences = colors ^ (UInt64(color) &* Self.eachByte)
                guard (differences &- Self.eachByte) & ~differences & (Self.eachByte << 7) == 0 else { continue }
                guard count < Palette.mostColors else { return false }
                colors = colors & ~(0xFF << UInt64(count * 8)) | UInt64(color) << UInt64(count * 8)
                count += 1
            }
        }
        return true
    }
}
