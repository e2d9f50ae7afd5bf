import RTCShareCYUV
import RTCShareMedia

/// Converts the frames of a camera to I420.
struct CameraPictures {
    let format: CameraFormat
    private let pool = FramePool()

    init(_ format: CameraFormat) {
        self.format = format
    }

    /// The frames' size, with even sides.
    var size: PixelSize { Self.size(of: format) }

    /// Returns the frames' size for a format, with even sides.
    static func size(of format: CameraFormat) -> PixelSize { PixelRectangle(x: 0, y: 0, size: format.size).even.size }

    /// Returns the frame in a buffer; nil if the buffer is too short, or not a JPEG image. `stride` is zero if it is
    /// unknown.
    func picture(of bytes: UnsafeRawBufferPointer, stride: Int) throws(CaptureError) -> (any VideoFrameBuffer)? {
        guard let base = bytes.baseAddress?.assumingMemoryBound(to: UInt8.self) else { return nil }
        let (whole, size) = (format.size, size)
        let layout = Layout(format, stride: stride)
        guard format.pixels == .mjpeg || bytes.count >= layout.byteCount else { return nil }
        var status: Int32 = -1
        let picture = try pool.buffer(size: size, format: .i420) { planes, strides throws(CaptureError) in
            func plane(_ index: Int) -> (UnsafeMutablePointer<UInt8>?, Int32) {
                (planes[index].baseAddress?.assumingMemoryBound(to: UInt8.self), Int32(strides[index]))
            }
            let ((y, yStride), (u, uStride), (v, vStride)) = (plane(0), plane(1), plane(2))
            let (width, height) = (Int32(size.width), Int32(size.height))
            let row = Int32(layout.stride)
            let chroma = base + layout.chroma
            switch format.pixels {
            case .yuy2: status = YUY2ToI420(base, row, y, yStride, u, uStride, v, vStride, width, height)
            case .nv12: status = NV12ToI420(base, row, chroma, row, y, yStride, u, uStride, v, vStride, width, height)
            case .i420:
                let half = Int32(layout.stride / 2)
                status = I420Copy(
                    base, row, chroma, half, chroma + layout.chromaByteCount, half, y, yStride, u, uStride, v, vStride,
                    width, height)
            case .mjpeg:
                status = MJPGToI420(
                    base, bytes.count, y, yStride, u, uStride, v, vStride, Int32(whole.width), Int32(whole.height),
                    width, height)
                if status == 0 { Self.narrow(planes) }
            case .bgrx: status = ARGBToI420(base, row, y, yStride, u, uStride, v, vStride, width, height)
            case .rgbx: status = ABGRToI420(base, row, y, yStride, u, uStride, v, vStride, width, height)
            case .bgr: status = RGB24ToI420(base, row, y, yStride, u, uStride, v, vStride, width, height)
            case .rgb: status = RAWToI420(base, row, y, yStride, u, uStride, v, vStride, width, height)
            }
        }
        return status == 0 ? picture : nil
    }

    /// Converts to limited range. JPEG's samples use all values of a byte (JFIF 1.02 §7), other video has luma of 16 to
    /// 235 and chroma of 16 to 240.
    private static func narrow(_ planes: [UnsafeMutableRawBufferPointer]) {
        for (index, plane) in planes.enumerated() {
            let (factor, offset): (UInt16, UInt16) = index == 0 ? (220, 16 * 256 + 128) : (225, 16 * 256)
            for place in plane.indices {
                plane[place] = UInt8(truncatingIfNeeded: (UInt16(plane[place]) &* factor &+ offset) >> 8)
            }
        }
    }

    /// The layout of a buffer.
    private struct Layout {
        /// The bytes from row to row, of luma if that has a plane of its own.
        let stride: Int
        /// The offset of the chroma planes.
        let chroma: Int
        /// The size of one of these planes.
        let chromaByteCount: Int
        /// The minimum size of a frame.
        let byteCount: Int

        init(_ format: CameraFormat, stride told: Int) {
            let (width, height) = (format.size.width, format.size.height)
            let rowBytes =
                switch format.pixels {
                case .yuy2: (width + 1) / 2 * 4
                case .nv12, .i420, .mjpeg: width
                case .bgrx, .rgbx: width * 4
                case .bgr, .rgb: width * 3
                }
            // GStreamer, if it reports no stride, aligns rows to four bytes.
            stride = told >= rowBytes ? told : (rowBytes + 3) & ~3
            chroma = stride * height
            switch format.pixels {
            case .nv12:
                chromaByteCount = stride * ((height + 1) / 2)
                byteCount = chroma + chromaByteCount
            case .i420:
                chromaByteCount = stride / 2 * ((height + 1) / 2)
                byteCount = chroma + 2 * chromaByteCount
            case .yuy2, .mjpeg, .bgrx, .rgbx, .bgr, .rgb:
                chromaByteCount = 0
                byteCount = stride * (height - 1) + rowBytes
            }
        }
    }
}
