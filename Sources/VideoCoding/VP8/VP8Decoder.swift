internal import RTCShareCVPX
internal import RTCShareCYUV
package import RTCShareMedia

/// libvpx's VP8 decoder, which returns I420 frames. One thread at a time can use it.
package final class VP8Decoder: PictureDecoder {
    /// The maximum size. Larger frames are rejected before memory is allocated for them.
    package let largestSize: PixelSize
    private let context: UnsafeMutablePointer<vpx_codec_ctx_t>
    private let pool = PixelBufferPool(capacity: 4)
    private var hasPicture = false

    /// Creates a decoder. Its size is limited, since a key frame's header can require 400 MB (16383 by 16383).
    package init(largestSize: PixelSize = PixelSize(width: 8192, height: 8192)) throws(VideoCodingError) {
        self.largestSize = largestSize
        context = .allocate(capacity: 1)
        context.initialize(to: vpx_codec_ctx_t())
        var config = vpx_codec_dec_cfg_t(threads: 1, w: 0, h: 0)
        // If this fails, every property is set and `deinit` frees the memory.
        try check("making a decoder", cvpx_dec_init(context, &config))
    }

    deinit {
        vpx_codec_destroy(context)
        context.deallocate()
    }

    package func decode(_ frame: Span<UInt8>) throws(VideoCodingError) -> PixelBuffer? {
        try advance(frame)
        do throws(VideoCodingError) {
            var iterator: vpx_codec_iter_t?
            guard let image = vpx_codec_get_frame(context, &iterator)?.pointee else { return nil }
            return try copy(image)
        } catch {
            hasPicture = false
            throw error
        }
    }

    /// Decodes one frame without returning it.
    func advance(_ frame: Span<UInt8>) throws(VideoCodingError) {
        guard frame.count > 0 else { throw .emptyFrame }
        // RFC 6386 §9.1: the lowest bit of the first byte is 0 in a key frame, where the size follows at byte 6.
        if frame[0] & 1 == 0 {
            try checkSize(frame)
        } else if !hasPicture {
            throw .keyFrameNeeded
        }
        do throws(VideoCodingError) {
            try advanceChecked(frame)
            hasPicture = true
        } catch {
            hasPicture = false
            throw error
        }
    }

    /// Decodes one frame in an array without returning it.
    func advance(_ frame: [UInt8]) throws(VideoCodingError) {
        try advance(frame.span)
    }

    /// Copies a reference frame of the decoder.
    func copy(_ reference: ReferenceFrame, to picture: ReferencePicture) throws(VideoCodingError) {
        try check("copying the \(reference) frame", try picture.copy(reference, of: context))
    }

    /// Sets a reference frame for the next frame.
    func set(_ reference: ReferenceFrame, to picture: ReferencePicture) throws(VideoCodingError) {
        try check("setting the \(reference) frame", try picture.set(reference, of: context))
    }

    /// The quantizer index of the last frame's header, 0 to 127; nil before the first.
    package var lastQuantizer: Int? {
        var value: Int32 = 0
        guard cvpx_control_get_int(context, Int32(VPXD_GET_LAST_QUANTIZER.rawValue), &value) == VPX_CODEC_OK else {
            return nil
        }
        return Int(value)
    }

    private func checkSize(_ frame: Span<UInt8>) throws(VideoCodingError) {
        guard frame.count >= 10 else { throw .corruptedFrame(reason: "a key frame's header is truncated") }
        let size = PixelSize(
            width: (Int(frame[6]) | Int(frame[7]) << 8) & 0x3FFF, height: (Int(frame[8]) | Int(frame[9]) << 8) & 0x3FFF)
        guard size.width > 0, size.height > 0 else { throw .corruptedFrame(reason: "a frame of \(size)") }
        guard size.width <= largestSize.width, size.height <= largestSize.height else {
            throw .pictureTooLarge(size: size, limit: largestSize)
        }
    }

    private func advanceChecked(_ frame: Span<UInt8>) throws(VideoCodingError) {
        let code = frame.withUnsafeBufferPointer { bytes in
            vpx_codec_decode(context, bytes.baseAddress, UInt32(clamping: bytes.count), nil, 0)
        }
        try check("decoding", code)
        var corrupted: Int32 = 0
        try check(
            "reading the state",
            cvpx_control_get_int(context, Int32(VP8D_GET_FRAME_CORRUPTED.rawValue), &corrupted))
        guard corrupted == 0 else { throw .corruptedFrame(reason: "its data ends early or builds on damage") }
    }

    /// Returns a copy of the image, since the decoder overwrites its images with each frame.
    private func copy(_ image: vpx_image_t) throws(VideoCodingError) -> PixelBuffer {
        let size = PixelSize(width: Int(image.d_w), height: Int(image.d_h))
        guard image.fmt == VPX_IMG_FMT_I420, let sourceLuma = image.planes.0, let sourceBlue = image.planes.1,
            let sourceRed = image.planes.2, size.width > 0, size.height > 0
        else { throw .corruptedFrame(reason: "the decoder gave no I420 frame") }
        return try pool.makeI420(size: size) { (luma, blue, red) throws(VideoCodingError) in
            try checkYUV(
                "I420Copy",
                I420Copy(
                    sourceLuma, image.stride.0, sourceBlue, image.stride.1, sourceRed, image.stride.2, luma.first,
                    luma.stride, blue.first, blue.stride, red.first, red.stride, Int32(clamping: size.width),
                    Int32(clamping: size.height)))
        }
    }

    private func check(_ operation: @autoclosure () -> String, _ code: vpx_codec_err_t) throws(VideoCodingError) {
        guard code != VPX_CODEC_OK else { return }
        let detail = vpx_codec_error_detail(context).map { ": " + String(cString: $0) } ?? ""
        switch code {
        case VPX_CODEC_CORRUPT_FRAME, VPX_CODEC_UNSUP_BITSTREAM, VPX_CODEC_UNSUP_FEATURE:
            throw .corruptedFrame(reason: reason(code) + detail)
        default:
            throw .codecFailed(library: "libvpx", operation: operation(), reason: reason(code) + detail)
        }
    }
}
