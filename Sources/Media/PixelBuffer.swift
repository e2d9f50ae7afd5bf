/// Pixels in memory of their own: written once through `init`, then shared and never changed.
public final class PixelBuffer: VideoFrameBuffer {
    /// Columns and rows.
    public let size: PixelSize
    /// The layout.
    public let format: PixelFormat
    private let offsets: [Int]
    private let strides: [Int]
    // The one owner of this memory, and nobody writes after `init`: sharing it between threads is safe.
    private nonisolated(unsafe) let storage: UnsafeMutableRawBufferPointer

    /// Allocates the planes, rows aligned to 64 bytes, and has `fill` write them. The memory is not cleared first.
    public init(
        size: PixelSize, format: PixelFormat,
        fill: (_ planes: [UnsafeMutableRawBufferPointer], _ strides: [Int]) throws -> Void
    ) rethrows {
        var offsets: [Int] = []
        var strides: [Int] = []
        var total = 0
        var planeLengths: [Int] = []
        for plane in 0..<format.planeCount {
            let extent = format.planeExtent(plane, of: size)
            let stride = (extent.rowBytes + 63) & ~63
            offsets.append(total)
            strides.append(stride)
            planeLengths.append(stride * extent.rows)
            total += stride * extent.rows
        }
        self.size = size
        self.format = format
        self.offsets = offsets
        self.strides = strides
        let storage = UnsafeMutableRawBufferPointer.allocate(byteCount: max(total, 1), alignment: 64)
        unsafe self.storage = storage
        // Every stored property is set: should `fill` throw, `deinit` frees the memory.
        let planes = zip(offsets, planeLengths).map { offset, length in
            unsafe UnsafeMutableRawBufferPointer(rebasing: storage[offset..<offset + length])
        }
        try fill(planes, strides)
    }

    deinit {
        unsafe storage.deallocate()
    }

    /// Lends each plane's memory for the time of one call.
    public func withPlanes<Result>(_ body: (borrowing PlaneSet) throws -> Result) rethrows -> Result {
        let planes = (0..<format.planeCount).map { plane in
            let length = strides[plane] * format.planeExtent(plane, of: size).rows
            return unsafe UnsafeRawBufferPointer(rebasing: storage[offsets[plane]..<offsets[plane] + length])
        }
        return try body(PlaneSet(planes: planes, strides: strides))
    }
}
