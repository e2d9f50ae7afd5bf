internal import RTCShareCYUV
package import RTCShareMedia

/// The similarity of two I420 frames, computed by libyuv.
package enum StructuralSimilarity {
    /// The minimum side of frames that can be compared: one window and a step.
    package static let smallestSide = 9

    /// Returns the SSIM of the luma planes, 1 for equal frames: the mean over 8 by 8 windows, one every 4 pixels in
    /// both directions, with the usual constants K1 = 0.01 and K2 = 0.03 (libyuv's `CalcFrameSsim`).
    package static func luma(
        _ one: any PixelPlanes, _ other: any PixelPlanes
    ) throws(VideoCodingError) -> Double {
        guard one.size.width >= smallestSide, one.size.height >= smallestSide else { throw .emptyPicture }
        return try compare(one, other, by: CalcFrameSsim)
    }

    /// Returns the PSNR of the luma planes in decibels. libyuv returns 128 for equal frames.
    package static func peakSignalToNoiseRatio(
        _ one: any PixelPlanes, _ other: any PixelPlanes
    ) throws(VideoCodingError) -> Double {
        try compare(one, other, by: CalcFramePsnr)
    }

    private static func compare(
        _ one: any PixelPlanes, _ other: any PixelPlanes,
        by measure: (UnsafePointer<UInt8>?, Int32, UnsafePointer<UInt8>?, Int32, Int32, Int32) -> Double
    ) throws(VideoCodingError) -> Double {
        guard one.size == other.size else { throw .sizesDiffer(one.size, other.size) }
        for picture in [one, other] where picture.format != .i420 {
            throw .unexpectedPicture(size: picture.size, format: picture.format, expected: one.size)
        }
        let size = one.size
        return try one.withPlanePointers { (planes) throws(VideoCodingError) -> Double in
            let first = planes.first
            return try other.withPlanePointers { (planes) throws(VideoCodingError) -> Double in
                measure(
                    first.first, first.stride, planes.first.first, planes.first.stride, Int32(clamping: size.width),
                    Int32(clamping: size.height))
            }
        }
    }
}
