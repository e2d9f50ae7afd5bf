import Glibc
import RTCShareMedia
import Testing

@testable import RTCShareVideoCoding

/// A decoder of FFmpeg as a second judge, such as that for VP8, which has nothing in common with libvpx's.
///
/// It is loaded where it is there, so that the tests are built without it.
final class FFmpegDecoder {
    private let library: FFmpegLibrary
    private var context: UnsafeMutableRawPointer?
    private var packet: UnsafeMutableRawPointer?
    private var frame: UnsafeMutableRawPointer?

    init(_ name: String = "vp8") throws {
        library = try #require(FFmpegLibrary.installed)
        let codec = try #require(library.findDecoder(name))
        context = library.allocateContext(codec)
        packet = library.allocatePacket()
        frame = library.allocateFrame()
        // With more, a frame comes out when others have gone in.
        try #require(library.setInteger(context, "threads", 1, 0) == 0)
        try #require(library.open(context, codec, nil) == 0)
    }

    deinit {
        library.freeFrame(&frame)
        library.freePacket(&packet)
        library.freeContext(&context)
    }

    /// Decodes a frame, and says whether its picture is this one, to a sample.
    func decode(_ data: [UInt8], showsWhatIs picture: ReferencePicture, of size: PixelSize) throws -> Bool {
        guard let frame = try decode(data, of: size) else { return false }
        var (index, isSame) = (0, true)
        picture.withPlanes { plane, stride in
            isSame = shows(UnsafeRawPointer(plane), stride: stride, in: index, of: frame, size: size) && isSame
            index += 1
        }
        return isSame
    }

    /// Decodes a frame, and says whether it is this one, to a sample.
    func decode(_ data: [UInt8], shows picture: PixelBuffer) throws -> Bool {
        guard let frame = try decode(data, of: picture.size) else { return false }
        return picture.withPlanes { set in
            set.planes.indices.allSatisfy { index in
                guard let plane = set.planes[index].baseAddress else { return false }
                return shows(plane, stride: set.strides[index], in: index, of: frame, size: picture.size)
            }
        }
    }

    /// Decodes a frame; nil if it is not I420 of this size.
    private func decode(_ data: [UInt8], of size: PixelSize) throws -> UnsafeMutableRawPointer? {
        let packet = try #require(packet)
        library.clearPacket(packet)
        // With the padding that the decoder reads beyond the end.
        try #require(library.fillPacket(packet, Int32(data.count)) == 0)
        let memory = packet.load(fromByteOffset: FFmpegLibrary.packetData, as: UnsafeMutableRawPointer?.self)
        try #require(memory).copyMemory(from: data, byteCount: data.count)
        try #require(library.send(context, packet) == 0)
        let frame = try #require(frame)
        try #require(library.receive(context, frame) == 0)
        let (width, height, format) = FFmpegLibrary.frameShape
        guard frame.load(fromByteOffset: format, as: Int32.self) == FFmpegLibrary.i420,
            frame.load(fromByteOffset: width, as: Int32.self) == Int32(size.width),
            frame.load(fromByteOffset: height, as: Int32.self) == Int32(size.height)
        else { return nil }
        return frame
    }

    private func shows(
        _ plane: UnsafeRawPointer, stride: Int, in index: Int, of frame: UnsafeMutableRawPointer, size: PixelSize
    ) -> Bool {
        let planes = frame.assumingMemoryBound(to: UnsafePointer<UInt8>?.self)
        let strides = (frame + FFmpegLibrary.frameStrides).assumingMemoryBound(to: Int32.self)
        guard let lines = planes[index] else { return false }
        let extent = PixelFormat.i420.planeExtent(index, of: size)
        return (0..<extent.rows).allSatisfy { row in
            memcmp(lines + row * Int(strides[index]), plane + row * stride, extent.rowBytes) == 0
        }
    }
}

/// The functions of Debian 12's libavcodec that are needed, by name, and the fields of its structures, by offset.
struct FFmpegLibrary: Sendable {
    typealias Pointer = UnsafeMutableRawPointer
    typealias Free = @convention(c) (UnsafeMutablePointer<Pointer?>) -> Void
    typealias Exchange = @convention(c) (Pointer?, Pointer?) -> Int32

    let findDecoder: @convention(c) (UnsafePointer<CChar>) -> Pointer?
    let allocateContext: @convention(c) (Pointer?) -> Pointer?
    let open: @convention(c) (Pointer?, Pointer?, Pointer?) -> Int32
    let send: Exchange
    let receive: Exchange
    let freeContext: Free
    let allocatePacket: @convention(c) () -> Pointer?
    let fillPacket: @convention(c) (Pointer?, Int32) -> Int32
    let clearPacket: @convention(c) (Pointer?) -> Void
    let freePacket: Free
    let allocateFrame: @convention(c) () -> Pointer?
    let freeFrame: Free
    let setInteger: @convention(c) (Pointer?, UnsafePointer<CChar>, Int64, Int32) -> Int32

    /// Of `AVPacket` and `AVFrame`, of which the planes come first; `AV_PIX_FMT_YUV420P`.
    static let packetData = 24
    static let frameStrides = 64
    static let frameShape = (width: 104, height: 108, format: 116)
    static let i420: Int32 = 0

    /// Nil where it is not there.
    static let installed = FFmpegLibrary()

    private init?() {
        // The versions that the places above are of.
        guard let utilities = dlopen("libavutil.so.57", RTLD_NOW), let codecs = dlopen("libavcodec.so.59", RTLD_NOW)
        else { return nil }
        func function<Function>(_ name: String, in library: Pointer) -> Function {
            guard let symbol = dlsym(library, name) else { fatalError("FFmpeg has no \(name)") }
            return unsafeBitCast(symbol, to: Function.self)
        }
        findDecoder = function("avcodec_find_decoder_by_name", in: codecs)
        allocateContext = function("avcodec_alloc_context3", in: codecs)
        open = function("avcodec_open2", in: codecs)
        send = function("avcodec_send_packet", in: codecs)
        receive = function("avcodec_receive_frame", in: codecs)
        freeContext = function("avcodec_free_context", in: codecs)
        allocatePacket = function("av_packet_alloc", in: codecs)
        fillPacket = function("av_new_packet", in: codecs)
        clearPacket = function("av_packet_unref", in: codecs)
        freePacket = function("av_packet_free", in: codecs)
        allocateFrame = function("av_frame_alloc", in: utilities)
        freeFrame = function("av_frame_free", in: utilities)
        setInteger = function("av_opt_set_int", in: utilities)
    }
}
