internal import RTCShareCYUV
internal import RTCShareMedia

/// The amount of content in a frame. The encoded size at one quantizer is about proportional to it, for text, video or
/// a blurred page.
enum PictureActivity {
    /// The step between the evaluated rows of a macroblock: every fourth row is sufficient, in a quarter of the time.
    private static let step = 4

    /// Returns the sum of the macroblocks' values (of `map`; nil for all).
    static func sum(
        of picture: any PixelPlanes, in map: MacroblockMap? = nil
    ) throws(VideoCodingError) -> Double {
        var total = 0.0
        try forEach(of: picture, in: map) { _, activity in
            total += activity
            return true
        }
        return total
    }

    /// Calls `body` with the index and the value of each macroblock (of `map`; nil for all), until it returns false. The
    /// value is the root mean square of the differences between a luma pixel and its neighbors to the right and below.
    static func forEach(
        of picture: any PixelPlanes, in map: MacroblockMap?, _ body: (_ index: Int, _ activity: Double) -> Bool
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
                    guard body(index, activity) else { return }
                }
            }
        }
    }

    private static func distance(
        _ one: UnsafePointer<UInt8>, _ other: UnsafePointer<UInt8>, _ stride: Int, width: Int, height: Int
    ) -> UInt64 {
        guard width > 0, height > 0 else { return 0 }
        let spread = Int32(stride * step)
        return ComputeSumSquareErrorPlane(one, spread, other, spread, Int32(width), Int32((height + step - 1) / step))
    }
}
