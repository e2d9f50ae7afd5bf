import Foundation
import RTCShareMedia
import TestSupport
import Testing

@testable import RTCShareVideoCoding
import RTCShareWireFormat

/// The encoder's frames, decoded by libvpx and by FFmpeg.
private struct TwoDecoders {
    private let encoder: VP8Encoder
    private let libvpx: VP8Decoder
    private let ffmpeg: FFmpegDecoder
    private let seen: ReferencePicture

    init(_ encoder: VP8Encoder, libvpx: VP8Decoder, ffmpeg: FFmpegDecoder) {
        (self.encoder, self.libvpx, self.ffmpeg) = (encoder, libvpx, ffmpeg)
        seen = ReferencePicture(size: encoder.configuration.size)
    }

    /// Both decode these frames alike, and have then what the encoder goes on from.
    func agree(_ frames: [EncodedVideoFrame]) throws -> Bool {
        var isSame = true
        for frame in frames {
            try libvpx.advance(frame.data)
            try libvpx.copy(.last, to: seen)
            isSame = try ffmpeg.decode(frame.data, showsWhatIs: seen, of: frame.size) && isSame
        }
        _ = try encoder.changeReference { (expected) -> Void? in
            isSame = expected.isSame(as: seen) && isSame
            return nil
        }
        return isSame
    }
}

@Suite(
    "Two decoders", .enabled(if: FFmpegLibrary.installed != nil, "libavcodec59 is not installed"),
    .timeLimit(.minutes(30)))
struct TwoDecodersTests {
    /// Kinds of frames: whether ours, what of the picture they say.
    private enum Kind: String, CaseIterable {
        case changes, rest, scrollAndNew, scrollAlone, library, libraryAfterScroll, keyFrame
    }

    /// Random shares: of what size, how many pictures, by which seed. `RTCSHARE_PICTURES` and `RTCSHARE_SEED` in the
    /// environment have one of 1920×1080 in their place, as long and as different as is wanted.
    private static let sequences: [(width: Int, height: Int, pictures: Int, seed: UInt64)] = {
        let environment = ProcessInfo.processInfo.environment
        let pictures = environment["RTCSHARE_PICTURES"].flatMap { Int($0) }
        let seed = environment["RTCSHARE_SEED"].flatMap { UInt64($0) }
        guard pictures == nil, seed == nil else { return [(1920, 1080, pictures ?? 160, seed ?? 1)] }
        return [(1920, 1080, 160, 1), (3840, 2160, 60, 2), (1366, 766, 120, 3)]
    }()

    @Test(
        "The decoders of libvpx and FFmpeg show exactly the encoder's frames, of every kind and after losses",
        arguments: sequences)
    func agreement(width: Int, height: Int, pictures: Int, seed: UInt64) throws {
        let size = PixelSize(width: width, height: height)
        var state = EncoderControl(
            settings: .init(bitrate: .kilobitsPerSecond(20000), maximumSize: size, hint: .text), now: .zero)
        var input = PictureInput()
        let encoder = try VP8Encoder(configuration: .init(size: size, bitrate: .kilobitsPerSecond(20000)))
        let (libvpx, ffmpeg) = (try VP8Decoder(), try FFmpegDecoder())
        var kinds: [Kind: Int] = [:]
        for picture in RandomShare(size: size, pictures: pictures, seed: seed) {
            state.begin(new: true, now: picture.time)
            let order = state.order(isNew: true)
            try input.take(picture.frame, order: order)
            let (preceding, outcome) = try encoder.encode(
                &input, timestamp: picture.time, asKeyFrame: picture.wantsKeyFrame, order: order)
            var frames = preceding
            if case .encoded(let last) = outcome { frames.append(last) }
            for (index, frame) in frames.enumerated() {
                kinds[kind(of: frame, precedes: index < preceding.count, picture.change), default: 0] += 1
            }
            guard picture.isSeen else { continue }
            let judges = TwoDecoders(encoder, libvpx: libvpx, ffmpeg: ffmpeg)
            try #require(try judges.agree(frames), "picture \(picture.index), \(picture.change)")
        }
        // More than a partial update takes comes into sight beside what scrolled on large screens alone.
        for kind in Kind.allCases where kind != .libraryAfterScroll || size.macroblocks > 10_000 {
            #expect(kinds[kind, default: 0] > 1, "\(kind): \(kinds)")
        }
    }

    private func kind(of frame: EncodedVideoFrame, precedes: Bool, _ change: WindowScreen.Change) -> Kind {
        if frame.isKeyFrame { return .keyFrame }
        if precedes { return .scrollAlone }
        if frame.isScroll { return frame.isPartialUpdate ? .scrollAndNew : .libraryAfterScroll }
        guard frame.isPartialUpdate else { return .library }
        return change == .nothing ? .rest : .changes
    }
}
