/// Pixels in one of the formats that the encoder accepts, in their original memory.
public protocol PixelPlanes {
    /// The size in pixels.
    var size: PixelSize { get }
    /// The format, which determines the planes.
    var format: PixelFormat { get }
    /// Lends each plane's memory, in the order of ``PixelFormat``, for the duration of one call.
    func withPlanes<Result>(_ body: (borrowing PlaneSet) throws -> Result) rethrows -> Result
}

/// The pixels of a frame, which do not change any more, so that any thread can read them.
public protocol VideoFrameBuffer: PixelPlanes, Sendable {}

/// The planes of a frame, lent for a call. Strides are the bytes from one row to the next.
public struct PlaneSet: ~Copyable {
    /// Each plane's memory, valid only during the call.
    public let planes: [UnsafeRawBufferPointer]
    /// Each plane's stride in bytes.
    public let strides: [Int]

    /// Creates the planes of a frame. The caller keeps their memory alive while it lends this.
    public init(planes: [UnsafeRawBufferPointer], strides: [Int]) {
        self.planes = planes
        self.strides = strides
    }
}
