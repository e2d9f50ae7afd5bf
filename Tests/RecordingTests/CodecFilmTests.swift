import Foundation
import RTCShareMedia
import RTCShareVideoCoding
import Testing

@testable import RTCShareRecording

/// Recordings of real frames, judged by FFmpeg.
@Suite("Recordings of each codec", .enabled(if: FFmpeg.isInstalled, "ffmpeg is not installed"))
struct CodecFilmTests {
    private let folder: TestFolder
    private let size = PixelSize(width: 320, height: 180)

    init() throws {
        folder = try TestFolder()
    }

    /// Records videos one after the other under the same name.
    private func record(_ videos: [EncodedVideo], to path: String) throws {
        let muxer = try WebMMuxer(path: path, unixTimeAtZero: .zero)
        muxer.addPicture(1, of: 0, name: "alice#content", isMain: true)
        for (index, frame) in videos.flatMap(\.frames).enumerated() {
            let time = Duration.seconds(1000) + .milliseconds(40 * index)
            _ = try muxer.receive(
                frame: frame, MediaTimes(media: time, capture: time, arrival: time), ofPicture: 1)
            try muxer.advance(to: time)
        }
        try muxer.close()
    }

    @Test(
        "FFmpeg decodes a recording whose size changes as the codec's decoder does",
        arguments: EncodedVideo.Codec.installed)
    func sizes(codec: EncodedVideo.Codec) throws {
        let path = folder.path(codec == .h264 ? "film.mkv" : "film.webm")
        let sizes = [size, PixelSize(width: 176, height: 98), size]
        let video = try EncodedVideo(codec, sizes: sizes)
        try record([video], to: path)
        let found = try FFmpeg.film(path)
        #expect(
            found.streams == [
                FFmpeg.Video(
                    codecName: codec.rawValue, colorSpace: "smpte170m", colorRange: "tv", nbReadFrames: "12",
                    tags: .init(title: "alice#content"))
            ])
        let shown = sizes.map { FFmpeg.Frame(width: $0.width, height: $0.height) }
        #expect(found.frames == shown.flatMap { Array(repeating: $0, count: 4) })
        #expect(try FFmpeg.samples(of: path) == video.shown)
        let film = try WebMFile(path: path)
        #expect(film.documentType == (codec == .h264 ? "matroska" : "webm") && film.tracks.count == 1)
        #expect(film.tracks[0].width == size.width && film.tracks[0].height == size.height)
        #expect(film.blocks.map(\.isKeyFrame) == (0..<12).map { $0.isMultiple(of: 4) })
        #expect(film.cues.count == 1)
    }

    @Test(
        "A video whose codec changes has a track for each codec, and returns to an earlier one",
        .enabled(if: EncodedVideo.Codec.installed.count == 3, "libaom3, libdav1d6 or libopenh264-7 is not installed"))
    func change() throws {
        let path = folder.path("film.MKV")
        let videos = try [EncodedVideo.Codec.vp8, .av1, .h264, .vp8].map { try EncodedVideo($0, sizes: [size]) }
        try record(videos, to: path)
        let found = try FFmpeg.film(path).streams
        #expect(found.map(\.codecName) == ["vp8", "av1", "h264"] && found.map(\.nbReadFrames) == ["8", "4", "4"])
        #expect(found.allSatisfy { $0.tags.title == "alice#content" })
        #expect(try FFmpeg.samples(of: path, video: 0) == videos[0].shown + videos[3].shown)
        #expect(try FFmpeg.samples(of: path, video: 1) == videos[1].shown)
        #expect(try FFmpeg.samples(of: path, video: 2) == videos[2].shown)
        let film = try WebMFile(path: path)
        #expect(film.documentType == "matroska" && film.tracks.filter(\.isDefault).count == 1)
        #expect(film.blocks.map(\.milliseconds) == (0..<16).map { 40 * $0 })
    }
}
