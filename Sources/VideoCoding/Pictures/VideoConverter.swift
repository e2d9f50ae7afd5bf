internal import RTCShareCYUV
package import RTCShareMedia

/// Converts any frame to I420 at the encoder's size, with libyuv (BT.601, limited range).
///
/// A frame that is already I420 of that size is returned unchanged. Others are written to memory from a pool, so that a
/// steady flow of equal frames allocates nothing. One thread at a time can use it.
package final class VideoConverter {
    private let pool: PixelBufferPool

    /// Creates a converter with its own pool.
    package init() {
        // The capacity is for the converted frame, the scaled one, the rotated one, and the last one that an encoder
        // keeps.
        pool = PixelBufferPool(capacity: 4)
    }

    /// Returns the frame as I420 of `size`, after a clockwise rotation by `rotation`.
    ///
    /// `size` is that of the result. Downscaling uses libyuv's box filter, which averages all source pixels and keeps
    /// small text legible. A frame of the right size is not scaled.
    package func convert(
        _ picture: any VideoFrameBuffer, to size: PixelSize, rotation: VideoRotation = .upright
    ) throws(VideoCodingError) -> any VideoFrameBuffer {
        try converted(picture, to: size, rotation: rotation) ?? picture
    }

    /// Returns the conversion of pixels that do not belong to a frame.
    func convert(
        _ picture: any PixelPlanes, to size: PixelSize, rotation: VideoRotation = .upright
    ) throws(VideoCodingError) -> any PixelPlanes {
        try converted(picture, to: size, rotation: rotation) ?? picture
    }

    /// Returns the converted frame; nil if no conversion is necessary.
    private func converted(
        _ picture: any PixelPlanes, to size: PixelSize, rotation: VideoRotation
    ) throws(VideoCodingError) -> PixelBuffer? {
        guard size.width > 0, size.height > 0 else { throw .emptyPicture }
        // Rotation is last, on the fewest pixels.
        let sizeBeforeTurn = rotation.swapsSides ? PixelSize(width: size.height, height: size.width) : size
        var result = picture.format == .i420 ? nil : try convertToI420(picture)
        if (result?.size ?? picture.size) != sizeBeforeTurn {
            result = try scale(result ?? picture, to: sizeBeforeTurn)
        }
        if rotation != .upright { result = try turn(result ?? picture, by: rotation, to: size) }
        return result
    }

    private func convertToI420(_ picture: any PixelPlanes) throws(VideoCodingError) -> PixelBuffer {
        let (whole, pool) = (PixelRectangle(x: 0, y: 0, size: picture.size), pool)
        let format = picture.format
        return try picture.withPlanePointers { (source) throws(VideoCodingError) in
            try pool.makeI420(size: whole.size) { (luma, blue, red) throws(VideoCodingError) in
                try source.convert(
                    whole, format,
                    to: I420Samples(
                        luma: luma.first, blue: blue.first, red: red.first, lumaStride: Int(luma.stride),
                        chromaStride: Int(blue.stride)))
            }
        }
    }

    private func scale(_ picture: any PixelPlanes, to size: PixelSize) throws(VideoCodingError) -> PixelBuffer {
        let (from, pool) = (picture.size, pool)
        return try picture.withPlanePointers { (source) throws(VideoCodingError) in
            let (first, second, third) = (source.first, source.second, source.third)
            return try pool.makeI420(size: size) { (luma, blue, red) throws(VideoCodingError) in
                try checkYUV(
                    "I420Scale",
                    I420Scale(
                        first.first, first.stride, second.first, second.stride, third.first, third.stride,
                        Int32(clamping: from.width), Int32(clamping: from.height), luma.first, luma.stride,
                        blue.first, blue.stride, red.first, red.stride, Int32(clamping: size.width),
                        Int32(clamping: size.height), kFilterBox))
            }
        }
    }

    private func turn(
        _ picture: any PixelPlanes, by rotation: VideoRotation, to size: PixelSize
    ) throws(VideoCodingError) -> PixelBuffer {
        let (from, pool) = (picture.size, pool)
        return try picture.withPlanePointers { (source) throws(VideoCodingError) in
            let (first, second, third) = (source.first, source.second, source.third)
            return try pool.makeI420(size: size) { (luma, blue, red) throws(VideoCodingError) in
                try checkYUV(
                    "I420Rotate",
                    I420Rotate(
                        first.first, first.stride, second.first, second.stride, third.first, third.stride,
                        luma.first, luma.stride, blue.first, blue.stride, red.first, red.stride,
                        Int32(clamping: from.width), Int32(clamping: from.height), rotation.libraryMode))
            }
        }
    }
}

extension VideoRotation {
    /// Whether the rotation swaps width and height.
    package var swapsSides: Bool { self == .quarter || self == .threeQuarters }
}

extension VideoRotation {
    /// libyuv's name of the rotation.
    var libraryMode: RotationMode {
        switch self {
        case .upright: kRotate0
        case .quarter: kRotate90
        case .half: kRotate180
        case .threeQuarters: kRotate270
        }
    }
}
