package import RTCShareMedia

/// The offsets of a frame's planes in one block of memory, with rows aligned to 64 bytes.
package struct PlaneLayout: Sendable {
    package let ranges: [Range<Int>]
    package let strides: [Int]
    package let byteCount: Int

    package init(size: PixelSize, format: PixelFormat) {
        var ranges: [Range<Int>] = []
        var strides: [Int] = []
        var total = 0
        for plane in 0..<format.planeCount {
            let extent = format.planeExtent(plane, of: size)
            let stride = (extent.rowBytes + 63) & ~63
            ranges.append(total..<total + stride * extent.rows)
            strides.append(stride)
            total += stride * extent.rows
        }
        self.ranges = ranges
        self.strides = strides
        byteCount = total
    }

    func slices(of memory: UnsafeMutableRawBufferPointer) -> [UnsafeMutableRawBufferPointer] {
        ranges.map { UnsafeMutableRawBufferPointer(rebasing: memory[$0]) }
    }
}
