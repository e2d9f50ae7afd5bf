internal import RTCShareCDav1d
internal import RTCShareCYUV
package import RTCShareMedia
internal import RTCShareRTP

/// dav1d's AV1 decoder, which returns I420 frames. One thread at a time can use it.
///
/// A peer's data can't harm it: a damaged frame causes an error, and the next key frame repairs it.
package final class AV1Decoder: PictureDecoder {
    /// The reason why the library can't be used, with the Debian package to install; nil if it can.
    package static var unavailability: String? { av1_decoder_library_problem().map { String(cString: $0) } }

    /// The maximum size. Larger frames are rejected before memory is allocated for them.
    package let largestSize: PixelSize
    /// The quantizer index of the last shown frame, 0 to 255; nil before the first.
    package private(set) var lastQuantizer: Int?
    private let decoder: OpaquePointer
    private let pool = PixelBufferPool(capacity: 4)
    private var hasPicture = false

    /// Creates a decoder. Its size is limited, since a sequence header can require frames of 65536 by 65536.
    package init(largestSize: PixelSize = PixelSize(width: 8192, height: 8192)) throws(VideoCodingError) {
        if let reason = Self.unavailability { throw .codecUnavailable(reason: reason) }
        self.largestSize = largestSize
        guard let decoder = av1_decoder_open(UInt32(clamping: largestSize.area)) else {
            throw .codecFailed(library: "dav1d", operation: "making a decoder", reason: "out of memory")
        }
        self.decoder = decoder
    }

    deinit {
        av1_decoder_close(decoder)
    }

    /// Decodes one frame, the OBUs of a temporal unit; nil if it is not shown.
    ///
    /// After an error, frames are rejected with `keyFrameNeeded` until a key frame with a sequence header.
    package func decode(_ frame: Span<UInt8>) throws(VideoCodingError) -> PixelBuffer? {
        guard frame.count > 0 else { throw .emptyFrame }
        do throws(VideoCodingError) {
            let header = try frame.header { bytes throws(RTPError) in try AV1FrameHeader(parsing: bytes) }
            try checkSize(PixelSize(width: header.width, height: header.height))
            guard hasPicture || header.isKeyFrame else { throw .keyFrameNeeded }
            let shown = try decodeChecked(frame)
            hasPicture = true
            guard let shown else { return nil }
            return try copy(shown)
        } catch {
            hasPicture = false
            throw error
        }
    }

    private func checkSize(_ size: PixelSize) throws(VideoCodingError) {
        guard size.width <= largestSize.width, size.height <= largestSize.height else {
            throw .pictureTooLarge(size: size, limit: largestSize)
        }
    }

    private func decodeChecked(_ frame: Span<UInt8>) throws(VideoCodingError) -> av1_decoder_picture? {
        var picture = av1_decoder_picture()
        let code = frame.withUnsafeBufferPointer { bytes in
            bytes.baseAddress.map { av1_decoder_decode(decoder, $0, bytes.count, &picture) } ?? 0
        }
        guard code != -12 else {
            throw .codecFailed(library: "dav1d", operation: "decoding", reason: "out of memory")
        }
        guard code == 0 else { throw .corruptedFrame(reason: "dav1d's code is \(code)") }
        guard picture.luma != nil else { return nil }
        lastQuantizer = Int(picture.quantizer_index)
        return picture
    }

    /// Returns a copy of the picture, since the decoder predicts later frames from its own.
    private func copy(_ picture: av1_decoder_picture) throws(VideoCodingError) -> PixelBuffer {
        let size = PixelSize(width: Int(picture.width), height: Int(picture.height))
        guard picture.is_i420, let sourceLuma = picture.luma, let sourceBlue = picture.blue,
            let sourceRed = picture.red, size.width > 0, size.height > 0
        else { throw .corruptedFrame(reason: "the decoder gave no 8-bit I420 frame") }
        try checkSize(size)
        let (lumaStride, chromaStride) = (Int32(clamping: picture.luma_stride), Int32(clamping: picture.chroma_stride))
        return try pool.makeI420(size: size) { (luma, blue, red) throws(VideoCodingError) in
            try checkYUV(
                "I420Copy",
                I420Copy(
                    sourceLuma, lumaStride, sourceBlue, chromaStride, sourceRed, chromaStride, luma.first, luma.stride,
                    blue.first, blue.stride, red.first, red.stride, picture.width, picture.height))
        }
    }
}
