internal import RTCShareCYUV
package import RTCShareMedia

/// Brings any picture to I420 at the encoder's size, by libyuv (BT.601, limited range).
///
/// A picture that is I420 and of that size already is passed on as it is. Everything else is written to memory from a
/// pool, so that a steady flow of equal pictures allocates nothing. Used from one thread at a time.
package final class VideoConverter {
    private let pool: PixelBufferPool

    /// A converter with a pool of its own.
    package init() {
        // The picture at its source's size, the scaled one, the turned one, and the last one that an encoder keeps.
        pool = PixelBufferPool(capacity: 4)
    }

    /// The picture as I420 of `size`, after a clockwise turn by `rotation`.
    ///
    /// `size` is that of the result. Downscaling uses libyuv's box filter, which averages all source pixels and keeps
    /// small text legible; nothing is scaled where the size is right.
    package func convert(
        _ picture: any VideoFrameBuffer, to size: PixelSize, rotation: VideoRotation = .upright
    ) throws(VideoCodingError) -> any VideoFrameBuffer {
        try converted(picture, to: size, rotation: rotation) ?? picture
    }

    /// The same of pixels that are no frame's.
    func convert(
        _ picture: any PixelPlanes, to size: PixelSize, rotation: VideoRotation = .upright
    ) throws(VideoCodingError) -> any PixelPlanes {
        try converted(picture, to: size, rotation: rotation) ?? picture
    }

    /// Nil where the picture is as it should be.
    private func converted(
        _ picture: any PixelPlanes, to size: PixelSize, rotation: VideoRotation
    ) throws(VideoCodingError) -> PixelBuffer? {
        guard size.width > 0, size.height > 0 else { throw .emptyPicture }
        // Turning is done last, on the fewest pixels.
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
    /// Whether width and height change places.
    package var swapsSides: Bool { self == .quarter || self == .threeQuarters }
}

extension VideoRotation {
    /// As libyuv calls it.
    var libraryMode: RotationMode {
        switch self {
        case .upright: kRotate0
        case .quarter: kRotate90
        case .half: kRotate180
        case .threeQuarters: kRotate270
        }
    }
}
