extension VideoFrame {
    /// The maximum length of a side: the one that VP8's key frame header can encode (RFC 6386 §9.1).
    public static let maximumSide = 16_383

    /// Checks that the buffer has the memory that its size and format require.
    public func validate() throws(VideoFrameError) {
        for size in [buffer.size, outputSize] {
            guard (1...Self.maximumSide).contains(size.width), (1...Self.maximumSide).contains(size.height) else {
                throw .size(size)
            }
        }
        let (size, format) = (buffer.size, buffer.format)
        let problem = buffer.withPlanes { set in set.problem(size: size, format: format) }
        if let problem { throw problem }
    }
}

extension PlaneSet {
    /// Returns the problem of these planes as a frame of `size` in `format`; nil if there is none.
    func problem(size: PixelSize, format: PixelFormat) -> VideoFrameError? {
        guard planes.count == format.planeCount, strides.count == format.planeCount else {
            return .planeCount(min(planes.count, strides.count), format: format)
        }
        for plane in 0..<format.planeCount {
            let extent = format.planeExtent(plane, of: size)
            let stride = strides[plane]
            guard stride >= extent.rowBytes else {
                return .stride(stride, plane: plane, minimum: extent.rowBytes)
            }
            let (body, overflow) = stride.multipliedReportingOverflow(by: extent.rows - 1)
            let needed = overflow ? Int.max : body + extent.rowBytes
            guard planes[plane].count >= needed else {
                return .planeTooShort(planes[plane].count, plane: plane, minimum: needed)
            }
        }
        return nil
    }
}
