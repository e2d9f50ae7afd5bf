import Foundation
import RTCShareMedia
import RTCShareRTP
import RTCShareVideoCoding
import RTCShareWireFormat
import TestSupport
import Testing

@testable import RTCShareRecording

/// A video of a codec, and the samples that the codec's decoder shows.
struct EncodedVideo {
    /// A codec with FFmpeg's name.
    enum Codec: String, CaseIterable {
        case vp8, av1, h264

        /// The codecs whose libraries are installed. If everything should be, `RTCSHARE_REQUIRE_PEERS` makes the tests
        /// of a missing one fail.
        static let installed = allCases.filter(\.isInstalled)

        private var isInstalled: Bool {
            switch self {
            case .vp8: true
            case .av1: FFmpeg.mustRun || AV1Coder.unavailability == nil && AV1Decoder.unavailability == nil
            case .h264: FFmpeg.mustRun || H264Coder.unavailability == nil
            }
        }

        var format: any VideoPayloadFormat {
            switch self {
            case .vp8: .vp8
            case .av1: .av1
            case .h264: H264PayloadFormat.h264
            }
        }
    }

    private(set) var frames: [RecordedFrame] = []
    /// The I420 samples of all frames.
    private(set) var shown = Data()

    /// Encodes scrolling text, several frames of each size.
    init(_ codec: Codec, sizes: [PixelSize], framesEach: Int = 4) throws {
        let decoder: any PictureDecoder =
            switch codec {
            case .vp8: try VP8Decoder()
            case .av1: try AV1Decoder()
            case .h264: try H264Decoder()
            }
        for size in sizes {
            let encode = try Self.encoder(codec, size)
            let text = TextPicture(size: size)
            for index in 0..<framesEach {
                let data = try encode(text.scrolled(by: index * 2).coloured(1))
                frames.append(RecordedFrame(data: data, format: codec.format))
                append(try #require(try decoder.decode(data)))
            }
        }
    }

    private static func encoder(_ codec: Codec, _ size: PixelSize) throws -> (PixelBuffer) throws -> [UInt8] {
        switch codec {
        case .vp8:
            let encoder = try VP8Encoder(configuration: .init(size: size, bitrate: .kilobitsPerSecond(2000)))
            var time = Duration.zero
            return { picture in
                time += .milliseconds(40)
                guard case .encoded(let frame) = try encoder.encode(picture, timestamp: time) else { return [] }
                return frame.data
            }
        case .av1:
            let coder = try AV1Coder(.init(size: size))
            return { try #require(try coder.encode($0, quantizer: 30)).data }
        case .h264:
            let coder = try H264Coder(.init(size: size))
            return { try #require(try coder.encode($0, quantizer: 24)).data }
        }
    }

    private mutating func append(_ picture: PixelBuffer) {
        picture.withPlanes { set in
            for plane in 0..<3 {
                let extent = PixelFormat.i420.planeExtent(plane, of: picture.size)
                for row in 0..<extent.rows {
                    let start = row * set.strides[plane]
                    shown.append(contentsOf: set.planes[plane][start..<start + extent.rowBytes])
                }
            }
        }
    }
}
