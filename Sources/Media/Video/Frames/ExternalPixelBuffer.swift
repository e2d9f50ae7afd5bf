/// Pixels in external memory, wrapped without a copy: a frame buffer of a toolkit, a mapped file, shared memory.
///
/// The caller guarantees that the memory remains valid and unchanged until `release` is called. That happens once, on
/// the thread that drops the last reference to the buffer.
public final class ExternalPixelBuffer: VideoFrameBuffer {
    /// The size in pixels.
    public let size: PixelSize
    /// The pixel format.
    public let format: PixelFormat
    private let strides: [Int]
    // Read only, as the caller guarantees.
    private nonisolated(unsafe) let planes: [UnsafeRawBufferPointer]
    private let release: @Sendable () -> Void

    /// Wraps planes, in the order of ``PixelFormat``, whose rows are `strides` bytes apart.
    /// - Throws: If the memory is too short for the frame; `release` is not called then.
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

    /// Lends each plane's memory for the duration of one call.
    public func withPlanes<Result>(_ body: (borrowing PlaneSet) throws -> Result) rethrows -> Result {
        try withExtendedLifetime(self) {
            try body(PlaneSet(planes: planes, strides: strides))
        }
    }
}
