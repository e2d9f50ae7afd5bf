/// Pixels in memory that the buffer owns: written once by their creator, then shared and unchanged.
public final class PixelBuffer: VideoFrameBuffer {
    /// The size in pixels.
    public let size: PixelSize
    /// The pixel format.
    public let format: PixelFormat
    private let strides: [Int]
    // The only owner of this memory, which is written in `init`, and in `rewrite` by the pool that then holds the only
    // reference: sharing it between threads is safe. The slices are kept so that lending allocates nothing.
    private nonisolated(unsafe) let storage: UnsafeMutableRawBufferPointer
    private nonisolated(unsafe) let writablePlanes: [UnsafeMutableRawBufferPointer]
    private nonisolated(unsafe) let readablePlanes: [UnsafeRawBufferPointer]

    /// Allocates the planes, with rows aligned to 64 bytes, and lets `fill` write them. The memory is not cleared
    /// first.
    public init(
        size: PixelSize, format: PixelFormat,
        fill: (_ planes: [UnsafeMutableRawBufferPointer], _ strides: [Int]) throws -> Void
    ) rethrows {
        let extents = (0..<format.planeCount).map { format.planeExtent($0, of: size) }
        let strides = extents.map { ($0.rowBytes + 63) & ~63 }
        let lengths = zip(strides, extents).map { $0 * $1.rows }
        let storage = UnsafeMutableRawBufferPointer.allocate(byteCount: max(lengths.reduce(0, +), 1), alignment: 64)
        var planes: [UnsafeMutableRawBufferPointer] = []
        var offset = 0
        for length in lengths {
            planes.append(UnsafeMutableRawBufferPointer(rebasing: storage[offset..<offset + length]))
            offset += length
        }
        self.size = size
        self.format = format
        self.strides = strides
        self.storage = storage
        self.writablePlanes = planes
        self.readablePlanes = planes.map { UnsafeRawBufferPointer($0) }
        // Every stored property is set: if `fill` throws, `deinit` frees the memory.
        try fill(planes, strides)
    }

    deinit {
        storage.deallocate()
    }

    /// Lends each plane's memory for the duration of one call.
    public func withPlanes<Result>(_ body: (borrowing PlaneSet) throws -> Result) rethrows -> Result {
        try withExtendedLifetime(self) {
            try body(PlaneSet(planes: readablePlanes, strides: strides))
        }
    }

    /// Rewrites the planes. The caller must hold the only reference to this object: see ``PixelBufferPool``.
    func rewrite(_ fill: (_ planes: [UnsafeMutableRawBufferPointer], _ strides: [Int]) throws -> Void) rethrows {
        try withExtendedLifetime(self) {
            try fill(writablePlanes, strides)
        }
    }
}
