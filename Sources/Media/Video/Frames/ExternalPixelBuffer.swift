/// Pixels in somebody else's memory, wrapped without a copy: a frame buffer of a toolkit, a mapped file, shared memory.
///
/// Whoever wraps memory promises that it stays, and is not written, until `release` is called; that happens once, on
/// whatever thread lets go of the buffer last.
public final class ExternalPixelBuffer: VideoFrameBuffer {
    /// Columns and rows.
    public let size: PixelSize
    /// The layout.
    public let format: PixelFormat
    private let strides: [Int]
    // Read only, by the promise of whoever wrapped it.
    private nonisolated(unsafe) let planes: [UnsafeRawBufferPointer]
    private let release: @Sendable () -> Void

    /// Wraps planes, in the order of ``PixelFormat``, whose rows lie `strides` bytes apart.
    /// - Throws: where the memory is too short for the picture; `release` is not called then.
    public init(
        size: PixelSize, format: PixelFormat, planes: [UnsafeRawBufferPointer], strides: [Int],
        release: @escaping @Sendable () -> Void
    ) throws(VideoFrameError) {
        for side in [size.width, size.height] where !(1...VideoFrame.maximumSide).contains(side) { throw .size(size) }
        let problem = PlaneSet(planes: planes, strides: strides).problem(size: size, format: format)
        if let problem { throw problem }
        self.size = size
        self.format = format
        self.planes = planes
        self.strides = strides
        self.release = release
    }

    deinit {
        release()
    }

    /// Lends each plane's memory for the time of one call.
    public func withPlanes<Result>(_ body: (borrowing PlaneSet) throws -> Result) rethrows -> Result {
        try withExtendedLifetime(self) {
            try body(PlaneSet(planes: planes, strides: strides))
        }
    }
}
