/// The reason why a frame is invalid.
public enum VideoFrameError: Error, Sendable, Hashable, CustomStringConvertible {
    /// A side is zero, negative, or longer than ``VideoFrame/maximumSide``.
    case size(PixelSize)
    /// The number of planes differs from the format's.
    case planeCount(Int, format: PixelFormat)
    /// A stride in bytes is shorter than a row.
    case stride(Int, plane: Int, minimum: Int)
    /// A plane's memory, in bytes, ends before its last row.
    case planeTooShort(Int, plane: Int, minimum: Int)

    /// The problem and the valid values.
    public var description: String {
        switch self {
        case .size(let size):
            "a frame of \(size) can't be used; each side must have 1 to \(VideoFrame.maximumSide) pixels"
        case .planeCount(let count, let format):
            "a frame in \(format) has \(count) planes; it must have \(format.planeCount)"
        case .stride(let stride, let plane, let minimum):
            "plane \(plane) of a frame has a stride of \(stride) bytes; a row takes \(minimum)"
        case .planeTooShort(let count, let plane, let minimum):
            "plane \(plane) of a frame has \(count) bytes; its rows take \(minimum)"
        }
    }
}
