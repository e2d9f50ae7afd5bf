internal import RTCShareCOpenH264
internal import RTCShareCYUV
package import RTCShareMedia
internal import RTCShareRTP

/// OpenH264's decoder, which returns I420 frames. One thread at a time can use it.
///
/// It decodes progressive frames from baseline to high profile. A peer's data can't harm it: a damaged frame causes an
/// error, and the next key frame repairs it.
package final class H264Decoder: PictureDecoder {
    /// The reason why the library can't be used, with the Debian package to install; nil if it can.
    package static var unavailability: String? { h264_library_problem().map { String(cString: $0) } }

    /// The maximum size. Larger frames are rejected before memory is allocated for them.
    package let largestSize: PixelSize
    /// OpenH264 does not report it.
    package var lastQuantizer: Int? { nil }
    /// Nil after an error: a key frame opens another.
    private var decoder: H264DecoderHandle?
    private let pool = PixelBufferPool(capacity: 4)
    private var hasPicture = false

    /// Creates a decoder. Its size is limited, since a sequence parameter set can require frames of any size.
    package init(largestSize: PixelSize = PixelSize(width: 8192, height: 8192)) throws(VideoCodingError) {
        if let reason = Self.unavailability { throw .codecUnavailable(reason: reason) }
        self.largestSize = largestSize
        decoder = try H264DecoderHandle()
    }

    /// Decodes one frame, NAL units with start codes; nil if it is not shown.
    ///
    /// After an error, frames are rejected with `keyFrameNeeded` until an IDR frame with its parameter sets.
    package func decode(_ frame: Span<UInt8>) throws(VideoCodingError) -> PixelBuffer? {
        guard let picture = try decoded(frame) else { return nil }
        do throws(VideoCodingError) {
            return try copy(picture)
        } catch {
            reset()
            throw error
        }
    }

    /// Decodes one frame in an array onto a picture, which can be smaller. Returns whether the frame is shown.
    func decode(_ frame: [UInt8], onto target: I420Picture) throws(VideoCodingError) -> Bool {
        guard let picture = try decoded(frame.span) else { return false }
        guard let luma = picture.luma, let blue = picture.blue, let red = picture.red,
            Int(picture.width) >= target.size.width, Int(picture.height) >= target.size.height
        else { throw .corruptedFrame(reason: "it is smaller than expected") }
        let samples = target.samples
        try checkYUV(
            "I420Copy",
            I420Copy(
                luma, picture.luma_stride, blue, picture.chroma_stride, red, picture.chroma_stride, samples.luma,
                Int32(samples.lumaStride), samples.blue, Int32(samples.chromaStride), samples.red,
                Int32(samples.chromaStride), Int32(target.size.width), Int32(target.size.height)))
        return true
    }

    /// Decodes one frame into the decoder's memory, where it stays until the next one.
    private func decoded(_ frame: Span<UInt8>) throws(VideoCodingError) -> h264_decoder_picture? {
        guard frame.count > 0 else { throw .emptyFrame }
        do throws(VideoCodingError) {
            let header = try frame.header { bytes throws(RTPError) in try H264FrameHeader(parsing: bytes) }
            for parameters in header.sequenceParameters { try checkSize(parameters) }
            guard hasPicture || header.isKeyFrame && header.hasParameterSets else { throw .keyFrameNeeded }
            let shown = try openDecoder().decode(frame)
            hasPicture = true
            return shown
        } catch {
            reset()
            throw error
        }
    }

    private func reset() {
        hasPicture = false
        decoder = nil
    }

    private func openDecoder() throws(VideoCodingError) -> H264DecoderHandle {
        if let decoder { return decoder }
        let new = try H264DecoderHandle()
        decoder = new
        return new
    }

    private func checkSize(_ parameters: H264SequenceParameters) throws(VideoCodingError) {
        // Any part of the coded size may be hidden, but the decoder has memory for all.
        let size = PixelSize(width: parameters.width, height: parameters.height)
        guard size.width <= largestSize.width, size.height <= largestSize.height,
            parameters.codedWidth < largestSize.width + 32, parameters.codedHeight < largestSize.height + 32
        else { throw .pictureTooLarge(size: size, limit: largestSize) }
    }

    /// Returns a copy of the picture, since the decoder predicts later frames from its own.
    private func copy(_ picture: h264_decoder_picture) throws(VideoCodingError) -> PixelBuffer {
        let size = PixelSize(width: Int(picture.width), height: Int(picture.height))
        guard let sourceLuma = picture.luma, let sourceBlue = picture.blue, let sourceRed = picture.red,
            size.width > 0, size.height > 0
        else { throw .corruptedFrame(reason: "the decoder gave no I420 frame") }
        return try pool.makeI420(size: size) { (luma, blue, red) throws(VideoCodingError) in
            try checkYUV(
                "I420Copy",
                I420Copy(
                    sourceLuma, picture.luma_stride, sourceBlue, picture.chroma_stride, sourceRed,
                    picture.chroma_stride, luma.first, luma.stride, blue.first, blue.stride, red.first, red.stride,
                    picture.width, picture.height))
        }
    }
}

/// The owner of an OpenH264 decoder.
private final class H264DecoderHandle {
    private let decoder: OpaquePointer

    init() throws(VideoCodingError) {
        guard let decoder = h264_decoder_open() else {
            throw .codecFailed(library: "OpenH264", operation: "making a decoder", reason: "it was refused")
        }
        self.decoder = decoder
    }

    deinit {
        h264_decoder_close(decoder)
    }

    func decode(_ frame: Span<UInt8>) throws(VideoCodingError) -> h264_decoder_picture? {
        var picture = h264_decoder_picture()
        guard let count = Int32(exactly: frame.count) else { throw .corruptedFrame(reason: "it has 2 GB") }
        let state = frame.withUnsafeBufferPointer { bytes in
            bytes.baseAddress.map { h264_decoder_decode(decoder, $0, count, &picture) } ?? 0
        }
        guard state == 0 else { throw .corruptedFrame(reason: "OpenH264's state is \(state)") }
        return picture.luma == nil ? nil : picture
    }
}
