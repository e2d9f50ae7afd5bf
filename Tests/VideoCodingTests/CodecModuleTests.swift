import Foundation
import RTCShareCAOM
import RTCShareCDav1d
import RTCShareCOpenH264
import Testing

@Suite("Codecs' libraries in C")
struct CodecModuleTests {
    /// If everything should be installed, what is missing fails.
    private static let mustRun = ProcessInfo.processInfo.environment["RTCSHARE_REQUIRE_PEERS"] != nil
    private let gray = [UInt8](repeating: 128, count: 32 * 32)

    private func text(_ words: UnsafePointer<CChar>?) -> String { words.map { String(cString: $0) } ?? "" }

    /// A frame of 32x32 by libaom.
    private func encodeAV1() throws -> [UInt8] {
        var settings = av1_encoder_settings(width: 32, height: 32, threads: 1, is_screen: true)
        var problem = [CChar](repeating: 0, count: 256)
        let encoder = try #require(av1_encoder_open(&settings, &problem, problem.count))
        defer { av1_encoder_close(encoder) }
        return try gray.withUnsafeBufferPointer { gray in
            let plane = try #require(gray.baseAddress)
            var source = av1_encoder_source(
                luma: plane, blue: plane, red: plane, luma_stride: 32, blue_stride: 16, red_stride: 16)
            var frame = av1_encoder_frame()
            #expect(av1_encoder_encode(encoder, &source, 30, false, false, false, false, &frame) == nil)
            #expect(frame.is_key && frame.quantizer_index == 120)
            return Array(UnsafeBufferPointer(start: frame.bytes, count: frame.count))
        }
    }

    @Test(
        "libaom encodes a gray frame",
        .enabled(if: mustRun || av1_encoder_library_problem() == nil, "libaom3 is not installed"))
    func libaom() throws {
        #expect(text(av1_encoder_library_version()).contains(/^v?3\.[0-9]/))
        #expect(try !encodeAV1().isEmpty)
    }

    @Test(
        "dav1d decodes the frame of libaom",
        .enabled(
            if: mustRun || av1_encoder_library_problem() == nil && av1_decoder_library_problem() == nil,
            "libaom3 or libdav1d6 is not installed"))
    func dav1d() throws {
        #expect(text(av1_decoder_library_version()).contains(/^1\.0/))
        let frame = try encodeAV1()
        let decoder = try #require(av1_decoder_open(32 * 32))
        defer { av1_decoder_close(decoder) }
        var picture = av1_decoder_picture()
        #expect(av1_decoder_decode(decoder, frame, frame.count, &picture) == 0)
        #expect(picture.width == 32 && picture.height == 32 && picture.is_i420 && picture.quantizer_index == 120)
        #expect(picture.luma?.pointee == 128 && picture.red?.pointee == 128)
        #expect(av1_decoder_decode(decoder, [0x0A, 0x7F], 2, &picture) < 0)
        #expect(picture.luma == nil)
    }

    @Test(
        "OpenH264 decodes a gray frame that it encoded",
        .enabled(if: mustRun || h264_library_problem() == nil, "libopenh264-7 is not installed"))
    func openH264() throws {
        #expect(text(h264_library_version()).contains(/^2\.3/))
        var settings = h264_encoder_settings(width: 32, height: 32, is_screen: true)
        var problem = [CChar](repeating: 0, count: 256)
        let encoder = try #require(h264_encoder_open(&settings, &problem, problem.count))
        let decoder = try #require(h264_decoder_open())
        defer {
            h264_encoder_close(encoder)
            h264_decoder_close(decoder)
        }
        try gray.withUnsafeBufferPointer { gray in
            let plane = try #require(gray.baseAddress)
            var source = h264_encoder_source(
                luma: plane, blue: plane, red: plane, luma_stride: 32, blue_stride: 16, red_stride: 16)
            var frame = h264_encoder_frame()
            #expect(h264_encoder_encode(encoder, &source, 30, false, &frame) == nil)
            #expect(frame.is_key)
            var picture = h264_decoder_picture()
            #expect(h264_decoder_decode(decoder, try #require(frame.bytes), Int32(frame.count), &picture) == 0)
            #expect(picture.width == 32 && picture.height == 32)
            #expect(picture.luma?.pointee == 128 && picture.red?.pointee == 128)
        }
    }
}
