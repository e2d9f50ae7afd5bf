import CAVCodec
import Glibc
import Media
import Testing

@testable import VideoCoding

/// FFmpeg's VP8 decoder, which has nothing in common with libvpx's: a second judge.
final class FFmpegDecoder {
    private var context: UnsafeMutablePointer<AVCodecContext>?
    private var packet = av_packet_alloc()
    private var frame = av_frame_alloc()

    init() throws {
        context = avcodec_alloc_context3(avcodec_find_decoder(AV_CODEC_ID_VP8))
        // With more, a frame comes out when others have gone in.
        try #require(context).pointee.thread_count = 1
        try #require(avcodec_open2(context, nil, nil) == 0)
    }

    deinit {
        av_frame_free(&frame)
        av_packet_free(&packet)
        avcodec_free_context(&context)
    }

    /// Decodes a frame, and says whether its picture is this one, to a sample.
    func decode(_ data: [UInt8], showsWhatIs picture: ReferencePicture, of size: PixelSize) throws -> Bool {
        let packet = try #require(packet)
        av_packet_unref(packet)
        // With the padding that the decoder reads beyond the end.
        try #require(av_new_packet(packet, Int32(data.count)) == 0)
        memcpy(packet.pointee.data, data, data.count)
        try #require(avcodec_send_packet(context, packet) == 0)
        let frame = try #require(frame)
        try #require(avcodec_receive_frame(context, frame) == 0)
        guard frame.pointee.format == AV_PIX_FMT_YUV420P.rawValue, Int(frame.pointee.width) == size.width,
            Int(frame.pointee.height) == size.height
        else { return false }
        let planes = [frame.pointee.data.0, frame.pointee.data.1, frame.pointee.data.2]
        let strides = [frame.pointee.linesize.0, frame.pointee.linesize.1, frame.pointee.linesize.2]
        var (index, isSame) = (0, true)
        picture.withPlanes { plane, stride in
            let extent = PixelFormat.i420.planeExtent(index, of: size)
            for row in 0..<extent.rows {
                guard let line = planes[index] else { return isSame = false }
                isSame =
                    isSame && memcmp(line + row * Int(strides[index]), plane + row * stride, extent.rowBytes) == 0
            }
            index += 1
        }
        return isSame
    }
}
